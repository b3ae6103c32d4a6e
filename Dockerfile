# syntax=docker/dockerfile:1
# One image for every process of Yardmaster; the command selects it: apps/api, gateway, scheduler, standalone or cli.

# This is an LTS release, until 2028. (Node 26 also needs libatomic, which the base image below does not have.)
ARG NODE_VERSION=24

# This stage compiles, and keeps only the files that run.
FROM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /app
# Dependencies change less often than sources, so this layer stays in the cache.
COPY package.json package-lock.json ./
COPY packages/protocol/package.json packages/protocol/
COPY packages/redis/package.json packages/redis/
COPY packages/store/package.json packages/store/
COPY packages/fsck/package.json packages/fsck/
COPY packages/runtime/package.json packages/runtime/
COPY packages/server/package.json packages/server/
COPY apps/api/package.json apps/api/
COPY apps/gateway/package.json apps/gateway/
COPY apps/scheduler/package.json apps/scheduler/
COPY apps/standalone/package.json apps/standalone/
COPY apps/cli/package.json apps/cli/
COPY apps/ui/package.json apps/ui/
# Install exactly the packages of the lock file. No package may run install scripts.
RUN npm ci --include=dev --ignore-scripts --no-audit --no-fund
COPY tsconfig.base.json ./
COPY scripts scripts
COPY packages packages
COPY apps apps
RUN node node_modules/typescript/bin/tsc -b packages/protocol && node scripts/lua/module.mjs \
    && node node_modules/typescript/bin/tsc -b apps/standalone apps/cli \
    && node scripts/ui.mjs
# Install again without development packages. Delete files that are not run: sources, types and source maps.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
    && rm -rf node_modules/.package-lock.json packages/*/src packages/*/tsconfig.json apps/*/src apps/*/tsconfig.json \
    && find node_modules packages apps -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '.tsbuildinfo' \) -delete
# docker-compose.yml keeps its secrets in a volume, which takes its owner from this folder.
RUN mkdir empty

# The image contains only glibc, certificates and the files below: no shell and no package manager. Node is the binary
# that ran the build.
FROM gcr.io/distroless/cc-debian12:nonroot
LABEL org.opencontainers.image.title="Yardmaster" \
      org.opencontainers.image.description="Job dispatch over HTTP: spaces, pull workers, live progress streams, signed callbacks." \
      org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build --chown=1000:1000 /app/empty /config
WORKDIR /app
# The files belong to root, so that no process can change its own code.
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/packages packages
COPY --from=build /app/apps apps
USER 1000:1000
EXPOSE 8080
# Node is process 1 and handles SIGTERM: it ends open requests and exits with 0. There is no HEALTHCHECK, because the
# orchestrator probes /livez and /readyz. The command `yardmaster` has no probes.
STOPSIGNAL SIGTERM
CMD ["node", "apps/standalone/dist/main.js"]
