# ganz vocab, encode, decode: results equal to the reference, and every way to get it wrong.
DATA=$HERE/../data GOLDEN=$HERE/../golden/text
V=$GOLDEN/tatoeba.vocab

# same WHAT EXPECTED-FILE: standard input equals the file
same() { cmp -s - "$2" || fail "$1 differs from $(basename "$2")"; }
# sum NAME: standard input has the checksum that the reference has under this name
sum() { equal "$1" "$(awk -v n="$1" '$2 == n {print $1}' "$GOLDEN/text.sha256")" "$(sha256sum | cut -d' ' -f1)"; }

# ---- results of the reference
$GANZ vocab -q --nearest --size 2000 --sample-chars 0 "$DATA/tatoeba.en" "$DATA/tatoeba.de" | same vocab "$V"
$GANZ vocab -q --nearest --size 150 --sample-chars 0 "$GOLDEN/long.txt" | same vocab "$GOLDEN/long.vocab"
for pair in 500.10000 1000.3000 4000.1000000; do
  $GANZ vocab -q --nearest --size ${pair%.*} --sample-chars ${pair#*.} "$DATA/tatoeba.en" "$DATA/tatoeba.de" |
    sum tatoeba.$pair.vocab
done
for side in en de; do
  $GANZ encode --vocab "$V" "$DATA/tatoeba.$side" >ids || fail encode
  sum tatoeba.$side.ids <ids
  $GANZ decode --vocab "$V" ids | same decode "$DATA/tatoeba.$side"
done
$GANZ encode --vocab "$V" <"$GOLDEN/oddities.txt" | same encode "$GOLDEN/oddities.ids"
$GANZ decode --vocab "$V" <"$GOLDEN/oddities.ids" | same decode "$GOLDEN/oddities.txt"

# ---- the size that is asked for: the search comes to 1950 of 2000, the next larger vocabulary is cut
$GANZ vocab --size 2000 --sample-chars 0 --out cut.vocab "$DATA/tatoeba.en" "$DATA/tatoeba.de" 2>err || fail vocab
equal "entries" 2000 "$(wc -l <cut.vocab)"
grep -q 'warning' err && fail "a warning about the size: $(cat err)"
for file in "$DATA/tatoeba.en" "$DATA/tatoeba.de" "$GOLDEN/oddities.txt"; do
  $GANZ encode --vocab cut.vocab "$file" | $GANZ decode --vocab cut.vocab | same "decode with fewer entries" "$file"
done
$GANZ vocab --nearest --size 2000 --sample-chars 0 "$DATA/tatoeba.en" "$DATA/tatoeba.de" 2>err >/dev/null || fail vocab
grep -q 'warning: 2000 entries were asked for; without --nearest' err || fail "says: $(cat err)"
echo 'so few words' | $GANZ vocab --sample-chars 0 - 2>err >/dev/null || fail vocab
grep -q 'warning: 32768 entries were asked for; more text' err || fail "says: $(cat err)"
echo 'so few words' | $GANZ vocab --sample-chars 0 --size 10 - 2>err >/dev/null || fail vocab
grep -q 'warning: 10 entries were asked for; every character' err || fail "says: $(cat err)"

# ---- compressed text: the same lines, and a sample by the size of the text
$GANZ vocab -q --size 500 --sample-chars 10000 "$DATA/tatoeba.en" >plain.vocab || fail vocab
gzip -c "$DATA/tatoeba.en" >t.gz
xz -c "$DATA/tatoeba.en" >t.xz
zstd -qc "$DATA/tatoeba.en" >t.zst
for packed in t.gz t.xz t.zst; do
  $GANZ vocab -q --size 500 --sample-chars 10000 $packed | same "vocab of $packed" plain.vocab
done
$GANZ vocab -q --size 500 --sample-chars 0 - <"$DATA/tatoeba.en" >stdin.vocab || fail "vocab of standard input"
$GANZ vocab -q --size 500 --sample-chars 0 "$DATA/tatoeba.en" | same "vocab" stdin.vocab
refuses 2 'standard input has no size.*give --sample-chars 0' $GANZ vocab -

# ---- lines stay lines
equal blank "$(printf '\n\n')x" "$(printf '\n\n' | $GANZ encode --vocab "$V")x"
equal eos "1" "$(echo | $GANZ encode --vocab "$V" --eos)"
equal "line without newline" "$(echo Tom | $GANZ encode --vocab "$V")" "$(printf Tom | $GANZ encode --vocab "$V")"
equal "end mark" "Tom" "$(echo Tom | $GANZ encode --vocab "$V" --eos | $GANZ decode --vocab "$V")"
equal "after the end mark" "Tom" "$(echo "$(echo Tom | $GANZ encode --vocab "$V" --eos) 5 6" |
  $GANZ decode --vocab "$V")"
equal "several files" 2000 "$($GANZ encode --vocab "$V" "$DATA/tatoeba.en" "$DATA/tatoeba.de" | wc -l)"
equal "spaces between ids" "Tom" "$(echo "  $(echo Tom | $GANZ encode --vocab "$V")	 " | $GANZ decode --vocab "$V")"
# a newline that ids spell out becomes a space
newline=$(grep -nFx -e "'\\'" -e "'1'" -e "'0'" -e "';'" -e "'_'" "$V" | sed "s/:'\(.\)'/ \1/")
id() { echo $(($(awk -v c="$1" '$2 == c {print $1}' <<<"$newline") - 1)); }
equal "escaped newline" " " "$(echo "$(id \\\\) $(id 1) $(id 0) $(id \;) $(id _)" | $GANZ decode --vocab "$V")"
# ids that are not in the vocabulary
equal unknown "Tom" "$(echo "99999999999999999999 -1 2000 $(echo Tom | $GANZ encode --vocab "$V")" |
  $GANZ decode --vocab "$V" 2>warning)"
grep -q '3 ids are not in the vocabulary' warning || fail "no warning about unknown ids"

# ---- a reader that answers line by line gets its answers before the end of the input
mkfifo in out
$GANZ encode --vocab "$V" <in >out &
exec 7>in 8<out
for word in Tom Mary; do
  echo $word >&7
  read -r -t 10 -u 8 answer || fail "no answer while the input is open"
  equal answer "$(echo $word | $GANZ encode --vocab "$V")" "$answer"
done
exec 7>&- 8<&-
wait

# ---- bad text
printf 'good\nbad \377\n' >latin
refuses 1 '^ganz encode: latin:2: not UTF-8$' $GANZ encode --vocab "$V" -o x latin
[ -e x ] && fail "a partial output"
refuses 1 '^ganz vocab: latin:2: not UTF-8$' $GANZ vocab --out x latin
[ -e x ] && fail "a partial output"
equal replaced "$(printf 'good\nbad \357\277\275\n')" "$($GANZ encode --vocab "$V" --invalid replace latin |
  $GANZ decode --vocab "$V")"
$GANZ vocab -q --size 50 --invalid replace latin | grep -q "$(printf '\357\277\275')" ||
  fail "no replacement character in the vocabulary"
printf 'a\0b\nc\n' >nul
$GANZ encode --vocab "$V" nul | $GANZ decode --vocab "$V" | same "NUL bytes" nul
head -c 10000000 /dev/zero | tr '\0' x >long
$GANZ encode --vocab "$V" long | $GANZ decode --vocab "$V" >long.back || fail "line of 10 MB"
echo >>long
cmp -s long long.back || fail "line of 10 MB does not come back"
refuses 1 'x:1: not a line of ids' sh -c "echo '5 12a' >x; $GANZ decode --vocab $V x"
refuses 1 'x:2: not a line of ids' sh -c "printf '5\n- 3\n' >x; $GANZ decode --vocab $V x"

# ---- bad files
refuses 1 'cannot read standard input: it is a folder' sh -c "$GANZ encode --vocab $V <."
refuses 1 'cannot open nowhere: No such file' $GANZ encode --vocab "$V" nowhere
refuses 1 'cannot open nowhere: No such file' $GANZ encode --vocab nowhere long
refuses 1 'cannot open nowhere: No such file' $GANZ vocab nowhere
refuses 1 'no text to learn' sh -c ": >empty; $GANZ vocab empty"
refuses 1 'no/where' $GANZ encode --vocab "$V" -o no/where/ids latin
refuses 1 'no/where' $GANZ vocab --out no/where/v latin
(head -n 100 "$V"; printf "''\n"; tail -n +101 "$V") >wrong
refuses 1 '^ganz encode: wrong:101: empty vocabulary entry$' $GANZ encode --vocab wrong
(head -n 100 "$V"; printf "'\377'\n"; tail -n +101 "$V") >wrong
refuses 1 '^ganz decode: wrong:101: not UTF-8$' $GANZ decode --vocab wrong
tail -n +2 "$V" >wrong
refuses 1 "^ganz encode: wrong:1: a vocabulary has '<pad>_' here$" $GANZ encode --vocab wrong
refuses 1 'latin:1: a vocabulary has' $GANZ encode --vocab latin
$GANZ encode --vocab "$V" "$DATA/tatoeba.en" >/dev/full 2>err && fail "a full disk looks like success"
grep -q 'No space left' err || fail "no sentence about a full disk: $(cat err)"
$GANZ vocab -q --size 500 "$DATA/tatoeba.en" >/dev/full 2>err && fail "a full disk looks like success"
grep -q 'No space left' err || fail "no sentence about a full disk: $(cat err)"
# a small tmpfs, where one may be mounted
if unshare -rm sh -c 'mkdir -p small && mount -t tmpfs -o size=16k none small' 2>/dev/null; then
  unshare -rm sh -c \
    "mount -t tmpfs -o size=16k none small; $GANZ encode --vocab $V -o small/ids $DATA/tatoeba.en 2>err; echo \$? >code; ls -A small >left"
  equal "exit code on a full tmpfs" 1 "$(cat code)"
  grep -q 'No space left' err || fail "no sentence about a full tmpfs: $(cat err)"
  equal "what is left on a full tmpfs" "" "$(cat left)"
fi

# ---- bad usage
refuses 2 'unknown option --fly' $GANZ encode --vocab "$V" --fly
refuses 2 '\-\-vocab is needed' $GANZ encode
refuses 2 '\-\-vocab is needed' $GANZ decode
refuses 2 'which TEXT' $GANZ vocab
refuses 2 '\-\-size must be' $GANZ vocab --size 0 latin
refuses 2 '\-\-invalid is one of' $GANZ encode --vocab "$V" --invalid maybe
for command in vocab encode decode; do $GANZ $command --help | grep -q "usage: ganz $command" ||
  fail "$command --help"; done
