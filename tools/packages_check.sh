#!/bin/bash
# packages_check.sh [--cache DIR] bookworm|trixie FOLDER [TEXT]: builds the Debian packages of the last commit in a fresh
# system of that suite, twice, and compares both; runs lintian; then installs them in a bare system of the suite, runs the
# tests of debian/tests there by autopkgtest, and translates TEXT (default: 300 lines of tests/data). The packages, logs and
# the text's sha256 are left in FOLDER. Needs root and debootstrap; --cache as in bare_debian.sh.
set -eu -o pipefail
say() { echo "packages_check: $*"; }
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/tools/bare_system.sh"
. "$here/scripts/arguments.sh"
cache=''
names=()
while [ $# -gt 0 ]; do
  case $1 in
  --cache) needs "$1" $#; cache=$2; shift ;;
  *) unknown "$1"; names+=("$1") ;;
  esac
  shift
done
arguments 2 3 ${names[@]+"${names[@]}"}
set -- "${names[@]}"
case $1 in bookworm | trixie) ;; *) refuse "it is bookworm or trixie, not $1" ;; esac
suite=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
work=$(mktemp -d "${TMPDIR:-/var/tmp}/packages_check.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT

# fresh NAME: a bare system in $work/NAME
fresh() {
  bare_make "$suite" "$work/$1" "$cache" "$out/debootstrap.log"
  bare_settle "$suite" "$work/$1"
  inside "$1" apt-get -q update >"$out/$1.log" 2>&1
}

# inside NAME COMMAND...: a command in a system
inside() {
  local root=$work/$1
  shift
  (bare_become "$root" env LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@")
}

install() { # NAME PACKAGE...
  local name=$1
  shift
  inside "$name" apt-get -qy install --no-install-recommends "$@" >>"$out/$name.log" 2>&1 ||
    { tail -n 5 "$out/$name.log"; say "cannot install $*"; exit 1; }
}

say "$suite: building"
fresh build
install build build-essential git lintian
git clone -q --depth 1 "file://$here" "$work/build/root/ganz"
inside build sh -c 'cd /root/ganz && apt-get -qy build-dep --no-install-recommends .' >>"$out/build.log" 2>&1
for run in 1 2; do # at other places and times, in another language and with other rights
  inside build sh -c "cd /root/ganz && umask 00$run$run && TZ=UTC-$run TMPDIR=/var/tmp scripts/package /root/dist$run" \
    >>"$out/build.log" 2>&1 || { tail -n 20 "$out/build.log"; say "not built"; exit 1; }
done
cp "$work"/build/root/dist1/*.deb "$out"
status=0
for deb in "$work"/build/root/dist1/*.deb; do
  cmp "$deb" "$work/build/root/dist2/${deb##*/}" || { say "$suite: ${deb##*/} is not reproducible"; status=1; }
  sha256sum <"$deb" | sed "s| .*| ${deb##*/}|"
done
say "$suite: lintian"
inside build sh -c 'lintian --allow-root --fail-on error,warning --tag-display-limit 0 /root/dist1/*.changes' \
  >"$out/lintian.log" 2>&1 || { cat "$out/lintian.log"; say "$suite: lintian complains"; status=1; }

say "$suite: installing in a bare system"
fresh bare
cp "$work"/build/root/dist1/*.deb "$work/bare/root"
install bare $(cd "$work/bare" && printf '/%s\n' root/*.deb | grep -v -e -dbgsym_)
if [ -n "${3:-}" ]; then cp "$3" "$work/bare/root/text"; else head -n 300 "$here/tests/data/tatoeba.en" >"$work/bare/root/text"; fi
inside bare sh -c 'ganz translate --format text /root/text | sha256sum' | tee "$out/sha256"
install bare autopkgtest
cp -r "$work/build/root/ganz" "$work/bare/root/ganz"
inside bare autopkgtest --no-built-binaries /root/ganz/ -- null >"$out/autopkgtest.log" 2>&1 </dev/null ||
  { tail -n 40 "$out/autopkgtest.log"; say "$suite: autopkgtest failed"; status=1; }
sed -n '/summary$/,$p' "$out/autopkgtest.log"
ls -l "$out"/*.deb | awk '{print $5, $NF}'
[ $status = 0 ] && say "$suite: all is well"
exit $status
