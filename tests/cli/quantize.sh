# Learned quantization from text to a translation in integers, stopped and continued.
small_corpus
$GANZ train -q --recipe tiny --train corpus --vocab vocab --out float --steps 60 --validate-every 30 \
  --valid-source valid.en --valid-target valid.de || fail "no float model"

ROOT=$PWD
words=(quantize -q --model "$ROOT/float/best.safetensors" --train "$ROOT/corpus" --valid-source "$ROOT/valid.en"
  --valid-target "$ROOT/valid.de" --out run --steps-per-phase 8 --measure-batches 4 --validate-every 4 --save-every 1 \
    --bits 8)
quantize() { $GANZ "${words[@]}" "$@"; }

# ---- a run, and what it leaves
mkdir whole && cd whole || fail "no folder"
quantize 2>err || fail "quantizing fails: $(cat err)"
[ -s err ] && fail "a quiet run says: $(cat err)"
for file in best phase-3 last; do [ -s run/$file.safetensors ] || fail "no $file.safetensors"; done
equal "phases in the log" "1 2 3 4 5 6" "$(tail -n +2 run/log.tsv | cut -f12 | uniq | tr '\n' ' ' | sed 's/ $//')"
equal "last step" 44 "$(tail -n 1 run/log.tsv | cut -f1)"
for file in loss.svg steps.svg quant.txt quant.json quant.svg; do [ -s run/$file ] || fail "no $file"; done
equal "operands of the report" 29 "$(tail -n +2 run/quant.tsv | wc -l)"
equal "operands whose usual largest value is above the largest" 0 "$(awk -F'\t' 'NR > 1 && $9 > $8' run/quant.tsv | wc -l)"
documented run/log.tsv
documented run/quant.tsv
equal "columns of the report" 12 "$(awk -F'\t' 'NR == 1 {n = NF} NF != n {n = -1} END {print n}' run/quant.tsv)"
equal "columns of steps" 31 "$(awk -F'\t' 'NR == 1 {n = NF} NF != n {n = -1} END {print n}' run/steps.tsv)"
equal "phases of steps" "3 4" "$(tail -n +2 run/steps.tsv | cut -f2 | uniq | tr '\n' ' ' | sed 's/ $//')"
grep -q '^23 of 23 products in integers of 8 bits; 29 operands over 20 lines' run/quant.txt ||
  fail "says: $(cat run/quant.txt)"
grep -q '>phase 3<' run/loss.svg || fail "no borders of phases"
for model in best phase-3; do
  $GANZ translate --model run/$model.safetensors ../valid.en >$model.out || fail "cannot translate with $model"
  equal "lines translated" 20 "$(wc -l <$model.out)"
done
refuses 1 'run holds a run already' quantize
refuses 1 'is a checkpoint of quantization, not of training' $GANZ train -q --train ../corpus \
  --model ../float/best.safetensors --out run --resume
refuses 1 'is a checkpoint of quantization, not of training' $GANZ train -q --train ../corpus --vocab ../vocab \
  --out run --resume
refuses 1 'is a checkpoint of training, not of quantization' $GANZ quantize -q --train ../corpus --out ../float --resume
cd ..

# ---- learned or calibrated: the better one on the validation text is best.safetensors, and the log tells both
note=$(tail -n 1 whole/run/log.tsv | cut -f13)
grep -qE '^BLEU [0-9.]+ by learning, [0-9.]+ by calibration: the (learned|calibrated) model is best.safetensors$' \
  <<<"$note" || fail "the log does not compare: $note"
# Learning that begins with absurd steps and has no time: calibration does better, says so and is kept.
mkdir spoiled && cd spoiled || fail "no folder"
$GANZ quantize -q --method clip --clip 0.001 --model ../float/best.safetensors --out absurd || fail "no absurd steps"
spoil=(--steps-of absurd --phases 1-3 --steps-per-phase 1 --validate-every 0)
$GANZ "${words[@]/-q/--no-quiet}" "${spoil[@]}" 2>err || fail "quantizing fails: $(cat err)"
grep -qE '^calibration does better on the validation text, BLEU [0-9.]+, and is kept; the learned model is run/learned' \
  err || fail "says: $(cat err)"
$GANZ translate --model run/learned.safetensors ../valid.en >learned.out || fail "no learned model"
$GANZ inspect run/best.safetensors | grep -q 'calibrated: on the validation text better' || fail "no note in the model"
$GANZ quantize -q --model ../float/best.safetensors --calibrate ../valid.en --out own.safetensors || fail "no calibration"
$GANZ translate --model own.safetensors ../valid.en | cmp - <($GANZ translate --model run/best.safetensors ../valid.en) ||
  fail "best.safetensors is not the calibrated model"
cp run/best.safetensors before
quantize "${spoil[@]}" --resume || fail "a finished run does not go on"
cmp before run/best.safetensors || fail "a finished run ends otherwise"
quantize "${spoil[@]}" --resume --keep learned || fail "a finished run does not go on"
[ -e run/learned.safetensors ] && fail "the learned model is still beside the best"
$GANZ translate --model run/best.safetensors ../valid.en | cmp - learned.out || fail "the learned model is not kept"
cd ..

# ---- the result is the same however often it is stopped, and the engine says what training said
mkdir stopped && cd stopped || fail "no folder"
for i in $(seq 6); do
  $GANZ "${words[@]}" $([ -e run/last.safetensors ] && echo --resume) 2>err &
  pid=$!
  until [ -s run/last.safetensors ]; do kill -0 $pid 2>/dev/null || break; sleep 0.01; done
  sleep "0.$((RANDOM % 2))$((RANDOM % 10))"
  kill -TERM $pid 2>/dev/null
  wait $pid
  code=$?
  [ $code = 143 ] || [ $code = 0 ] || fail "SIGTERM ends with $code: $(cat err)"
done
words=("${words[@]/-q/--no-quiet}")
quantize --resume 2>err || fail "a stopped run does not go on: $(cat err)"
grep -q '0 of 20 validation sentences differ from training' err || fail "says: $(cat err)"
grep -q 'best.safetensors: 23 of 23 products in integers;' err || fail "says: $(cat err)"
for file in best.safetensors last.safetensors phase-3.safetensors steps.tsv quant.tsv quant.json; do
  cmp run/$file ../whole/run/$file || fail "a stopped run ends otherwise"
done
cd ..

# ---- settings come from the model's training; only some phases
$GANZ quantize --model float/best.safetensors --train corpus --out three --phases 1,2,3 --steps-per-phase 3 --bits 6 \
  2>err || fail "three phases"
grep -qx 'three/best.safetensors: 23 of 23 products in integers' err || fail "without validation it says: $(cat err)"
$GANZ translate --model three/best.safetensors valid.en >out || fail "cannot translate with six bits"

# ---- what is told on the way
$GANZ quantize --model float/best.safetensors --train corpus --out told --steps-per-phase 1 --valid-source valid.en \
  --valid-target valid.de 2>err || fail "it fails when it may talk: $(cat err)"
equal "phases that are told of" 6 "$(grep -c '^quantize phase [1-6]: ' err)"
equal "what the integer engine makes of it is told once" 1 "$(grep -c 'integer engine: BLEU' err)"

# ---- what a run of another model left without a checkpoint is not gone on with
$GANZ train -q --recipe tiny --encoder-layers 2 --train corpus --vocab vocab --out deeper --steps 2 ||
  fail "no deeper model"
rm three/last.safetensors
refuses 1 "three/best.safetensors is another run's" $GANZ quantize -q --model deeper/last.safetensors --train corpus --out three \
  --phases 2,3 --steps-per-phase 2
$GANZ quantize -q --model deeper/last.safetensors --train corpus --out three --phases 2,3 --steps-per-phase 2 --resume ||
  fail "a used folder"
equal "columns of steps" 1 "$(awk -F'\t' '{print NF}' three/steps.tsv | sort -u | wc -l)"

# ---- what learning is compared with
made() {
  $GANZ quantize --model float/best.safetensors --out made.safetensors "${@:2}" >said || fail "$* fails"
  equal "${*:2}" "$1" "$(sed 's/-bit.*//' said)"
  $GANZ translate --model made.safetensors valid.en >out || fail "cannot translate after ${*:2}"
  equal "lines translated" 20 "$(wc -l <out)"
}
made '23 of 23 products in 8' --calibrate valid.en
made '23 of 23 products in 6' --calibrate valid.en --bits 6 --method kl
made '17 of 23 products in 8' --calibrate valid.en --method kl --products dense
made '23 of 23 products in 8' --method clip --clip 4
# Products by name: in a file with remarks, and as text; Bhandare's choice is one of the former.
printf '# behind a ReLU\n*.ffn.out: product=float\n\nlogits: weights=6 # fewer\n' >rules.txt
refuses 2 "exclude each other" $GANZ quantize --model float/best.safetensors --calibrate valid.en --out no \
  --products rules.txt --exceptions "enc.*: weights=4"
made '21 of 23 products in 8' --calibrate valid.en --method kl --products rules.txt
made '15 of 23 products in 8' --calibrate valid.en --method kl --products dense --exceptions '*.ffn.out: product=float'
$GANZ inspect made.safetensors | grep -qF '*.ffn.out: product=float' || fail "inspect does not tell the exceptions"
printf 'logits: weights=12\n' >rules.txt
refuses 2 'rules.txt: exceptions: logits: no rule is "weights=12"' $GANZ quantize --model float/best.safetensors \
  --calibrate valid.en --out no --products rules.txt
refuses 1 'nowhere.txt' $GANZ quantize --model float/best.safetensors --calibrate valid.en --out no --products nowhere.txt
refuses 2 'products is all, dense or a file .*./some' $GANZ quantize --model float/best.safetensors --calibrate valid.en --out no \
  --products some
yes '*.ffn.out: product=float' | head -n 300 >rules.txt
refuses 2 'rules.txt: more than 4095 letters of rules' $GANZ quantize --model float/best.safetensors \
  --calibrate valid.en --out no --products rules.txt
# Widths within a budget: told, kept, and not chosen anew by a run that goes on.
budget=(quantize --model float/best.safetensors --train corpus --rows 4 --slots 64 --steps-per-phase 1 --out budget)
$GANZ "${budget[@]}" --budget 5 2>err || fail "a budget: $(cat err)"
grep -qE '^widths of weights: .* (4\.[5-9][0-9]|5\.00) bits on average, a file of at most' err || fail "says: $(cat err)"
$GANZ inspect budget/best.safetensors | grep -q '^Widths of left and right codes: .*, ' || fail "one width for all"
$GANZ "${budget[@]}" --budget 5 --resume 2>err || fail "a budget that goes on: $(cat err)"
grep -q '^widths of weights' err && fail "widths are chosen twice"
refuses 1 'budget holds a run already' $GANZ "${budget[@]}" --budget 5
refuses 2 'a size like 36M' $GANZ "${budget[@]}" --budget much
refuses 2 'a size like 36M' $GANZ "${budget[@]}" --budget 99999999999G # of more bytes than can be counted
refuses 2 'goes with --train' $GANZ quantize --model float/best.safetensors --calibrate valid.en --out no --budget 5
refuses 2 'chooses the widths' $GANZ quantize --model float/best.safetensors --train corpus --out no --budget 5 --weight-bits 4
refuses 1 'no model of 9000 bytes' $GANZ quantize --model float/best.safetensors --train corpus --out no --budget 9k
# Steps and parameters together; the paper's recipe goes on from a checkpoint with the optimizer's memory.
$GANZ quantize -q --model float/best.safetensors --train corpus --out joint --phases joint --steps-per-phase 2 \
  --measure-batches 2 || fail "joint learning"
equal "steps of joint learning" 12 "$(tail -n 1 joint/log.tsv | cut -f1)"
$GANZ quantize -q --model float/last.safetensors --recipe paper --rows 4 --slots 64 --mean-rows 2 --mask-rows 2 \
  --optimizer adam --steps-per-phase 3 --train corpus --valid-source valid.en --valid-target valid.de --validate-every 1 \
  --out paper 2>err || fail "paper mode: $(cat err)"
[ -e paper/learned.safetensors ] && fail "paper mode compares with calibration"
refuses 1 'the dynamic method has bits of weights and of inputs' $GANZ quantize --model float/best.safetensors \
  --out no --method dynamic --power-of-two
made '17 of 23 products in 8' --method dynamic
for words in 'train --train corpus --steps 1 --model' 'quantize --train corpus --model' \
  'quantize --calibrate valid.en --model' \
  'train --recipe tiny --train corpus --vocab vocab --steps 1 --teacher' 'average'; do
  refuses 1 'made.safetensors: emulates' $GANZ $words made.safetensors --out no
done
made '23 of 23 products in 8' --calibrate valid.en --power-of-two --weight-bits 7 --activation-bits 6 --attention-bits 5
made '23 of 23 products in 8' --calibrate valid.en --columns
$GANZ inspect --audit valid.en made.safetensors >audit || fail "no audit of a model with columns"
grep -q 'columns *of inputs have steps and zeros' audit || fail "inspect does not tell of columns"
head -n 20 valid.en | $GANZ translate -q -m made.safetensors >by.all || fail "a model with columns does not translate"
head -n 20 valid.en | GANZ_FORCE_ISA=scalar $GANZ translate -q -m made.safetensors --threads 2 | cmp - by.all ||
  fail "another processor says otherwise with columns"
for to in golden onnx; do # the others take the weights as floats: cli_export_models
  refuses 1 'columns' $GANZ export --to $to --model made.safetensors no.folder </dev/null
done
refuses 2 'goes with --calibrate' $GANZ quantize --model float/best.safetensors --train corpus --out no --columns
refuses 1 'go with the method fit' $GANZ quantize --model float/best.safetensors --calibrate valid.en --out no --columns --method kl
refuses 1 'biases stay float' $GANZ quantize --model float/best.safetensors --calibrate valid.en --out no --columns --bias-bits 8
refuses 2 'not learned' $GANZ quantize --model float/best.safetensors --train corpus --out no --exceptions 'enc.*: columns=own'
made '23 of 23 products in 4' --calibrate valid.en --bits 4 --per-row --bias-bits 32 --float-lookup
$GANZ inspect made.safetensors >out || fail "cannot inspect"
for words in 'biases *float' 'one for each output of a weight' 'looked up in float' '23 integer, 0 float'; do
  grep -qE "$words" out || fail "inspect says no $words: $(cat out)"
done
for method in max kl; do
  for threads in 1 3; do
    $GANZ quantize -q --model float/best.safetensors --calibrate valid.en --method $method --threads $threads \
      --out by-$threads ||
      fail "$threads threads fail"
    $GANZ translate --model by-$threads --scores valid.en >by-$threads.out
  done
  cmp by-1.out by-3.out || fail "--method $method depends on threads"
done
mkdir report && made '23 of 23 products in 8' --calibrate valid.en --report report
[ -s report/quant.txt ] || fail "no report"
$GANZ quantize -q --model float/best.safetensors --train corpus --out clipped --method clip --clip 8:2 \
  --steps-per-phase 4 || fail "clip"
$GANZ quantize -q --model float/best.safetensors --train corpus --out clipped --resume --steps-per-phase 5 ||
  fail "a run that clips does not go on without being told to clip"
printf 'method: kl\nbits: 4\nper-row: true\n' >kl.yaml
scores() {
  $GANZ quantize -q --model float/best.safetensors --calibrate valid.en --out made "$@" &&
    $GANZ translate --model made --scores valid.en
}
rows=$(scores --method kl --bits 4 --per-row) && whole=$(scores --method kl --bits 4) || fail "no model by kl"
[ "$rows" != "$whole" ] || fail "steps of rows change nothing"
equal "settings of a recipe" "$rows" "$(scores --recipe ./kl.yaml)"
equal "a flag taken back" "$whole" "$(scores --recipe ./kl.yaml --no-per-row)"
largest=$(scores --method kl --bits 4 --weight-range max) || fail "no model with weights up to their largest"
[ "$largest" != "$whole" ] || fail "ranges of weights that fit change nothing"
equal "ranges of weights by kl" "$whole" "$(scores --method kl --bits 4 --weight-range fit)"
equal "ranges of weights by max" "$(scores --method max --bits 4)" "$(scores --method max --bits 4 --weight-range max)"
equal "ranges of weights of 8 bits" "$(scores --method kl)" "$(scores --method kl --weight-range max)"
equal "ranges of weights, each row for itself" "$rows" "$(scores --method kl --bits 4 --per-row --weight-range fit)"
[ "$rows" != "$(scores --method kl --bits 4 --per-row --weight-range max)" ] || fail "ranges of rows that fit change nothing"
equal "ranges of rows of 6 bits" "$(scores --method kl --bits 6 --per-row)" \
  "$(scores --method kl --bits 6 --per-row --weight-range max)"
refuses 2 'weight-range goes with the methods learned, max, kl and fit' $GANZ quantize --model float/best.safetensors \
  --method clip --weight-range fit --out no
refuses 2 "weight-range learned goes with the method learned and per-row" $GANZ quantize --model float/best.safetensors \
  --method kl --calibrate /dev/null --weight-range learned --out no
refuses 2 '--per-row takes no value' $GANZ quantize --per-row=true
no_text() { refuses 2 "$1" $GANZ quantize --model float/best.safetensors --out no "${@:2}"; }
no_text 'only the methods learned and clip train' --train corpus --method kl
no_text 'which text' --method kl
no_text 'which text' --method learned
no_text 'clip needs a number, or two like 8:1' --method clip --clip 8:
no_text 'clip must be 0.001 to 1000' --method clip --clip 0
no_text '--report goes with --calibrate' --method clip --report report
no_text '--teacher goes with --train' --calibrate valid.en --teacher float/best.safetensors
no_text '--resume goes with --train' --calibrate valid.en --resume
no_text '--device goes with --train' --calibrate valid.en --device cuda
no_text '--steps-per-phase goes with --train' --calibrate valid.en --steps-per-phase 3
no_text '--rows goes with --train' --method clip --rows 3
no_text '--calibrate-lines goes with --calibrate' --train corpus --calibrate-lines 3
no_text '--clip goes with --method clip' --calibrate valid.en --clip 3
no_text '--clip with two ranges goes with --train' --method clip --clip 3:1
no_text '--phases goes with --method learned' --train corpus --method clip --phases 1-3
no_text '--steps-of goes with --method learned' --train corpus --method clip --steps-of three/best.safetensors
no_text '--dropout goes with --learn-from corpus' --train corpus --dropout 0.2
no_text '--teacher and --learn-from corpus exclude' --train corpus --learn-from corpus --teacher float/best.safetensors
no_text '--valid-source goes with --train' --calibrate valid.en --valid-source valid.en --valid-target valid.de
no_text '--calibrate-target goes with --calibrate' --train corpus --calibrate-target valid.de
refuses 1 'no line to calibrate with' $GANZ quantize --model float/best.safetensors --out no --calibrate /dev/null

# ---- --calibrate beside --train: steps begin as --method kl finds them, in one command; few bits by their recipe
few=(quantize -q --model float/best.safetensors --train corpus --recipe few-bits --bits 4 --steps-per-phase 2 --rows 4
  --measure-batches 1 --validate-every 0)
measured=(--calibrate valid.en --calibrate-lines 10)
losses() { cut -f1,6,12 "$1/log.tsv"; }
$GANZ "${few[@]/-q/--no-quiet}" "${measured[@]}" --out begun 2>err || fail "learning does not begin with a calibration: $(cat err)"
grep -qx 'quantize joint: steps and parameters' err || fail "progress names another phase: $(cat err)"
equal "phases of few bits" "2 8" "$(tail -n +2 begun/log.tsv | cut -f12 | uniq | tr '\n' ' ' | sed 's/ $//')"
$GANZ inspect begun/best.safetensors | grep -q 'of 4 x 4 bits' || fail "other widths: $($GANZ inspect begun/best.safetensors)"
$GANZ quantize -q --model float/best.safetensors --method kl --bits 4 --per-row --bias-bits 8 "${measured[@]}" --out kl4 ||
  fail "no calibration of 4 bits"
$GANZ translate --model kl4 valid.en | cmp - <($GANZ translate --model begun/first.safetensors valid.en) ||
  fail "first.safetensors is not what --method kl gives"
$GANZ "${few[@]}" --steps-of kl4 --out apart || fail "--steps-of fails"
equal "losses in one command and in two" "$(losses apart)" "$(losses begun)"
$GANZ "${few[@]}" --out largest || fail "few bits without a calibration"
[ "$(losses largest)" != "$(losses begun)" ] || fail "steps begin as they would without --calibrate"
cp begun/first.safetensors before
refuses 1 'begun holds a run already' $GANZ "${few[@]}" --calibrate text.en --out begun
cmp before begun/first.safetensors || fail "a refused run has changed the folder of another"
$GANZ "${few[@]}" --calibrate text.en --resume --out begun || fail "a finished run does not go on"
cmp before begun/first.safetensors || fail "a run that goes on begins anew"
no_text 'both say where steps begin' --train corpus --calibrate valid.en --steps-of kl4
no_text '--report goes with --calibrate alone' --train corpus --calibrate valid.en --report report
no_text '--columns goes with --calibrate alone' --train corpus --calibrate valid.en --columns
no_text '--calibrate goes with --method learned' --train corpus --calibrate valid.en --method clip
refuses 2 '--calibrate needs --model' $GANZ quantize --train corpus --calibrate valid.en --resume --out begun
refuses 2 'is for one process' env GANZ_RANK=0 GANZ_RANKS=2 GANZ_MEET=localhost:1 $GANZ "${few[@]}" --calibrate valid.en --out shared
refuses 1 'nothing.en' $GANZ "${few[@]}" --calibrate nothing.en --out none
[ ! -e none ] || fail "a folder is left of a run that did not begin"

# ---- what does not fit is refused before anything is written
$GANZ vocab -q --size 200 --out other text.en || fail "no other vocabulary"
$GANZ prepare -q --vocab other --source text.en --target text.de --out strange >/dev/null
no() { refuses "$1" "$2" $GANZ quantize --out no "${@:3}"; }
no 1 'integer model' --model three/best.safetensors --train corpus
no 1 'vocabulary' --model float/best.safetensors --train strange
no 2 'bits must be 2 to 8, not 9' --model float/best.safetensors --train corpus --bits 9
no 2 'bias-bits is at most 8, or 32 for float, not 9' --model float/best.safetensors --train corpus --bias-bits 9
no 2 'bits must be 2 to 8, not 1' --model float/best.safetensors --train corpus --bits 1
no 2 'phases are numbers from 1 to 6' --model float/best.safetensors --train corpus --phases 0-3
no 1 'phases 2 and 3 are needed' --model float/best.safetensors --train corpus --phases 1,5
no 1 'no GPU|no CUDA' --model float/best.safetensors --train corpus --device cuda
no 1 'has no lines' --model float/best.safetensors --train corpus --valid-source /dev/null --valid-target /dev/null
no 2 'which model' --train corpus
no 2 'which text' --model float/best.safetensors
[ -e no ] && fail "a refused run leaves a folder"

# ---- what another run has left is not taken for this one's
words=(quantize -q --train corpus --steps-per-phase 4 --measure-batches 2 --valid-source valid.en --valid-target valid.de)
$GANZ "${words[@]}" --train nowhere --model float/best.safetensors --calibrate valid.en --bits 8 --out left 2>err &&
  fail "a corpus that is not there"
[ -s left/first.safetensors ] || fail "the first model was not made before the corpus was looked for"
$GANZ "${words[@]}" --model float/best.safetensors --calibrate valid.en --bits 4 --out left --resume || fail "it does not begin"
$GANZ inspect left/first.safetensors | grep -q 'codes of 4 bits' || fail "steps of a run that never began are taken"
mkdir stale && echo model >stale/best.safetensors
refuses 1 'stale/best.safetensors is another run.s: choose another folder' $GANZ train -q --recipe tiny --train corpus \
  --vocab vocab --steps 3 --out stale
equal "what was there" model "$(cat stale/best.safetensors)"
$GANZ train -q --recipe tiny --train corpus --vocab vocab --steps 3 --out stale --resume || fail "a killed run does not begin again"
[ -e stale/best.safetensors ] && fail "a model of steps that are lost passes for the result"
refuses 2 'left was begun without --budget' $GANZ "${words[@]}" --model float/best.safetensors --out left --resume --budget 4

# ---- pictures and tables after a stop at a bad moment
$GANZ "${words[@]}" --model float/best.safetensors --bits 8 --out drawn || fail "no run to draw"
cp drawn/loss.svg picture && echo old >drawn/loss.svg
$GANZ "${words[@]}" --model float/best.safetensors --bits 8 --out drawn --resume || fail "a run that is over does not go on"
cmp picture drawn/loss.svg || fail "the picture stays that of before"

# ---- what would change nothing is refused
$GANZ quantize -q --model float/best.safetensors --calibrate valid.en --columns --out columns8 || fail "no columns"
$GANZ quantize -q --model float/best.safetensors --calibrate valid.en --exceptions '*.ffn.out: product=float' --out float8 ||
  fail "no exceptions"
for model in columns8 float8; do
  refuses 1 "$model lacks steps: products in it are float, or have steps for columns" $GANZ "${words[@]}" \
    --model float/best.safetensors --steps-of $model --out never
done
refuses 2 '.step-rate goes with --step-schedule own' $GANZ "${words[@]}" --model float/last.safetensors --recipe paper \
  --step-rate 0.1 --out never
refuses 1 'exceptions: no product is named logit$' $GANZ "${words[@]}" --model float/best.safetensors \
  --exceptions 'logit: weights=4' --out never
refuses 1 'exceptions: no product is named logit$' $GANZ quantize -q --model float/best.safetensors --calibrate valid.en \
  --exceptions 'logit: weights=4' --out never
refuses 2 '.attention-bits goes with --products all' $GANZ quantize -q --model float/best.safetensors --calibrate valid.en \
  --products dense --attention-bits 4 --out never
for method in clip dynamic; do
  refuses 2 '.calibrate goes with a method that measures' $GANZ quantize -q --model float/best.safetensors --method $method \
    --calibrate valid.en --out never
done
refuses 2 '.report needs steps to report on' $GANZ quantize -q --model float/best.safetensors --method dynamic \
  --calibrate valid.en --report reported --out never
[ -e never ] && fail "what was refused left $(find never)"
[ -e reported ] && fail "a report of what was refused"
for option in "--activation swish" "--norm post" "--start-vector true" "--tables three" "--width 64"; do
  refuses 2 "the network is the model's: ${option%% *} and --model exclude" $GANZ train -q --model float/best.safetensors \
    --train corpus --steps 3 $option --out never
done
exit 0
