# ganz quantize --text: integers from a text of one language. What was translated is kept, and only that.
small_corpus
$GANZ train -q --recipe tiny --train corpus --vocab vocab --out float --steps 200 --validate-every 0 || fail "no float model"
model=$(ls float/best.safetensors float/last.safetensors 2>/dev/null | head -n 1)
words=(quantize -q --model "$model" --text text.en -j 1 --steps-per-phase 3)
$GANZ "${words[@]}" --out run 2>err || fail "quantizing fails: $(cat err)"
[ -s err ] && fail "a quiet run says: $(cat err)"
for file in best.safetensors first.safetensors translated.tsv text.corpus; do
  [ -s run/$file ] || fail "no $file"
done
equal "translations" 120 "$(wc -l <run/translated.tsv)"
equal "lines held out" 6 "$(wc -l <run/valid.target)"
tail -n 6 text.en | cmp - run/valid.source || fail "the last lines are not held out"
tail -n 6 run/translated.tsv | cut -f3- | cmp - run/valid.target || fail "nor their translations"
$GANZ inspect run/best.safetensors | grep -q 'integer' || fail "no integer model"
$GANZ translate -q -m "$model" --beam 1 --scores text.en | cut -f2- >own || fail "the float model does not translate"
cut -f3- run/translated.tsv | cmp - own || fail "translations are not the float model's"

# ---- what is kept is used, and nothing else: a cut line, another line, another model
cp run/best.safetensors whole
cp run/translated.tsv kept
rm -r run && mkdir run
head -c 2000 kept >run/translated.tsv
touch run/{first.safetensors,text.corpus,valid.source,valid.target}.tmp.ab12CD # of a run that was killed
$GANZ "${words[@]}" --out run || fail "does not go on with half of its translations"
cmp kept run/translated.tsv || fail "goes on otherwise than it would have"
ls run | grep tmp && fail "what a killed run left is still there"
cmp whole run/best.safetensors || fail "another model after going on"
rm -r run && mkdir run
sed '5s/\t[^\t]*$/\tA translation that was kept./' kept >run/translated.tsv
sed '9s/$/ And more./' text.en >other.en
$GANZ "${words[@]/text.en/other.en}" --out run || fail "does not take another text"
equal "a kept translation" "A translation that was kept." "$(sed -n 5p run/translated.tsv | cut -f3)"
equal "lines after another one" "$(tail -n 100 kept)" "$(tail -n 100 run/translated.tsv)"
[ "$(sed -n 9p kept)" != "$(sed -n 9p run/translated.tsv)" ] || fail "a line that has changed keeps its translation"

# ---- refusals
refuses 2 '--text takes the place' $GANZ "${words[@]}" --train corpus --out other
refuses 2 'needs --model' $GANZ quantize --text text.en --out other --resume
tail -n 50 text.en >later.en
cp -r run finished
refuses 1 'holds a run already' $GANZ "${words[@]/text.en/later.en}" --out run
diff -r finished run || fail "a refused run changes what another one has made"
refuses 1 'missing' $GANZ "${words[@]/text.en/missing}" --out other
: >nothing
refuses 1 'has no lines' $GANZ "${words[@]/text.en/nothing}" --out other
printf 'fine\n\xff\n' >bytes
refuses 1 'line 2 is not UTF-8' $GANZ "${words[@]/text.en/bytes}" --out other
refuses 1 'an integer model already' $GANZ "${words[@]/$model/whole}" --out other

# ---- two runs at once: the second one is refused, and spoils nothing
for i in $(seq 40); do cat text.en; done >long.en
$GANZ "${words[@]/text.en/long.en}" --out shared 2>err &
pid=$!
until [ -s shared/translated.tsv ]; do kill -0 $pid 2>/dev/null || fail "ends: $(cat err)"; sleep 0.01; done
kill -STOP $pid # until the other one has come
until grep -q '^State:.T' /proc/$pid/status; do :; done
cp shared/translated.tsv before
refuses 1 'shared/translated.tsv is in use by another run' $GANZ "${words[@]/text.en/long.en}" --out shared
cmp before shared/translated.tsv || fail "a second run changes the translations of the first"
kill -CONT $pid
kill -TERM $pid
wait $pid
equal "exit code after SIGTERM" 143 $?
