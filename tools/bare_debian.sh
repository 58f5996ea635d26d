#!/bin/bash
# bare_debian.sh [OPTIONS] bookworm|trixie demo|test|readme: runs a command of the README on a Debian that has nothing
# but its smallest set of packages, in a folder of its own, and ends with the status of the command. Needs root and
# debootstrap.
#   demo     scripts/demo
#   test     scripts/test
#   readme   all commands of README.md in order (tools/readme_commands.sh), except scripts/test
# What runs is the last commit of this checkout: files that are not committed stay out.
#   --cache DIR   keep the bare system as DIR/SUITE.tar.zst and begin with it the next time
#   --root DIR    make the system in DIR, which must not exist, and leave it there; otherwise in a folder that goes away
#   --log FILE    where the output of the command goes [SUITE.COMMAND.log]
#   --user        run as a user who has sudo, instead of as root
# Packages come from where this machine gets its own (its apt sources and proxy), or from DEBIAN_MIRROR.
set -eu
say() { echo "bare_debian: $*" >&2; }
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/tools/bare_system.sh"
. "$here/scripts/arguments.sh"

cache='' root='' log='' user='' temporary='' child='' names=()
while [ $# -gt 0 ]; do
  case $1 in
  --cache | --root | --log) needs "$1" $#; declare "${1#--}=$2"; shift ;;
  --user) user=ganz ;;
  *) unknown "$1"; names+=("$1") ;;
  esac
  shift
done
arguments 2 2 ${names[@]+"${names[@]}"}
suite=${names[0]} what=${names[1]}
case $suite in bookworm | trixie) ;; *) refuse "it is bookworm or trixie, not $suite" ;; esac
case $what in
demo | test) command=scripts/$what ;;
readme) command='SKIP=scripts/test tools/readme_commands.sh' ;;
*) refuse "it is demo, test or readme, not $what" ;;
esac
[ "$(id -u)" = 0 ] || { say "needs root, to make a Debian in a folder"; exit 1; }
log=${log:-$suite.$what.log}

# inside COMMAND...: becomes a command in the system
inside() { bare_become "$root" "$@"; }

# With --user a user and sudo.
add_user() {
  [ -n "$user" ] || return 0
  (inside sh -c "apt-get update && apt-get install -y --no-install-recommends sudo && useradd -m -s /bin/bash $user &&
    echo '$user ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/$user") >"$log" 2>&1 || { tail -n 20 "$log"; exit 1; }
}

{ # read as a whole before it runs, so that the script may be edited meanwhile
  if [ -n "$root" ]; then
    [ ! -e "$root" ] || { say "$root is there already"; exit 1; }
    mkdir -p "$root"
    root=$(cd "$root" && pwd)
  else
    root=$(mktemp -d "${TMPDIR:-/var/tmp}/bare_debian.XXXXXX")
    temporary=$root
  fi
  # Stopped in the middle, the command goes first and then its folder.
  finish() {
    [ -z "$child" ] || { kill -KILL "$child" && wait "$child"; } 2>/dev/null || true
    [ -z "$temporary" ] || rm -rf --one-file-system "$temporary"
  }
  trap finish EXIT
  trap 'exit 130' INT TERM HUP
  say "making a bare $suite"
  bare_make "$suite" "$root" "$cache" "$log"
  bare_settle "$suite" "$root"
  add_user
  home=$root/${user:+home/}${user:-root}
  git clone -q --depth 1 "file://$here" "$home/ganz"
  [ -z "$user" ] || (inside chown -R "$user:" "/home/$user/ganz")

  say "$suite: $command as ${user:-root}; its output is in $log"
  SECONDS=0 status=0
  if [ -n "$user" ]; then
    enter=(su - "$user" -c "cd ganz && $command")
  else
    enter=(bash -c "cd /root/ganz && $command")
  fi
  inside "${enter[@]}" >"$log" 2>&1 </dev/null &
  child=$!
  wait "$child" || status=$?
  child=
  tail -n 15 "$log"
  say "$suite: $command as ${user:-root} ended with $status after $SECONDS s"
  exit $status
}
