# The program itself: help, version, unknown words.
equal version "ganz" "$($GANZ --version | cut -d' ' -f1)"
$GANZ --help | grep -q 'usage: ganz COMMAND' || fail "no usage in --help"
refuses 2 'no command named fly' $GANZ fly
equal "help about a command" "$($GANZ train --help)" "$($GANZ help train)"
refuses 2 'no command named fly' $GANZ help fly
# threads and vocabularies have the same letter in all commands
for command in prepare train quantize translate 'bench train' 'bench translate'; do
  $GANZ $command --help | grep -q '^  -j, --threads ' || fail "ganz $command has no -j for its threads"
done
for command in encode decode prepare train inspect; do
  $GANZ $command --help | grep -q '^  -v, --vocab ' || fail "ganz $command has no -v for its vocabulary"
done
# an unset variable of a script is no request for a default, and limits can be typed as they are told
refuses 2 'translate: --model needs a value, not an empty word' $GANZ translate --model ""
refuses 2 'translate: --beam needs a value, not an empty word' $GANZ translate --beam=
refuses 2 'translate: an empty word names no file' $GANZ translate ""
refuses 2 'translate: --model needs a value, not --beam' $GANZ translate --model --beam 2
refuses 2 'quantize: --teacher needs a value, not --rate-factor' $GANZ quantize --teacher --rate-factor 0.2
refuses 1 "translate: cannot open --beam" $GANZ translate --model=--beam
refuses 2 '\-\-max-input must be 0 to 1048576 ' $GANZ translate --max-input 1048577
refuses 2 '\-\-alpha must be 0 to 10 ' $GANZ translate --alpha 10.5
$GANZ --help >/dev/full 2>err && fail "a full disk looks like success"
grep -q 'cannot write standard output' err || fail "no sentence about a full disk"

# a file that grows larger than allowed is refused with a sentence as well
(ulimit -f 1; $GANZ vocab -q --size 2000 --out large "$HERE/../data/tatoeba.en" 2>err) &&
  fail "a file that is too large looks like success"
grep -q 'cannot write large: File too large' err || fail "a file that is too large: $(cat err)"
[ -e large ] && fail "a part of a file is left"

# a closed standard descriptor is not taken over by a file, and still fails
$GANZ vocab -q --size 2000 --out v "$HERE/../data/tatoeba.en" || fail "vocab fails"
$GANZ encode --vocab v - <&- >ids 2>err && fail "a closed standard input looks like one: $(head -n 1 ids)"
grep -q 'cannot read standard input' err || fail "a closed standard input: $(cat err)"
$GANZ encode --vocab v >&- <"$HERE/../data/tatoeba.en" 2>err && fail "a closed standard output looks like success"
grep -q 'cannot write standard output' err || fail "a closed standard output: $(cat err)"

# a reader that has seen enough is no reason to complain, yet no success
exec 7> >(:)
wait $!
$GANZ --help >&7 2>err && fail "a closed pipe looks like success"
[ -s err ] && fail "a closed pipe makes it say: $(cat err)"
exit 0
