# ganz translate: text comes back with all that is no sentence as it was, in order, for any number of threads; what is said
# about each line; files, pipes, refusals. documents.sh has the rest.
# MAKE_MODEL writes a small random model.
$MAKE_MODEL m.safetensors 5 || fail "no model"
$MAKE_MODEL other.safetensors 6 || fail "no model"
T="$GANZ translate --model m.safetensors --max-length 16"
head -n 150 "$HERE/../data/tatoeba.en" >in
{ head -n 20 in; echo; echo "   "; tail -n 20 in; printf 'no newline'; } >small

$T in >out || fail "it fails"
equal "lines" 150 "$(wc -l <out)"
for threads in 1 2 3; do
  $T --threads $threads <in | cmp - out || fail "$threads threads give something else"
done
$T small >small.out || fail "it fails"
equal "lines with blanks" 43 "$(grep -c '' small.out)"
equal "blank for blank" "$(printf '\n   ')" "$(sed -n '21,22p' small.out)"
equal "the last line has no newline" 42 "$(wc -l <small.out)"
sed -n 1,20p out | cmp - <(sed -n 1,20p small.out) || fail "a line depends on its neighbours"

# several files, compressed in and out
gzip -k small && zstd -q small -o small.zst
$T small.gz small.zst -o two.gz || fail "compressed files"
zcat two.gz | cmp - <(cat small.out; echo; cat small.out) || fail "compressed files give something else"
$T -o two.zst in && zstd -dcq two.zst | cmp - out || fail "zstd output"
$T -o two.xz in && xz -dc two.xz | cmp - out || fail "xz output"

printf 'Hi Sarah,\nGood.\n' | $T >/dev/null || fail "a letter, with a model that knows no forms"

# the model from the environment, and another one
GANZ_MODEL=m.safetensors $GANZ translate --max-length 16 in | cmp - out || fail "GANZ_MODEL"
$GANZ translate -m other.safetensors --max-length 16 in | cmp -s - out && fail "two models say the same"
$T --beam 1 in | cmp -s - out && fail "greedy says the same as a beam"

# the default model: beside the program, installed, or none
mkdir -p put/bin put/share/ganz put/bin/models
cp "$GANZ" put/bin/ganz
refuses 1 'no model: give --model FILE or set GANZ_MODEL .looked for en-de.safetensors in .*/put/bin/../share/ganz' \
  put/bin/ganz translate in
GANZ_MODEL= refuses 1 'no model: ' put/bin/ganz translate in
cp m.safetensors put/share/ganz/en-de.safetensors
put/bin/ganz translate --max-length 16 in | cmp - out || fail "the installed model"
ln -s put/bin/ganz linked
./linked translate --max-length 16 in | cmp - out || fail "the installed model, through a link"
cp other.safetensors put/bin/models/en-de.safetensors
put/bin/ganz translate --max-length 16 in | cmp -s - out && fail "a model beside the program does not come first"
GANZ_MODEL=m.safetensors put/bin/ganz translate --max-length 16 in | cmp - out || fail "GANZ_MODEL does not come first"

# models of pairs, by name and by language
$MAKE_MODEL put/bin/models/de-en.safetensors 5 de en || fail "no model"
# as the model says it: what is mended in translations goes by the language
says() { put/bin/ganz translate --scores --max-length 16 "$@" in | cut -f2-; }
says --model m.safetensors >said || fail "scores"
for how in '--model de-en' '--from de' '--to en' '--from de --to en'; do
  says $how | cmp - said || fail "translate $how"
done
GANZ_MODEL=de-en says | cmp - said || fail "GANZ_MODEL as a pair"
GANZ_MODEL=other.safetensors says --from de | cmp - said || fail "--from and GANZ_MODEL"
says --from en | cmp -s - said && fail "--from en takes de-en"
put/bin/ganz inspect de-en | head -n 1 | grep -q '/put/bin/models/de-en.safetensors: ' || fail "inspect by pair"
cp other.safetensors de-en && says --model de-en | cmp -s - said &&
  fail "a pair comes before a file of that name"
rm de-en && mkdir de-en || fail "no folder"
for how in '--model de-en' '--from de'; do
  says $how | cmp - said || fail "$how where a folder has that name"
done
put/bin/ganz inspect de-en | head -n 1 | grep -q '/put/bin/models/de-en.safetensors: ' || fail "inspect beside a folder"
refuses 1 'de-en/: ' put/bin/ganz inspect de-en/
refuses 1 'fr-xx: ' put/bin/ganz inspect "$(mkdir fr-xx && echo fr-xx)"
rmdir de-en fr-xx
refuses 1 'no model comes with the program that translates from fr: give --model FILE' put/bin/ganz translate --from fr in
refuses 1 'no model comes with the program that translates from de to de: ' put/bin/ganz translate --from de --to de in
refuses 1 'en-fr' put/bin/ganz translate --model en-fr in
$MAKE_MODEL put/bin/models/de-fr.safetensors 5 de fr
refuses 2 'several models translate from de: name both languages' put/bin/ganz translate --from de in
says --to fr | cmp - said || fail "--to fr"
: >put/bin/models/readme-of-models.safetensors # no pair
says --to en | cmp - said || fail "--to en beside other files"
refuses 1 'the model translates from en to de, not from de to en' $GANZ translate --model m.safetensors --from de --to en in
refuses 1 'the model translates from en to de, not to en' $GANZ translate --model m.safetensors --to en in
$GANZ inspect m.safetensors | grep -q '^  pair        en-de$' || fail "inspect does not say the pair"
rm -r put/bin/models

# scores and n-best
$T --scores in >scored || fail "--scores"
equal "scored lines" 150 "$(wc -l <scored)"
$T --scores small | cut -f2- >small.lines
for i in 3 8 15; do equal "a plain sentence" "$(sed -n ${i}p small.out)" "$(sed -n ${i}p small.lines)"; done
cut -f1 scored | grep -qvE '^-[0-9]+\.[0-9]{6}$' && fail "scores are no numbers"
$T --n-best 3 --scores small >best || fail "--n-best"
awk -F'\t' '$1 != last {last = $1; n = 0; lines++} {n++; if (n > 3 || (n > 1 && $2 > score)) bad = 1; score = $2}
  END {exit bad || lines != 43}' best || fail "n-best lists are out of order"
grep -qP '^21\t0.000000\t$' best || fail "a blank line in an n-best list"

# links between words
$T --alignment small >linked || fail "--alignment"
cut -f1 linked | cmp - small.lines || fail "links change the text"
paste small linked | awk -F'\t' '{
  if (NF < 3) {blank++; next}
  source = split($1, words, " "); target = split($(NF - 1), words, " "); count = split($NF, links, " "); before = -1
  for (i = 1; i <= count; i++) {
    split(links[i], at, "-"); seen[NR, at[2]] = 1
    if (at[1] >= source || at[2] >= target || at[1] * 10000 + at[2] <= before) bad = 1
    before = at[1] * 10000 + at[2]
  }
  for (i = 0; i < target; i++) if (!((NR, i) in seen)) bad = 1
} END {exit bad}' || fail "links are out of order, of range, or missing: $(head -n 3 linked)"
equal "links of blank lines" "$(printf '\t\n\t')" "$(sed -n 21,22p linked)"
for threads in 1 3; do
  $T --alignment --threads $threads --batch-tokens 40 small | cmp - linked || fail "links depend on company"
done
$T --alignment --n-best 2 --scores small | awk -F'\t' 'NF != 4 {exit 1}' || fail "links of an n-best list"

# scores of words
$T --word-scores small >worded || fail "--word-scores"
cut -f1 worded | cmp - small.lines || fail "scores of words change the text"
awk -F'\t' '{if (split($1, words, " ") != split($2, scores, " ")) bad = 1; for (i in scores) if (scores[i] > 0) bad = 1}
  END {exit bad}' worded || fail "there is not one score for each word: $(head -n 3 worded)"
for threads in 1 3; do
  $T --word-scores --threads $threads --batch-tokens 40 small | cmp - worded || fail "scores of words depend on company"
done
$T --alignment --word-scores small | cut -f1,2 | cmp - linked || fail "scores of words change links"
# without a length penalty the score is the sum of all words' and the end mark's, so that it is below the words'
$T --alpha 0 --scores --word-scores small | awk -F'\t' '{
  sum = 0; n = split($3, scores, " "); for (i = 1; i <= n; i++) sum += scores[i]
  if ($1 > sum + 1e-3 || $1 < sum - 9) {bad = 1; print > "/dev/stderr"}} END {exit bad}' || fail "sums of words"

# beginnings
yes 'the dog' | head -n 43 | sed '2s/.*//' >beginnings
$T --prefix beginnings small >begun || fail "--prefix"
equal "prefixes kept" 40 "$(grep -c '^the dog' begun)"
equal "no prefix" "$(sed -n 2p small.lines)" "$(sed -n 2p begun)"
head -n 5 beginnings >few
# into a file: a stream may have got its first answers before the lengths were known to differ
refuses 1 'few has fewer lines than the input' $T --prefix few -o never small
refuses 1 'beginnings has more lines than the input' $T --prefix beginnings -o never few
yes | head -n 200 | tr '\n' ' ' >long
{ head -n 29 beginnings; cat long; echo; head -n 13 beginnings; } >beginnings.long
refuses 1 'translate: beginnings.long:30: the prefix has [0-9]+ tokens, the translation may have 16' $T \
  --prefix beginnings.long -o never small
refuses 2 'standard input can be the text or the prefixes, not both' $T --prefix - -
equal "prefixes from standard input" "$(cat begun)" "$($T --prefix - small <beginnings)"
[ -e never ] && fail "an output is left where lengths differ"

# it answers while the input goes on
mkfifo ask answer
$T <ask >answer & translating=$!
exec 7>ask 8<answer
for line in 3 7; do
  sed -n ${line}p in >&7
  read -r -t 20 said <&8 || fail "no answer before the end of the input"
  equal "answer $line" "$(sed -n ${line}p out)" "$said"
done
exec 7>&- 8<&-
wait $translating || fail "it fails after the talk"

# the example program says the same
head -n 10 small | $EXAMPLE m.safetensors | cmp - <(head -n 10 small | $GANZ translate -m m.safetensors) ||
  fail "the example says something else"
tr '\n' ' ' <in >one
equal "lines of the example" 1 "$($EXAMPLE m.safetensors <one | wc -l)"
printf 'b\xffd\n' | $EXAMPLE m.safetensors >out.example 2>err && fail "the example takes anything"
[ -s err ] && [ ! -s out.example ] || fail "the example does not complain on standard error"
$EXAMPLE half 2>/dev/null </dev/null && fail "the example opens anything"

# text from the command line
equal "--text" "$(head -n 2 out)" "$($T --text "$(head -n 2 in)")"
equal "-t and -b joined to their values" "$($T --beam 1 --text "$(head -n 1 in)")" "$($T -b1 -t"$(head -n 1 in)")"
refuses 2 '\-\-text and FILE exclude each other' $T --text x in
refuses 1 '\-\-text:2: not UTF-8' $T --text "$(printf 'x\nb\xffd')"

# at a terminal: a hint, a prompt, and each answer before the next prompt; elsewhere nothing of this
if command -v script >/dev/null; then
  head -n 2 in | script -qec "$T" /dev/null | tr -d '\r' >talk
  grep -q 'type a line and press Enter' talk || fail "no hint at a terminal: $(cat talk)"
  grep -q '^> ' talk || fail "no prompt at a terminal: $(cat talk)" # what is typed may be echoed behind it
  grep -qF "$(sed -n 2p out)" talk || fail "no answer at a terminal: $(cat talk)"
  head -n 2 in | script -qec "$T -q" /dev/null | grep -q '^>' && fail "-q does not silence the prompt"
  script -qec "$T in >/dev/null" /dev/null </dev/null | tr '\r' '\n' >bar
  [ ! -s bar ] || grep -qE '100% 150 (lines|sentences)' bar || fail "no percent at the end: $(cat bar)"
fi
head -n 2 in | $T 2>err >talk
[ -s err ] && fail "a pipe is asked for lines: $(cat err)"

# Ctrl-C ends it at once
mkfifo endless
$T <endless >/dev/null 2>err & translating=$!
exec 7>endless
head -n 3 in >&7
(sleep 20; kill -KILL $translating) 2>/dev/null & watch=$!
kill -TERM $translating
wait $translating
equal "exit code after SIGTERM" 143 $?
kill $watch 2>/dev/null
exec 7>&-

# empty input
$T </dev/null >none || fail "empty input fails"
[ -s none ] && fail "something out of nothing"

# text with a byte order mark, and with lines that end in \r\n
{ printf '\xEF\xBB\xBF'; sed 's/$/\r/' in; } >dos
$T dos | cmp - <(printf '\xEF\xBB\xBF'; sed 's/$/\r/' out) || fail "a byte order mark or \\r\\n is lost, or changes translations"

# text that is not UTF-8
printf 'fine\nb\xffd\n' >bad
refuses 1 'bad:2: not UTF-8' $T bad
$T --invalid replace bad >replaced || fail "--invalid replace"
equal "replaced" 2 "$(wc -l <replaced)"

# refusals leave no output behind
refuses 1 'nothing: ' $GANZ translate --model nothing in
refuses 1 'nothing' $T nothing
refuses 1 'n-best' $T --n-best 5 in
refuses 2 'n-best' $T --beam 4 --n-best 5 in
refuses 2 'beam' $T --beam -1 in
refuses 1 '16 to 64 tokens' $T --max-input 100 in
refuses 1 'no CUDA|no GPU' $T --device cuda:999 in
refuses 1 'device is cpu, cuda or cuda:N, not gpu' $T --device gpu in
refuses 1 'the cpu multiplies in fp32 or bf16, not in tf32' $T --precision tf32 in
refuses 2 'precision' $T --precision fp16 in
$T --device cpu --precision fp32 in | cmp - out || fail "the cpu by name"
# it refuses before it reads
mkfifo silent
exec 7<>silent
timeout 20 $T --device gpu <&7 2>err
equal "exit code where nobody speaks" 1 $?
exec 7>&-
refuses 1 'silent: not a regular file' timeout 20 $GANZ translate --model silent in
head -c 3000 m.safetensors >half
refuses 1 'half: ' $GANZ translate --model half in
refuses 1 'in: ' $GANZ translate --model in in
refuses 1 'bad:2' $T -o made in bad
[ -e made ] && fail "a failed run left an output"
ls | grep -q '^\.\?made' && fail "a failed run left something"
$T in 2>err | :
[ -s err ] && fail "a reader that left makes it say: $(cat err)"
$T in >/dev/full 2>err && fail "a full disk looks like success"
grep -q 'No space left' err || fail "a full disk says: $(cat err)"
exit 0
