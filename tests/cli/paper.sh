# tools/paper_data.sh, paper.sh, paper_lanes.sh and paper_lent.sh on a toy corpus: a line of each kind of the plan, in pieces,
# and the tables; a second call has nothing to do; lanes, here and on a machine that is lent.
tools=$HERE/../../tools
small_corpus
# the data: every fifth pair is kept out of the corpus, what back-translation made comes as well, missing text is named
mkdir -p raw/train raw/test raw/mono
for side in en de; do
  xz -c text.$side >raw/train/some.$side.xz
  cp valid.$side raw/dev.$side
  sed -n 21,40p text.$side >raw/test/one.$side
  sed -n 41,60p text.$side >raw/test/two.$side
done
sed -n 1,20p text.de | tr a-z b-za | xz -c >raw/mono/news.de.xz
echo "news 2" >mono
paper_data() {
  VOCAB=vocab MIXTURE=mixture MONO=mono SYNTHETIC=8 BACK=$HERE/../../models/de-en.safetensors SETS="dev one two" \
    "$tools/paper_data.sh" raw data
}
printf '# text\nsome 2\nother 1\n' >mixture
paper_data >said 2>err && fail "data of a text that is not there"
grep -q 'there is no raw/train/other.en.xz' err || fail "missing text is not named: $(cat err)"
[ ! -e data/corpus.safetensors ] || fail "a corpus of half of the text"
printf '# text\nsome 2\n' >mixture
MONO=<(echo "none 1") SYNTHETIC=8 VOCAB=vocab MIXTURE=mixture SETS=dev "$tools/paper_data.sh" raw other >said 2>err && fail "back-translation of nothing"
grep -q 'there is no raw/mono/none.de.xz' err || fail "missing German is not named: $(cat err)"
paper_data >said 2>&1 || fail "no data: $(cat said)"
pairs=$(($(wc -l <text.en) / 5))
grep -qE "^ *$pairs .*some\.unseen\.en" said || fail "a fifth of the text is not what is kept out: $(cat said)"
grep -qE '^ *7 .*synthetic-00000.seen.en' said || fail "back-translation is left out: $(cat said)"
cp data/corpus.safetensors once
paper_data >said 2>&1 || fail "a second call fails: $(cat said)"
cmp data/corpus.safetensors once || fail "a second call makes another corpus"
small="--rows 4  --slots 64 --steps-per-phase 2 --measure-batches 2 --validate-every 2"
paper() {
  DEVICE=cpu THREADS=1 SEEDS="1 2" LINES=5 BOOTSTRAP=20 BEAM=2 VALID=dev TESTS="one two" \
    TRAIN_FIRST="--recipe tiny --cooldown 0 --steps 10 --save-every 5" TRAIN_PAPER="--steps 20 --decay-start 5000" \
    TRAIN_OURS="--steps 20 --cooldown 0.5 --average-decay 0.9" TRAIN_LONGER="--steps 30" \
    PAPER="--recipe paper $small --mean-rows 2 --mask-rows 2 --optimizer adam" OURS="$small" \
    ONLY='^(float-longer|paper-8-s.|ours-8-s1|ours-fitted-w4a8-s1|ours-rows-w4a8-s1|ours-joint-w4a8-s1|joint-8-s1|paper.teacher-8-s.|paper.unseen-8-s1|bhandare-ours-8|dynamic-paper-8|gnmt-ours-8)	' \
    "$tools/paper.sh" data out
}
pieces=0
until LIMIT=$((6 + 2 * pieces)) paper 2>err; do # slow machines get more time by and by
  code=$?
  [ $code = 3 ] || fail "a piece ends with $code: $(tail -n 3 err) $(tail -n 2 out/*.log)"
  grep -q 'time is up' err || fail "a piece ends without a word: $(cat err)"
  pieces=$((pieces + 1))
  [ $pieces -lt 60 ] || fail "no end of pieces: $(tail -n 3 out/log)"
done
grep -q FAILED out/log && fail "a run failed: $(cat out/failed.tsv)"
# three float models, branches of one run: the first ten steps are its, and each has its own settings behind them
for name in paper ours longer; do
  head -n 3 out/float-$name/log.tsv | cmp - <(head -n 3 out/float-first/log.tsv) || fail "float-$name is no branch of float-first"
done
equal "models that FP32 is" "last average last" "$(for name in paper ours longer; do basename "$(readlink out/float-$name.safetensors)" .safetensors; done | xargs)"
cmp -s out/float-paper.safetensors out/float-longer.safetensors && fail "float-longer did not go on"
# paper mode with two seeds, joint, teacher and unseen text, each with a line after phase 3 but joint, which
# has none; ours, W4A8 and what they begin with; three baselines
for name in float-paper float-ours float-longer paper-8-s1 paper-8-s1.phase-3 paper-8-s2 joint-8-s1 paper+teacher-8-s1 paper+teacher-8-s2 paper+unseen-8-s1 ours-8-s1 \
  ours-fitted-w4a8-s1 ours-rows-w4a8-s1 ours-joint-w4a8-s1 bhandare-ours-8 dynamic-paper-8 gnmt-ours-8; do
  equal "scores of $name" 12 "$(awk -F'\t' -v n="$name" '$1 == n' out/table.tsv | wc -l)"
  [[ $name == float-[op]* ]] || grep -q "^$name	float-" out/pooled.tsv || fail "$name is not compared with its float model"
done
grep -qP '^ours-8-s1\t(bhandare|kl|gnmt)-ours-8\t' out/pooled.tsv || fail "ours is not compared with a baseline"
grep -qP '^paper-8\tone\t13a\tcased\t2\t' out/seeds.tsv || fail "no mean over seeds: $(cat out/seeds.tsv)"
# means, pooled: the mean of two seeds by scores of the table, and its p against FP32, a baseline and what it differs from
equal "mean of two seeds" "$(awk -F'\t' '$1 ~ /^paper-8-s[12]$/ && $2 == "float-paper" { s += $3 } END { printf "%.3f", s / 2 }' out/pooled.tsv)" \
  "$(awk -F'\t' '$1 == "paper-8" && $2 == "float-paper" && $3 == 2 { printf "%.3f", $4 }' out/means.tsv)"
for pair in 'paper-8\tfloat-paper' 'paper-8\tdynamic-paper-8' 'paper\+teacher-8\tpaper-8-s[12]' 'joint-8\tpaper-8-s[12]' 'paper-8.phase-3\tfloat-paper'; do
  equal "lines of means.tsv for $pair" 1 "$(grep -cP "^$pair\t[12]\t" out/means.tsv)"
done
equal "integer products of Bhandare's choice" 15 "$($GANZ inspect --json out/bhandare-ours-8.safetensors |
  sed -n 's/.*"integer_products": *\([0-9]*\).*/\1/p' | head -n 1)"
$GANZ inspect out/ours-fitted-w4a8-s1.safetensors | grep -q 'of 8 x 4 bits' || fail "W4A8 has other widths"
# the plot of the widths: a point for each learned one, and what is missing is said
"$tools/paper_plot.py" out widths.svg --least 0 || fail "no plot"
equal "learned widths in the plot" 2 "$(grep -c '<circle' widths.svg)"
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' widths.svg || fail "the plot is no XML"
"$tools/paper_plot.py" nowhere other.svg 2>err && fail "a plot of nothing"
grep -q 'cannot read nowhere' err || fail "a missing table is not named: $(cat err)"
# lines for the docs: FP32 itself, the mean of seeds as means.tsv has it, what differs in one thing; an unknown name is named
"$tools/paper_rows.py" out float-paper=FP32 paper-8 dynamic-paper-8 >lines || fail "no lines"
equal "lines" 5 "$(wc -l <lines)"
grep -qE '^\| FP32 \|( [0-9.]+ \|){4}  \|  \|$' lines || fail "FP32 has no pooled score: $(cat lines)"
grep -qF "| $(awk -F'\t' '$1 == "paper-8" && $2 == "float-paper" { printf "%.2f (%.2f, %.2f)", $4, $5, $6 }' out/means.tsv) |" lines ||
  fail "not the mean of seeds: $(cat lines)"
"$tools/paper_rows.py" out --changes joint-8 paper+teacher-8 >lines || fail "no changes"
grep -qE '^\| joint-8 \| 1 \| .* of paper-8-s[12], p [0-9.]+ \|$' lines || fail "no line for what changes: $(cat lines)"
"$tools/paper_rows.py" out nothing 2>err && fail "lines of nothing"
grep -q 'has no scores of nothing' err || fail "an unknown name is not named: $(cat err)"
# the lanes: all jobs of a list whatever the folder, none twice, tables of what is there; a run that fails is named and ends them
lanes() {
  DEVICE=cpu THREADS=1 LANES=2 BESIDE=2 SEEDS=1 LINES=5 BOOTSTRAP=20 BEAM=2 VALID=dev TESTS="one two" FIRST=10 TAIL=4 LONGER=6 \
    SHORT=2 MINE=2 FEW_STEPS=2 JOBS=$PWD/list TRAIN="--recipe tiny --rows 4 --slots 64" LEARN_FEW="--rows 4 --slots 64" \
    LEARN="--rows 4 --slots 64 --mean-rows 2 --mask-rows 2 $1" "${@:2}"
}
printf '%s\n' 'whole paper-8-s1' 'whole float-longer' 'few ours-joint-4-s1' 'short paper+kl-6-s1' 'short ours-6-s1' >list
GIVE_UP=2 lanes --no-such-option "$tools/paper_lanes.sh" data lent 2>err && fail "lanes do not see that runs fail"
grep -q 'paper-8-s1 FAILED: .*no-such-option' err || fail "no failed run is named: $(cat err)"
grep -q 'gave up after' err || fail "lanes do not give up: $(cat err)"
UNTIL=11 lanes "" "$tools/paper_lanes.sh" data lent 2>err
equal "status when time is up" 3 $?
lanes "" "$tools/paper_lanes.sh" data lent 2>err || fail "lanes end with $?: $(cat err)"
for name in whole/paper-8-s1 whole/paper-8-s1.phase-3 whole/float-longer few/ours-joint-4-s1 short/paper+kl-6-s1 base/dynamic-ours-8 base/gnmt-ours-8; do
  [ -s "lent/$name.two.hyp" ] || fail "lanes left out $name: $(cat err)"
done
equal "jobs that are left" 0 "$(wc -l <lent/jobs)"
for name in paper-8 ours-joint-4; do grep -qP "^$name\t(float|kl|rows|dynamic|bhandare|base-max)" lent/tables/means.tsv || fail "no mean of $name"; done
grep -qP '^float-longer\tfloat-paper\t' lent/tables/pooled.tsv || fail "what learned longer is not compared"
grep -qP '^paper\+kl-6\tfloat-paper\t' lent/short/means.tsv || fail "no tables of short runs"
# where nothing but the translations outlived a machine: float models are made again, what was learned is not; translations of
# other float models are refused
mkdir moved
for folder in whole short few base; do mkdir moved/$folder && find lent/$folder -name '*.hyp' -type f -exec mv -t moved/$folder {} +; done
cp -r moved/whole moved.whole
mv lent lost && mv moved lent
lanes "" "$tools/paper_lanes.sh" data lent 2>err || fail "lanes do not go on with translations alone: $(cat err)"
cmp lent/tables/table.tsv lost/tables/table.tsv || fail "translations of before have other scores"
[ -e lent/few/rows-ours-4.safetensors ] || fail "steps that learning begins with are not made again"
made=$(find lent/whole lent/short lent/few lent/base -name '*.safetensors' | grep -E 'paper-8-s|longer|joint|kl-6-s|gnmt' || true)
equal "what was made again" "" "$made"
sed 's/$/ more/' lent/whole/float-ours.one.hyp >other.hyp
rm -r lent/whole/float-* && mv other.hyp lent/whole/float-ours.one.hyp
lanes "" "$tools/paper_lanes.sh" data lent 2>err && fail "translations of other float models are taken"
grep -q 'float-ours.one.hyp.before differs' err || fail "it is not said what differs: $(cat err)"
# the same on another machine: translations travel along, what is new comes back
printf '%s\n' 'whole paper-8-s1' 'whole ours-8-s1' >list
rm -r lent && mkdir -p lent/whole && cp moved.whole/paper-8-s1.*.hyp lent/whole/
lent() { LENT=$PWD/there PIECE=1 "$tools/paper_lent.sh" "$@"; }
lent pack data lent carry >said || fail "nothing is packed: $(cat said)"
[ -e carry/2 ] || fail "one piece of more than a megabyte: $(cat said)"
for folder in carry/*; do lent stage "$folder" >said || fail "$folder is not staged: $(cat said)"; done
lanes "" lent start >said 2>err || fail "no start: $(cat said err)"
DEVICE=cpu lent wait 300 >said 2>err || fail "no wait: $(cat said err)"
[ -e there/finished ] || fail "no end: $(cat said err)"
lent take there/back lent >said || fail "nothing comes back: $(cat said)"
[ -s lent/whole/ours-8-s1.two.hyp ] || fail "what is new did not come back: $(cat said)"
for name in paper-8-s1 ours-8-s1; do [ -e there/out/whole/$name.safetensors ] && echo $name; done >made
equal "what was made there" ours-8-s1 "$(cat made)"
echo x >>carry/1/piece.00
for folder in carry/*; do LENT=other lent stage "$folder" >said; done
LENT=$PWD/other "$tools/paper_lent.sh" start >said 2>&1 && fail "a damaged piece is taken"
cp out/table.tsv before
paper 2>err || fail "a second call fails"
cmp before out/table.tsv || fail "a second call gives other scores"
grep -qE 'made|trained' err && fail "a second call does things again: $(cat err)"
true
