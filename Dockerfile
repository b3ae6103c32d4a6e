# One image for every process of Yardmaster; the command selects it: apps/api, gateway, scheduler, standalone or cli.

# An LTS release, supported until 2028. (Node 26 also needs libatomic, which the base image below lacks.)
ARG NODE_VERSION=24

# Dependencies change less often than sources, so packages stay cached until one of these files changes.
FROM scratch AS manifests
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
COPY sdk/typescript/package.json sdk/typescript/

# Installs the runtime packages, exactly those of the lock file and without their install scripts, and deletes files that
# aren't needed at runtime: types, sources, pages, tests, and binaries for another C library.
FROM node:${NODE_VERSION}-bookworm-slim AS modules
WORKDIR /app
COPY --from=manifests / ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
    && rm package-lock.json node_modules/.package-lock.json \
    && find . -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.musl.node' \
        -o -path '*/node_modules/*/test/*' -o -name '*.md' ! -iname 'license*' \) -delete \
    && find . -type d -empty -delete
# Folders that processes may write to are copies of this one.
RUN mkdir /empty

# Compiles on the architecture of the build machine, because the output runs on any.
FROM --platform=$BUILDPLATFORM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /app
COPY --from=manifests / ./
RUN npm ci --include=dev --ignore-scripts --no-audit --no-fund
COPY tsconfig.base.json ./
COPY scripts scripts
COPY packages packages
COPY apps apps
COPY sdk/typescript sdk/typescript
RUN node node_modules/typescript/bin/tsc -b packages/protocol && node scripts/lua/module.mjs \
    && node scripts/sdk/heartbeat-thread.mjs \
    && node node_modules/typescript/bin/tsc -b apps/standalone apps/cli \
    && node scripts/ui.mjs
RUN rm -rf packages/*/src packages/*/tsconfig.json packages/*/node_modules apps/*/src apps/*/tsconfig.json apps/*/node_modules \
        sdk/*/src sdk/*/tsconfig.json sdk/*/node_modules \
    && find packages apps sdk -type f \( -name '*.map' -o -name '*.d.ts' -o -name '.tsbuildinfo' \) -delete

# The image contains only glibc, certificates and the files below; no shell, no package manager.
FROM gcr.io/distroless/cc-debian12:nonroot
LABEL org.opencontainers.image.title="Yardmaster" \
      org.opencontainers.image.description="Job dispatch over HTTP: spaces, pull workers, live progress streams, signed callbacks." \
      org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data
COPY --from=modules /usr/local/bin/node /usr/local/bin/node
# No VOLUME, because only the standalone writes data; every other container would get an anonymous volume.
COPY --from=modules --chown=65532:65532 /empty /data
COPY --from=modules --chown=65532:65532 /empty /config
# The files belong to root, so that processes can't change their own code.
COPY --from=modules /app /app
COPY --from=build /app/packages /app/packages
COPY --from=build /app/apps /app/apps
COPY --from=build /app/sdk /app/sdk
WORKDIR /app
# The user `nonroot` of the base image.
USER 65532:65532
EXPOSE 8080
# Node is PID 1 and handles SIGTERM: it finishes open requests and exits with 0. No HEALTHCHECK, because orchestrators
# probe /livez and /readyz, and the CLI has no probes.
STOPSIGNAL SIGTERM
CMD ["node", "apps/standalone/dist/main.js"]
