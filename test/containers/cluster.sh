#!/usr/bin/env bash
# A real Kubernetes on one machine, for the suite `kubernetes`: etcd, the API server, controllers, scheduler, kube-proxy, and two
# nodes, each a kubelet with its own containerd, runc and bridge. It needs root on Debian, Go, and a running engine (engine.sh). There
# need be no systemd, and cgroups may be of version 1.
#
#   cluster.sh build       build the parts of Kubernetes from their Go modules, as one program; this takes 10 minutes of CPU once
#   cluster.sh up          start it, without what an earlier one has left
#   cluster.sh load IMAGE… copy images of the engine to both nodes
#   cluster.sh dns IMAGE   start the DNS of the cluster, in an image that has Node
#   cluster.sh kubectl …   run kubectl as an administrator
#   cluster.sh down        end everything, and delete its state
#
# Pods have addresses of 172.29/16, Services of 172.31/20, and the nodes 172.28.0.1; nothing leaves the machine.
set -euo pipefail
VERSION=1.34.4
here=$(cd "$(dirname "$0")" && pwd)
BIN=$(cd "$here/../.." && pwd)/.cache/kubernetes-$VERSION
STATE=$(cd "$here/../.." && pwd)/.cache/cluster
PORT=24443
NODES=(node-a node-b)
PATH=$BIN:$PATH:/usr/sbin:/sbin
export KUBECONFIG=$STATE/admin.conf

# Compile main.go of a folder without C.
compile() {
  (cd "$1" && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w ${3:-}" -o "$2" .)
}

build() {
  mkdir -p "$BIN"
  [ -x "$BIN/kubectl" ] && return
  local work sources names=k8s.io/component-base/version
  work=$(mktemp -d)
  cp "$here/kube.go" "$work/main.go"
  sources=$(cd "$work" && go mod download -json "k8s.io/kubernetes@v$VERSION" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  # Its other modules are published with the version 0 instead of 1.
  {
    printf 'module kube\ngo %s\nrequire k8s.io/kubernetes v%s\n' "$(sed -n 's/^go //p' "$sources/go.mod")" $VERSION
    sed -n "s|^\s*\(k8s.io/[a-z-]*\) => ./staging/.*|replace \1 => \1 v0.${VERSION#1.}|p" "$sources/go.mod"
  } >"$work/go.mod"
  (cd "$work" && go mod tidy -e >/dev/null 2>&1)
  compile "$work" "$BIN/kube" "-X $names.gitVersion=v$VERSION -X $names.gitMajor=1 -X $names.gitMinor=$(echo $VERSION | cut -d. -f2)"
  mkdir "$work/pause"
  # The first process of a pod, which waits.
  cat >"$work/pause/main.go" <<'GO'
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	<-ended
}
GO
  (cd "$work/pause" && go mod init pause >/dev/null 2>&1)
  compile "$work/pause" "$BIN/pause"
  ln -sf kube "$BIN/kubectl"
  rm -rf "$work"
}

# Start a program in the background, with its log and process id in $STATE.
start() {
  local name=$1
  shift
  setsid nohup "$@" >>"$STATE/$name.log" 2>&1 </dev/null &
  echo $! >"$STATE/$name.pid"
}

# Wait until a command succeeds.
await() {
  for _ in $(seq 600); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.2
  done
  echo "not within two minutes: $*; see $STATE/*.log" >&2
  exit 1
}

certificates() {
  mkdir -p "$STATE/pki"
  cd "$STATE/pki"
  local key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes) token
  openssl req -x509 "${key[@]}" -keyout ca.key -out ca.crt -days 30 -subj /CN=cluster
  openssl req "${key[@]}" -keyout api.key -out api.csr -subj /CN=kube-apiserver
  echo 'subjectAltName=DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:172.28.0.1,IP:172.31.0.1' |
    openssl x509 -req -in api.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out api.crt -days 30 -extfile /dev/stdin
  openssl genrsa -out accounts.key 2048
  openssl rsa -in accounts.key -pubout -out accounts.pub
  token=$(openssl rand -hex 24)
  echo "$token,admin,admin,system:masters" >tokens.csv
  cat >"$KUBECONFIG" <<C
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://127.0.0.1:$PORT", certificate-authority: $STATE/pki/ca.crt}}]
users: [{name: admin, user: {token: $token}}]
contexts: [{name: test, context: {cluster: test, user: admin}}]
current-context: test
C
  cd - >/dev/null
}

node() {
  local name=$1 index=$2 dir=$STATE/$1 tree
  mkdir -p "$dir"/{cni,kubelet,containerd,run,logs}
  cat >"$dir/cni/10-bridge.conflist" <<C
{"cniVersion": "0.4.0", "name": "$name", "plugins": [
  {"type": "bridge", "bridge": "ymk$index", "isGateway": true, "ipMasq": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "$dir/cni-data", "ranges": [[{"subnet": "172.29.$index.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
C
  cat >"$dir/containerd.toml" <<C
version = 2
root = "$dir/containerd"
state = "$dir/run"
[grpc]
  address = "$dir/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "test/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$dir/cni"
[plugins."io.containerd.internal.v1.opt"]
  path = "$dir/opt"
C
  for tree in /sys/fs/cgroup/*/; do
    grep -q " ${tree%/} cgroup " /proc/mounts || continue
    mkdir -p "$tree/test-$name"
    # Without processors and memory nodes, nothing can be added to this one.
    [ ! -e "$tree/cpuset.cpus" ] || for part in cpus mems; do cat "$tree/cpuset.$part" >"$tree/test-$name/cpuset.$part"; done
  done
  start "containerd-$name" containerd --config "$dir/containerd.toml"
  await ctr -a "$dir/containerd.sock" version
  cat >"$dir/kubelet.yaml" <<C
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
address: 172.28.0.1
port: $((PORT - 193 + index))
healthzPort: $((PORT - 183 + index))
cgroupDriver: cgroupfs
cgroupRoot: /test-$name
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
clusterDomain: cluster.local
clusterDNS: [172.31.0.10]
containerRuntimeEndpoint: unix://$dir/containerd.sock
podLogsDir: $dir/logs
resolvConf: ""
evictionHard: {memory.available: 200Mi, nodefs.available: 1%, imagefs.available: 1%}
imageGCHighThresholdPercent: 99
imageGCLowThresholdPercent: 98
makeIPTablesUtilChains: $([ "$index" = 1 ] && echo true || echo false)
C
  start "kubelet-$name" kube kubelet --config "$dir/kubelet.yaml" --root-dir "$dir/kubelet" --cert-dir "$dir/pki" --kubeconfig "$KUBECONFIG" \
    --hostname-override "$name" --node-ip 172.28.0.1 --node-labels "topology.kubernetes.io/zone=zone-$index"
}

are_ready() {
  [ "$(kubectl get nodes --no-headers | grep -c ' Ready')" = ${#NODES[@]} ]
}

up() {
  [ "$(id -u)" = 0 ] || { echo 'no cluster: only root can start one' >&2 && exit 1; }
  command -v go >/dev/null || { echo 'no cluster: Go is needed to build it' >&2 && exit 1; }
  command -v etcd >/dev/null && command -v conntrack >/dev/null && [ -x /usr/lib/cni/bridge ] ||
    DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends etcd-server containernetworking-plugins iptables conntrack openssl >/dev/null
  build
  (down)
  mkdir -p "$STATE"
  chmod 700 "$STATE"
  # kubelet and kube-proxy change these; `down` puts them back.
  for name in vm.overcommit_memory kernel.panic kernel.panic_on_oops net.ipv4.ip_forward; do echo "$name=$(sysctl -n $name)"; done >"$STATE/sysctl"
  certificates 2>"$STATE/certificates.log"
  ip link add ymk0 type bridge
  ip addr replace 172.28.0.1/32 dev ymk0
  ip link set ymk0 up
  # The engine drops what it does not know.
  local way
  for way in -s -d; do iptables -A FORWARD $way 172.29.0.0/16 -j ACCEPT; done
  sysctl -qw net.ipv4.ip_forward=1 net.bridge.bridge-nf-call-iptables=1
  local etcd=http://127.0.0.1:$((PORT - 64)) peers=http://127.0.0.1:$((PORT - 63))
  start etcd etcd --data-dir "$STATE/etcd" --listen-client-urls $etcd --advertise-client-urls $etcd --listen-peer-urls $peers \
    --initial-advertise-peer-urls $peers --initial-cluster default=$peers --unsafe-no-fsync
  cd "$STATE/pki"
  start apiserver kube kube-apiserver --etcd-servers $etcd --secure-port $PORT --advertise-address 172.28.0.1 --cert-dir . \
    --tls-cert-file api.crt --tls-private-key-file api.key --service-account-key-file accounts.pub --service-account-signing-key-file accounts.key \
    --service-account-issuer https://kubernetes.default.svc --token-auth-file tokens.csv --authorization-mode Node,RBAC \
    --service-cluster-ip-range 172.31.0.0/20 --service-node-port-range 24100-24199 --kubelet-preferred-address-types InternalIP
  await kubectl get --raw /readyz
  start manager kube kube-controller-manager --kubeconfig "$KUBECONFIG" --service-account-private-key-file accounts.key --root-ca-file ca.crt \
    --use-service-account-credentials --secure-port $((PORT - 186)) --leader-elect=false --cert-dir "$STATE/pki/manager"
  start scheduler kube kube-scheduler --kubeconfig "$KUBECONFIG" --secure-port $((PORT - 184)) --leader-elect=false --cert-dir "$STATE/pki/scheduler"
  cd - >/dev/null
  local index
  for index in "${!NODES[@]}"; do node "${NODES[index]}" $((index + 1)); done
  mkdir -p "$STATE/pause"
  cp "$BIN/pause" "$STATE/pause"
  tar -C "$STATE/pause" -c pause | docker import --change 'ENTRYPOINT ["/pause"]' --change 'USER 65535:65535' - test/pause:1 >/dev/null
  load test/pause:1
  cat >"$STATE/proxy.yaml" <<C
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clientConnection: {kubeconfig: $KUBECONFIG}
clusterCIDR: 172.29.0.0/16
hostnameOverride: node-a
healthzBindAddress: 127.0.0.1:$((PORT - 187))
metricsBindAddress: 127.0.0.1:$((PORT - 188))
oomScoreAdj: 0
conntrack: {maxPerCore: 0}
C
  start proxy kube kube-proxy --config "$STATE/proxy.yaml"
  await are_ready
}

load() {
  local name image
  for image; do
    docker save "$image" -o "$STATE/image.tar"
    for name in "${NODES[@]}"; do ctr -a "$STATE/$name/containerd.sock" -n k8s.io images import "$STATE/image.tar" >/dev/null; done
    rm "$STATE/image.tar"
  done
}

dns() {
  kubectl -n kube-system create configmap dns --from-file=dns.cjs="$here/dns.cjs"
  kubectl create clusterrolebinding dns --clusterrole view --serviceaccount kube-system:default
  kubectl apply -f - <<C
apiVersion: apps/v1
kind: Deployment
metadata: {name: dns, namespace: kube-system}
spec:
  selector: {matchLabels: {k8s-app: kube-dns}}
  template:
    metadata: {labels: {k8s-app: kube-dns}}
    spec:
      nodeSelector: {kubernetes.io/hostname: node-a}
      containers:
        - name: dns
          image: $1
          imagePullPolicy: Never
          command: [node, /dns/dns.cjs]
          securityContext: {runAsUser: 0}
          resources: {requests: {cpu: 100m}}
          volumeMounts: [{name: dns, mountPath: /dns}]
      volumes: [{name: dns, configMap: {name: dns}}]
---
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system}
spec:
  clusterIP: 172.31.0.10
  selector: {k8s-app: kube-dns}
  ports: [{port: 53, protocol: UDP}]
C
  kubectl -n kube-system rollout status deployment/dns --timeout 2m
}

down() {
  [ -d "$STATE" ] || return 0
  set +e
  local name pid socket signal link way tree
  for name in "${NODES[@]}"; do
    socket=$STATE/$name/containerd.sock
    [ -s "$STATE/kubelet-$name.pid" ] && kill "$(cat "$STATE/kubelet-$name.pid")"
    [ -S "$socket" ] || continue
    ctr -a "$socket" -n k8s.io tasks ls -q | xargs -r -n1 ctr -a "$socket" -n k8s.io tasks kill -s KILL
  done
  for signal in TERM KILL; do # kube-apiserver takes a minute to end on its own.
    for pid in "$STATE"/*.pid; do kill -s $signal "$(cat "$pid")"; done
    sleep 2
  done
  # Those of containers that were just made outlive their containerd.
  pgrep -f "^/usr/bin/containerd-shim.* -address $STATE/" | xargs -r kill -s KILL
  awk -v dir="$STATE/" 'index($2, dir) == 1 {print $2}' /proc/mounts | sort -r | xargs -r umount -l
  for link in ymk0 ymk1 ymk2; do ip link del $link; done
  for way in -s -d; do iptables -D FORWARD $way 172.29.0.0/16 -j ACCEPT; done
  iptables-save | grep -vE 'KUBE-|CNI-' | iptables-restore
  xargs -r sysctl -qw <"$STATE/sysctl"
  for tree in /sys/fs/cgroup/*/test-node-*; do find "$tree" -depth -type d -exec rmdir {} \; ; done
  for name in /var/run/netns/cni-*; do umount "$name" && rm -f "$name"; done
  rm -rf "$STATE"
} 2>/dev/null

command=${1:-}
shift || true
case $command in
  build | up | load | dns | kubectl | down) "$command" "$@" ;;
  *)
    sed -n '2,14p' "$0"
    exit 2
    ;;
esac
