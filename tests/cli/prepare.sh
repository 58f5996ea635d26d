# ganz prepare: the closing table, lists and weights, and every way to get it wrong.
DATA=$HERE/../data
V=$HERE/../golden/text/tatoeba.vocab
P="$GANZ prepare --vocab $V"

# row LABEL: the count of a row of the table
row() { sed -nE "s/^ *(dropped, )?$1 +([0-9]+).*/\2/p" table; }
# absent FILE...: neither the files nor anything temporary beside them
absent() { for f in "$@"; do ls "$f"* >/dev/null 2>&1 && fail "a refusal left $(ls "$f"*)"; done; true; }

# ---- results
$P --source "$DATA/tatoeba.en" --target "$DATA/tatoeba.de" --out plain.st >table 2>err || fail "prepare: $(cat err)"
[ -s err ] && fail "short work should say nothing on standard error"
equal read 1000 "$(row 'pairs read')"
equal kept 1000 "$(row 'pairs kept')"
equal tokens "$($GANZ encode --vocab "$V" --eos "$DATA/tatoeba.en" | wc -w)" "$(row 'source tokens')"
for packed in gz xz zst; do
  case $packed in gz) pack=gzip ;; xz) pack=xz ;; zst) pack='zstd -q' ;; esac
  $pack -c <"$DATA/tatoeba.en" >en.$packed
  $P --source en.$packed --target "$DATA/tatoeba.de" --out packed.st --threads 1 >/dev/null ||
    fail "prepare of .$packed"
  cmp -s plain.st packed.st || fail "the corpus of .$packed text differs"
done
$P -s - -t "$DATA/tatoeba.de" -o stdin.st -q <"$DATA/tatoeba.en" >out || fail "prepare of standard input"
[ -s out ] && fail "--quiet prints"
cmp -s plain.st stdin.st || fail "the corpus of standard input differs"

printf 'Tom\nTom\n \nMary\nTom\377\nTom\n' >s
printf 'Tom ist da.\nTom ist da.\nTom\nMary\nMary\n1 2 3 4 5 6 7 8 9 0\n' >t
$P -s s -t t -o clean.st --dedupe --drop-identical --max-ratio 3 --invalid drop >table || fail "cleaning"
for expected in 'pairs read=6' 'duplicate=1' 'empty side=1' 'identical sides=1' 'not UTF-8=1' 'length ratio=1' \
  'too long=0' 'pairs kept=1'; do
  equal "${expected%=*}" "${expected#*=}" "$(row "${expected%=*}")"
done
$P -s s -t t -o clean.st --invalid replace >table || fail "cleaning"
equal repaired 1 "$(row 'of them repaired')"

$P -s "$DATA/tatoeba.en" "$DATA/tatoeba.de" -t "$DATA/tatoeba.de" "$DATA/tatoeba.en" -w 6 0.5 -o two.st >table ||
  fail "two pairs"
equal "rows of inputs" "6 0.5" "$(awk '$1 == 1000 && $2 == 1000 {print $3}' table | xargs)"
printf '# a list\n%s\t%s 6\n\n%s %s 0.5\n' "$DATA/tatoeba.en" "$DATA/tatoeba.de" "$DATA/tatoeba.de" "$DATA/tatoeba.en" \
  >list
$P --list list -o list.st -q || fail "prepare of a list"
cmp -s two.st list.st || fail "the corpus of a list differs"

# ---- wrong words
refuses 2 'unknown option --fast' $P --fast
refuses 2 'what is extra' $P -o x.st extra
refuses 2 '--vocab is needed' $GANZ prepare -s s -t t -o x.st
refuses 2 '--out is needed' $P -s s -t t
refuses 2 '--source and --target' $P -o x.st
refuses 2 '2 source files, but 1 target' $P -s s s -t t -o x.st
refuses 2 '1 weights for 2 pairs' $P -s s s -t t t -w 1 -o x.st
refuses 2 'numbers over 0' $P -s s -t t -w -1 -o x.st
refuses 2 'numbers over 0' $P -s s -t t -w 1x -o x.st
refuses 2 'stands for' $P --list list -s s -o x.st
refuses 2 'error.drop.replace' $P -s s -t t -o x.st --invalid maybe
refuses 1 'only one of the files' $P -s - -t - -o x.st
refuses 1 'leave no pair' $P -s s -t t -o x.st --min-length 9 --max-length 8
echo 'only-one' >bad.list
refuses 1 'SOURCE TARGET' $P --list bad.list -o x.st
echo 's t much' >bad.list
refuses 1 'SOURCE TARGET' $P --list bad.list -o x.st
refuses 1 'cannot open nowhere' $P --list nowhere -o x.st

# ---- tags and copies
head -n 300 "$DATA/tatoeba.en" >few.en && head -n 300 "$DATA/tatoeba.de" >few.de
$GANZ vocab -q --size 600 --sample-chars 0 --reserve '<bt>,<m1>' -o marks.vocab few.en few.de || fail "vocab --reserve"
equal "marks" "'<bt>_' '<m1>_'" "$(sed -n '3,4p' marks.vocab | xargs -d '\n' echo)"
echo '<bt> is <m1>' | $GANZ encode --vocab marks.vocab | tr ' ' '\n' | grep -qxE '2|3' && fail "text becomes a mark"
M="$GANZ prepare --vocab marks.vocab -q"
# numbers FILE COUNT: the first ids of a corpus, which are its first tensor
head -n 1 few.en >one.en && head -n 1 few.de >one.de
ids() { printf '%s ' $(cat "$1.en" "$1.de" | $GANZ encode --vocab marks.vocab | sed 's/$/ 1/'); }
numbers() { od -An -v -tu2 -w2 -j $((8 + $(od -An -tu8 -N8 "$1"))) -N $((2 * $2)) "$1" | tr -s ' \n' ' '; }
wanted=$(ids one | wc -w)
$M -s one.en -t one.de -o one.st && $M -s one.en -t one.de --tag '<bt>' -o tagged.st || fail "--tag"
equal "ids" "$(echo $(ids one))" "$(echo $(numbers one.st $wanted))"
equal "tagged ids" "2 $(echo $(ids one))" "$(echo $(numbers tagged.st $((wanted + 1))))"
echo 'one.en one.de 1 tag=<m1>' >marks.list
$M --list marks.list -o listed.st || fail "tag= in a list"
equal "tag of a list" "3 $(echo $(ids one))" "$(echo $(numbers listed.st $((wanted + 1))))"
printf '%s\n' 'few.en few.de 2 upper=0.5 lower=0.3' 'few.en few.de joined=0.2 tag=<bt>' >copies.list
$M --list copies.list --threads 1 -o copies.st && $M --list copies.list --threads 3 -o threads.st || fail "copies"
cmp copies.st threads.st || fail "copies depend on threads"
$M --list copies.list --seed 2 -o seed.st && cmp -s copies.st seed.st && fail "copies do not depend on the seed"
$M -s few.en -t few.de --upper 1 -o upper.st || fail "--upper"
tr '[:lower:]' '[:upper:]' <one.en >up.en && tr '[:lower:]' '[:upper:]' <one.de >up.de # the first pair is ASCII
$M -s one.en -t one.de --upper 1 -o both.st || fail "--upper of one pair"
equal "a pair and its copy" "$(echo $(ids one) $(ids up))" "$(echo $(numbers both.st $((wanted + $(ids up | wc -w)))))"
refuses 1 '<no>' $M -s one.en -t one.de --tag '<no>' -o x.st
refuses 1 'bt' $P -s one.en -t one.de --tag '<bt>' -o x.st
for bad in tag= tag=bt formality=2 formality=x upper=2 upper=-1 upper=x colour=1 =1 upper; do
  echo "one.en one.de 1 $bad" >bad.list
  refuses 1 '' $M --list bad.list -o x.st
done

# ---- formality
RULES=$HERE/../../recipes/formality-en-de.txt
$GANZ vocab -q --size 600 --sample-chars 0 --reserve '<bt>,<m1>,<m2>' -o forms.vocab few.en few.de || fail "three marks"
printf '%s\n' 'Are you there?' 'Are you there?' 'It rains.' >forms.en
printf '%s\n' 'Sind Sie da?' 'Bist du da?' 'Es regnet.' >forms.de
$GANZ prepare --vocab forms.vocab -s forms.en -t forms.de --formality "$RULES" --formality-share 1 -o forms.st >table ||
  fail "--formality"
equal formal 1 "$(row 'of formal address')"
equal informal 1 "$(row 'of informal address')"
equal "first id" 3 "$(echo $(numbers forms.st 1))"
head -c 2000 forms.st | grep -aqF '"formal_mark":"<m1>","informal_mark":"<m2>"' || fail "the corpus does not name its marks"
echo 'forms.en forms.de 1 formality=0' >forms.list
$GANZ prepare --vocab forms.vocab --list forms.list --formality "$RULES" -o none.st >table || fail "formality=0"
grep -q 'of formal address' table && fail "formality=0 counts forms"
echo 'forms.en forms.de 1 formality=0.5' >forms.list
refuses 1 'need a file of words' $GANZ prepare --vocab forms.vocab --list forms.list -o x.st
refuses 1 'no mark <m2>' $M -s forms.en -t forms.de --formality "$RULES" -o x.st
refuses 1 'cannot open nowhere' $M -s forms.en -t forms.de --formality nowhere -o x.st
refuses 1 'forms.en:1: a line begins with' $M -s forms.en -t forms.de --formality forms.en -o x.st
refuses 1 'between < and >' $GANZ vocab --size 600 --reserve 'bt' -o x.vocab few.en
absent x.st

# ---- wrong files
refuses 1 's:5: not valid UTF-8' $P -s s -t t -o x.st
head -3 t >short
refuses 1 'short has 3 lines, but s has more' $P -s s -t short -o x.st
refuses 1 'cannot open nowhere' $P -s s -t nowhere -o x.st
refuses 1 'cannot open nowhere' $GANZ prepare --vocab nowhere -s t -t t -o x.st
head -c 2000 "$DATA/tatoeba.en" | xz -c | head -c 500 >cut.xz
refuses 1 'cut.xz: compressed data ends too early' $P -s cut.xz -t cut.xz -o x.st
(head -20 "$V"; echo; tail -n +21 "$V") >bad.vocab
refuses 1 'bad.vocab:21: ' $GANZ prepare --vocab bad.vocab -s t -t t -o x.st
absent x.st

# ---- outputs that cannot be written
refuses 1 'cannot create no/x.st' $P -s t -t t -o no/x.st
refuses 1 'it is a folder' $P -s t -t t -o .
refuses 1 'not a regular file' $P -s t -t t -o /dev/full
refuses 1 'not compressed' $P -s t -t t -o x.st.gz
absent x.st
cp plain.st kept.st
(ulimit -f 8; trap '' XFSZ; refuses 1 'cannot write kept.st' $P -s "$DATA/tatoeba.en" -t "$DATA/tatoeba.de" \
  -o kept.st) || exit 1
cmp -s plain.st kept.st || fail "a failed write changed the old file"
mkdir disk
if mount -t tmpfs -o size=32k none disk 2>/dev/null; then
  (refuses 1 'cannot write disk/x.st: No space left' $P -s "$DATA/tatoeba.en" -t "$DATA/tatoeba.de" \
    -o disk/x.st; absent disk/x.st)
  status=$?
  umount disk
  [ $status = 0 ] || exit 1
else
  echo "no full disk tried: only root can mount one"
fi
