# The program itself: help, version, unknown words.
equal version "ganz" "$($GANZ --version | cut -d' ' -f1)"
$GANZ --help | grep -q 'usage: ganz COMMAND' || fail "no usage in --help"
refuses 2 'no command named fly' $GANZ fly
$GANZ --help >/dev/full 2>err && fail "a full disk looks like success"
grep -q 'cannot write standard output' err || fail "no sentence about a full disk"

# a reader that has seen enough is no reason to complain, yet no success
exec 7> >(:)
wait $!
$GANZ --help >&7 2>err && fail "a closed pipe looks like success"
[ -s err ] && fail "a closed pipe makes it say: $(cat err)"
exit 0
