# bare_system.sh: to be sourced. A Debian in a folder that has nothing but its smallest set of packages: made, settled and
# entered. Needs root, and debootstrap where no saved system is given.

# The first mirror of Debian in this machine's apt sources, or DEBIAN_MIRROR; deb.debian.org where there is none.
bare_mirror() {
  local uri
  for uri in ${DEBIAN_MIRROR:-} $(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -E '/debian/?$'); do
    echo "$uri"
    return
  done
  echo http://deb.debian.org/debian
}

# bare_make SUITE ROOT CACHE LOG: the smallest set of packages, from CACHE/SUITE.tar.zst or from the mirror; it is saved there
# for the next time. CACHE may be empty.
bare_make() {
  local suite=$1 root=$2 cache=$3 log=$4 saved=${3:+$3/$1.tar.zst}
  mkdir -p "$root"
  if [ -n "$saved" ] && [ -s "$saved" ]; then
    tar --zstd -xpf "$saved" -C "$root" --numeric-owner
    return
  fi
  command -v debootstrap >/dev/null || { echo "needs debootstrap (apt-get install debootstrap)" >&2; return 1; }
  unshare --mount debootstrap --variant=minbase "$suite" "$root" "$(bare_mirror)" >"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; return 1; }
  [ -n "$saved" ] || return 0
  mkdir -p "$cache"
  tar --zstd -cpf "$saved.part" -C "$root" --numeric-owner .
  mv "$saved.part" "$saved"
}

# bare_settle SUITE ROOT: what a machine gets with its installation: where packages and the network are.
bare_settle() {
  local suite=$1 root=$2 proxy=''
  chmod 755 "$root"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  echo "127.0.0.1 localhost $(hostname)" >"$root/etc/hosts"
  echo "deb $(bare_mirror) $suite main" >"$root/etc/apt/sources.list"
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  proxy=${proxy:-${http_proxy:-}}
  [ -z "$proxy" ] || echo "Acquire::http::Proxy \"$proxy\";" >"$root/etc/apt/apt.conf.d/90proxy"
}

# bare_become ROOT COMMAND...: the calling shell becomes a command in the system, whose processes and mounts end with it.
bare_become() {
  local root=$1
  shift
  exec unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" \
    sh -c 'mount -t devpts devpts "$0/dev/pts" && exec chroot "$0" "$@"' "$root" \
    env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
