#!/bin/bash
# readme_commands.sh [README]: runs the commands in the code blocks of README.md, in order and in one shell, in the
# folder where it is called. A block whose lines begin with "$ " also shows what its commands print, and they must print
# just that. Blocks with the name of a language are no commands. Commands that match the pattern SKIP are left out. Ends
# with the first command that fails.
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 0 1 "$@"
readme=${1:-README.md}
[ -r "$readme" ] || { echo "readme_commands: no file $readme" >&2; exit 2; }
script=$(mktemp)
trap 'rm -f "$script"' EXIT

awk -v skip="${SKIP:-^$}" '
  function finish() { if (shown) print "SHOWN"; shown = 0 }
  /^```/ {
    finish()
    if (!inside && $0 == "```") inside = 1
    else if (!inside) inside = 2
    else inside = 0
    next
  }
  inside != 1 { next }
  /^\$ / {
    finish()
    command = substr($0, 3)
    if (command ~ skip) next
    print "{ " command "; } | diff - /dev/fd/3 3<<\047SHOWN\047"
    shown = 1
    next
  }
  shown { print; next }
  $0 !~ skip { print }
  END { exit inside != 0 }' "$readme" >"$script" ||
  { echo "readme_commands: a block of $readme does not end" >&2; exit 2; }
[ -s "$script" ] || { echo "readme_commands: no commands in $readme" >&2; exit 2; }
bash -ev -o pipefail "$script"
echo "readme_commands: all commands of $readme ran"
