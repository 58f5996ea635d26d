# The commands of README.md, as written and in order, in a folder that looks like a checkout after scripts/demo. What
# sets up a machine is left out: tools/bare_debian.sh tries it. BUILD is the build folder, GANZ the program in it.
source=$(cd "$HERE/../.." && pwd)
export HOME=$PWD/home
mkdir home checkout checkout/build
for name in README.md examples models tools; do ln -s "$source/$name" "checkout/$name"; done
ln -s "$BUILD" checkout/build/release
cd checkout || exit 1
SKIP='^scripts/' "$source/tools/readme_commands.sh" >../log 2>&1 ||
  fail "a command of README.md fails: $(tail -20 ../log)"

# The commands ran, and with the program that they installed.
cmp "$HOME/ganz/bin/ganz" "$GANZ" || fail "another program was installed"
equal "translated sentences" "$(wc -l <build/clock/test.en)" "$(wc -l <build/clock/test.out)"
bleu=$(sed -n 's/^BLEU[^ ]* = \([0-9]*\)\..*/\1/p' ../log)
[ "$bleu" -ge 95 ] || fail "README.md says that the score is 100 or just below, not $bleu"

# The runner itself: a command that fails, one that prints something else, and a block without end are told.
check() {
  printf '%s\n' "$@" >some.md
  "$source/tools/readme_commands.sh" some.md >some.log 2>&1
}
check '```' 'x=1' '```' '```c' 'int x;' '```' '```' '$ echo $x' 1 '```' || fail "good commands fail: $(cat some.log)"
check '```' 'false' 'true' '```' && fail "a command that fails is not told"
check '```' '$ echo a' b '```' && fail "another output is not told"
check '```' '$ (echo a; exit 3)' a '$ true' '```' && fail "a status behind an output is not told"
check '```' 'true' && fail "a block without end is not told"
check 'no commands' && fail "a text without commands is not told"
exit 0
