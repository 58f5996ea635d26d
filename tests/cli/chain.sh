# tools/reproduce.sh from text to tables on a toy corpus; a second call finds everything done.
tools=$HERE/../../tools
mkdir data
awk 'BEGIN {
  srand(7)
  for (l = 0; l < 400; l++) {
    s = ""; n = 2 + int(rand() * 4)
    for (i = 0; i < n; i++) s = s " w" int(rand() * 20)
    print substr(s, 2)
  }
}' >all.en
tr w v <all.en >all.de
for side in en de; do
  head -340 all.$side | xz >data/toy.$side.xz
  sed -n 341,360p all.$side >data/newstest2013.$side
  sed -n 361,400p all.$side >data/newstest2014.$side
done
echo "toy 1" >mixture
chain() {
  MIXTURE=mixture DEVICE=cpu THREADS=2 VOCAB_SIZE=100 LINES=10 BOOTSTRAP=20 \
    METHODS="max clip-tuned learned learned-power-of-two" \
    LEARN="--steps-per-phase 4 --measure-batches 2 --validate-every 4" "$tools/reproduce.sh" tiny data out --steps 60 \
      --validate-every 60 >log 2>&1 ||
    fail "the chain breaks: $(tail -5 log)"
}
chain
# float; at 8 bits max, clip-tuned, phase 3, phase 6, power-of-two; at 6 bits max, phase 3, phase 6
equal "models" 9 "$(wc -l <out/table/models.tsv)"
equal "scores of two texts, two tokenizers, cased and not" $((9 * 8)) "$(tail -n +2 out/table/table.tsv | wc -l)"
equal "models with a float product" "" "$(awk -F'\t' '$3 < 32 && $4 != 23' out/table/models.tsv)"
equal "rows to read" $((2 * (9 + 2))) "$(grep -c '^|' out/table/table.md)"
cp out/table/table.tsv first.tsv
chain
cmp first.tsv out/table/table.tsv || fail "a second call gives other scores"
grep -q 'quantize_table: \(learned\|made\|translated\)' log &&
  fail "a second call does things again: $(grep quantize_table: log)"
CHAIN=nothing "$tools/reproduce.sh" tiny data out >/dev/null 2>err && fail "an unknown step is taken"
grep -q 'no step named nothing' err || fail "says: $(cat err)"

# two models side by side, the processor measuring while the other device learns, both of them teaching: all lines of
# both tables are there
tiny="--steps-per-phase 2 --measure-batches 1 --validate-every 0 --bleu-sentences 0"
MIXTURE=mixture DEVICE=cpu THREADS=1 VOCAB_SIZE=100 LINES=10 BOOTSTRAP=20 BASE=tiny BIG=tiny \
  BASE_TRAIN="--steps 30 --average-decay 0.9" \
  BIG_TRAIN="--steps 20 --average-decay 0.9" BASE_LEARN=$tiny BIG_LEARN=$tiny BASE_MEASURED="max kl-per-row" \
    BIG_MEASURED=max \
  LEARNED="base:8:learned-from-kl big:6:learned-taught-from-kl big:6:learned-max-weights-from-kl base:6:learned-taught-per-row-from-kl" \
  "$tools/gpu_results.sh" data both >log 2>&1 || fail "both together break: $(tail -5 log; tail -3 both/*/chain.log)"
lines() { cut -f1 "both/$1/table/models.tsv" | sort | tr '\n' ' '; }
equal "lines of base" "float kl-6 kl-8 kl-per-row-6 kl-per-row-8 learned-from-kl-8 learned-from-kl-phase-3-8 \
learned-taught-per-row-from-kl-6 max-6 max-8 " "$(lines base)"
equal "lines of big" "float kl-6 kl-8 learned-max-weights-from-kl-6 learned-taught-from-kl-6 max-6 max-8 " \
  "$(lines big)"
[ -e both/failed ] && fail "not learned: $(cat both/failed)"
equal "lines with a score" $((8 * (10 + 7))) "$(cat both/*/table/table.tsv | grep -c newstest)"

# what cannot be learned is told at the end, and the tables have the rest
MIXTURE=mixture DEVICE=cpu THREADS=1 VOCAB_SIZE=100 LINES=10 BOOTSTRAP=20 BASE=tiny BIG=tiny BASE_LEARN="--fly" \
  BIG_LEARN=$tiny \
  BASE_MEASURED=max BIG_MEASURED=max LEARNED="base:8:learned-power-of-two big:8:learned" \
    "$tools/gpu_results.sh" data both >log 2>&1 &&
  fail "a model that cannot be learned goes unnoticed"
grep -q 'not learned: base:8:learned-power-of-two ' log || fail "what was not learned is not told: $(tail -3 log)"
grep -q 'base: make failed, see .*both/base/chain.log' log || fail "where to look is not told: $(tail -3 log)"
grep -q '^learned-8' both/big/table/models.tsv || fail "a failure keeps others from being learned"

# a teacher that is not named
METHODS=learned-taught LEARN=$tiny GANZ=$GANZ \
  "$tools/quantize_table.sh" out/train/best.safetensors out/corpus.safetensors \
  out/texts untaught >/dev/null 2>err && fail "a teacher is not missed"
grep -q 'learned-taught needs TEACHERS' err || fail "says: $(cat err)"

# without arguments each tells what it wants, and nothing of its code
for tool in reproduce quantize_table gpu_results clock_phrases; do
  "$tools/$tool.sh" >/dev/null 2>err
  equal "$tool.sh without arguments" 2 $?
  grep -q "^$tool.sh " err || fail "$tool.sh does not say what it wants"
  grep -q 'set -eu\|exit' err && fail "$tool.sh shows its code"
done
exit 0
