# The program itself: help, version, unknown words.
equal version "ganz" "$($GANZ --version | head -1 | cut -d' ' -f1)"
$GANZ --version | grep -qE '^instructions  (scalar|avx2|avxvnni|avx512vnni|amx|neon|neondot|i8mm)$' || fail "no instructions"
equal "forced instructions" "instructions  scalar" "$(GANZ_FORCE_ISA=scalar $GANZ --version | grep '^instr')"
$GANZ --help | grep -q 'usage: ganz COMMAND' || fail "no usage in --help"
for word in -V version; do equal "version by $word" "$($GANZ --version)" "$($GANZ $word)"; done
refuses 2 'no command named fly .see ganz --help.' $GANZ fly
# slips
refuses 2 'no command named transalte: did you mean translate\? .see ganz --help.' $GANZ transalte
refuses 2 'no command named quant: did you mean quantize\?' $GANZ quant
refuses 2 'unknown option --bema: did you mean --beam\? .see ganz translate --help.' $GANZ translate --bema 3
refuses 2 'unknown option --batch_tokens=7: did you mean --batch-tokens\?' $GANZ translate --batch_tokens=7
refuses 2 'unknown option -model: did you mean --model\?' $GANZ translate -model m.safetensors
refuses 2 'unknown option --zebra .see ' $GANZ translate --zebra
refuses 2 'nothing named trian can be measured: did you mean train\?' $GANZ bench trian
# a value joined to its letter
refuses 2 '\-\-beam must be 0 to 64' $GANZ translate -b65
refuses 2 '\-\-beam needs a whole number, not 2x' $GANZ translate -b2x
refuses 1 'cannot open nothing' $GANZ translate -mnothing
refuses 2 'unknown option -q2' $GANZ translate -q2
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
refuses 2 '\-\-least-length must be -1 to 1 ' $GANZ translate --least-length 1.5
refuses 1 'the least length must be 0 to 1, not -0.5' $GANZ translate --least-length -0.5 --text x
refuses 2 '\-\-alpha must be -1 to 10 ' $GANZ translate --alpha 10.5
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
