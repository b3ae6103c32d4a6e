#!/usr/bin/env bash
# A container engine for the suites `image` and `kubernetes`.
#
#   engine.sh up     use the engine that runs. Where none runs, start one: as root on Debian 12 or later. It exits with 1, and
#                    says why, where that is not possible
#   engine.sh down   end the engine and its containers, if `up` has started it. Images and volumes stay
#
# An engine that is installed here is Debian 13's: Docker 26, Compose 2.26, buildx 0.13. They need no library that Debian 12 lacks,
# whose own Docker is too old for docker-compose.yml. There need be no systemd.
set -euo pipefail
STATE=$(cd "$(dirname "$0")/../.." && pwd)/.cache/containers
PATH=$PATH:/usr/sbin:/sbin
PACKAGES='docker.io docker-cli docker-compose docker-buildx containerd'

fail() {
  echo "no container engine: $*" >&2
  exit 1
}

install() {
  # Packages must not start services.
  [ -e /usr/sbin/policy-rc.d ] || printf '#!/bin/sh\nexit 101\n' | install -m 755 /dev/stdin /usr/sbin/policy-rc.d
  local apt=$STATE/apt
  mkdir -p "$apt"/lists/partial "$apt"/cache/archives/partial "$apt"/debs
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(apt-get indextargets --format '$(REPO_URI)' | head -n 1) trixie main" >"$apt/sources.list"
  local options=(-q -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$apt/lists"
    -o "Dir::Cache=$apt/cache" -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update
  (cd "$apt/debs" && apt-get "${options[@]}" download $PACKAGES)
  apt-get -q update
  DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends iptables runc tini "$apt"/debs/*.deb
  rm -rf "$apt"
}

# systemd would mount a tree for each controller of cgroups version 1.
mount_cgroups() {
  [ -e /sys/fs/cgroup/cgroup.controllers ] && return
  mountpoint -q /sys/fs/cgroup || mount -t tmpfs -o mode=755 cgroup /sys/fs/cgroup
  local name
  for name in $(awk '!/^#/ && $4 == 1 {print $1}' /proc/cgroups); do
    mountpoint -q "/sys/fs/cgroup/$name" && continue
    mkdir -p "/sys/fs/cgroup/$name"
    mount -t cgroup -o "$name" cgroup "/sys/fs/cgroup/$name" 2>/dev/null || rmdir "/sys/fs/cgroup/$name"
  done
}

up() {
  docker info >/dev/null 2>&1 && docker compose version >/dev/null 2>&1 && return
  [ "$(id -u)" = 0 ] || fail 'docker info fails, and only root can start one'
  grep -qE '^(ID|ID_LIKE)=.*debian' /etc/os-release 2>/dev/null || fail 'docker info fails, and one is installed only on Debian'
  mkdir -p "$STATE"
  if ! { command -v dockerd && docker compose version && docker buildx version; } >/dev/null 2>&1; then
    install >"$STATE/install.log" 2>&1 || fail "its packages were not installed; see $STATE/install.log"
  fi
  mount_cgroups
  rm -f /var/run/docker.pid
  # The pools are small, so that they collide with few networks.
  setsid nohup dockerd --exec-opt native.cgroupdriver=cgroupfs --bip 172.30.0.1/24 --default-address-pool base=172.30.128.0/17,size=24 \
    >"$STATE/dockerd.log" 2>&1 </dev/null &
  echo $! >"$STATE/dockerd.pid"
  for _ in $(seq 240); do
    docker info >/dev/null 2>&1 && return
    sleep 0.25
  done
  fail "dockerd does not respond; see $STATE/dockerd.log"
}

down() {
  [ -s "$STATE/dockerd.pid" ] || return 0
  local pid link
  pid=$(cat "$STATE/dockerd.pid")
  docker ps -q 2>/dev/null | xargs -r docker rm -f >/dev/null
  kill "$pid" 2>/dev/null || true
  while kill -0 "$pid" 2>/dev/null; do sleep 0.2; done
  rm "$STATE/dockerd.pid"
  # It leaves its bridges and its rules, by which nothing else is forwarded.
  for link in $(ip -o link show type bridge | awk -F': ' '$2 ~ /^(docker0|br-[0-9a-f]{12})$/ {print $2}'); do ip link del "$link"; done
  iptables-save | grep -vE 'DOCKER|docker0|br-[0-9a-f]{12}' | sed 's/^:FORWARD DROP/:FORWARD ACCEPT/' | iptables-restore
}

case ${1:-} in
  up) up ;;
  down) down ;;
  *)
    sed -n '2,9p' "$0"
    exit 2
    ;;
esac
