#!/bin/bash
# mpi_check.sh GANZ CORPUS VOCAB: runs that four processes on three "machines" share: network namespaces with addresses, host
# names and links of their own, over TCP. Compares the bytes with those of one process; takes a link away, goes on with two
# machines, then with one. Needs root, ip and unshare; with Open MPI and libganz_mpi.so it is done by MPI too.
set -eu -o pipefail
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 3 3 "$@"
ganz=$(realpath "$1") corpus=$(realpath "$2") vocab=$(realpath "$3")
work=$(mktemp -d) tag=gz$$
names="${tag}a ${tag}b ${tag}c"
clean() {
  for name in $names; do ip netns del "$name" 2>/dev/null || true; done
  ip link del "$tag" 2>/dev/null || true
  rm -rf "$work"
}
trap clean EXIT
cd "$work"
ip link add "$tag" type bridge && ip link set "$tag" up
i=1
for name in $names; do
  ip netns add "$name"
  ip link add "v$name" type veth peer name eth0 netns "$name"
  ip link set "v$name" master "$tag" up
  ip -n "$name" addr add 10.77.0.$i/24 dev eth0
  ip -n "$name" link set eth0 up
  ip -n "$name" link set lo up
  i=$((i + 1))
done
words=(train -q --threads 1 --recipe tiny --train "$corpus" --vocab "$vocab" --out run --parts 8 --dropout 0.1 --steps 400
  --save-every 10 --resume)
inside() { mkdir -p "$1" && cd "$1"; }
# on MACHINE RANK SIZE PORT: one process there; its number is in $!
on() {
  ip netns exec "$tag$1" unshare --uts bash -c 'hostname "$0"; exec "$@"' "machine-$1" \
    env GANZ_RANKS=$3 GANZ_RANK=$2 GANZ_MEET=10.77.0.1:$4 "$ganz" "${words[@]}"
}
wait_for_save() { for _ in $(seq 600); do [ -e run/last.safetensors ] && return; sleep 0.05; done; echo "no checkpoint" >&2; exit 1; }

(inside one && "$ganz" "${words[@]}")
inside tcp
on a 1 4 20101 & on b 2 4 20101 & on c 3 4 20101 2>/dev/null & on a 0 4 20101 2>said & first=$!
wait_for_save
ip link set "v${tag}c" down
began=$SECONDS
wait $first && { echo "mpi_check: a lost link was not noticed" >&2; exit 1; }
echo "a lost link was noticed after $((SECONDS - began)) s: $(cat said)"
on b 1 2 20102 & other=$!
on a 0 2 20102
wait $other
cmp run/last.safetensors ../one/run/last.safetensors
echo "sockets: four processes on three machines, then two on two: the bytes of one"
cd ..
if command -v mpirun >/dev/null; then
  cat >agent <<'S'
#!/bin/bash
host=$1; shift
exec ip netns exec "$TAG$host" unshare --uts bash -c "hostname $host; $*"
S
  chmod +x agent
  ip link set "v${tag}c" up
  inside mpi
  export TAG=$tag OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  ip netns exec "${tag}a" unshare --uts bash -c 'hostname a; exec "$@"' - mpirun --oversubscribe --host a:1,b:1,c:1 -n 3 \
    --mca plm_rsh_agent "$work/agent" --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 --wdir "$PWD" "$ganz" "${words[@]}"
  cmp run/last.safetensors ../one/run/last.safetensors
  echo "MPI: three processes on three machines: the bytes of one"
fi
