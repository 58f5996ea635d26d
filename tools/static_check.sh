#!/bin/bash
# static_check.sh [-DNAME=VALUE...]: builds the program of one file (cmake --preset static) and the one with the models inside, and runs
# both: the same bytes as the program GANZ (build/release/cli/ganz), at most 1.5 MB, and in a root with nothing else in it,
# where the server answers too and ends when it is told to. Needs musl-tools; root or user namespaces (unshare) for the empty
# root.
set -eu -o pipefail
. "$(dirname "$0")/../scripts/arguments.sh"
for word; do case $word in -D?*) ;; *) arguments 0 0 "$word" ;; esac; done # those are for cmake
cd "$(dirname "$0")/.."
ganz=${GANZ:-build/release/cli/ganz}
fail() { echo "static_check: $*" >&2; exit 1; }
command -v musl-gcc >/dev/null || { echo "static_check: skipped, there is no musl-gcc" >&2; exit 77; }
cmake --preset static "$@" >/dev/null
cmake --build build/static --target ganz >/dev/null
cmake --preset static -B build/static-models -DGANZ_EMBED=ON "$@" >/dev/null
cmake --build build/static-models --target ganz >/dev/null

small=build/static/cli/ganz whole=build/static-models/cli/ganz
[ "$(stat -c %s $small)" -le 1500000 ] || fail "$small has $(stat -c %s $small) bytes"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
head -300 tests/data/tatoeba.en >"$work/text"
expected=$("$ganz" translate --format text "$work/text" | sha256sum)
[ "$($small translate --format text "$work/text" | sha256sum)" = "$expected" ] || fail "other bytes than $ganz"

mkdir "$work/root"
cp $whole "$work/root/ganz"
enter="chroot $work/root /ganz"
[ "$(id -u)" = 0 ] || enter="unshare --map-root-user --root=$work/root /ganz"
[ "$($enter translate --format text <"$work/text" | sha256sum)" = "$expected" ] || fail "other bytes in an empty root"
[ "$(echo 'Guten Morgen.' | $enter translate --from de)" = "Good morning." ] || fail "no second model in an empty root"
$enter serve --port 5178 2>"$work/log" &
server=$!
answer=''
for _ in 1 2 3 4 5 6 7 8 9 10; do
  sleep 1
  exec 3<>/dev/tcp/127.0.0.1/5178 || continue
  question='{"q":"Guten Morgen.","source":"de","target":"en"}'
  printf 'POST /translate HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: %s\r\n\r\n%s' \
    ${#question} "$question" >&3
  answer=$(cat <&3)
  break
done 2>/dev/null
kill $server
timeout 10 tail --pid=$server -f /dev/null || { kill -9 $server; fail "the server does not end"; }
wait $server || fail "the server: $(cat "$work/log")"
[[ $answer == *"Good morning."* ]] || fail "the server answered: $answer"
ls -l $small $whole | awk '{print $5, $NF}'
echo "static_check: same bytes: $expected"
