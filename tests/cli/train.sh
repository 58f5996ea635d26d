# Training from text to a translation, stopped in every way there is.
small_corpus

ROOT=$PWD
# The same words in every folder, so that models can be compared byte by byte.
words=(train -q --threads 1 --recipe tiny --train "$ROOT/corpus" --vocab "$ROOT/vocab" --out run --steps 40 \
  --save-every 1 --dropout 0.1
  --validate-every 20 --valid-source "$ROOT/valid.en" --valid-target "$ROOT/valid.de")
train() { $GANZ "${words[@]}" "$@"; }
again() { [ -e run/last.safetensors ] && echo --resume; } # the first command is noted in the model

# ---- settings
$GANZ train --recipe tiny --width 48 --time 2m --dump-config >my.yaml || fail "no settings"
grep -qx 'width: 48' my.yaml && grep -qx 'time: 120' my.yaml && grep -qx 'heads: 2' my.yaml || fail "wrong settings"
equal "settings read back" "$(cat my.yaml)" "$($GANZ train --recipe ./my.yaml --dump-config)"
refuses 2 '--width must be 8 to 8192, not 4' $GANZ train --width 4 --dump-config
refuses 2 'unknown option --widht' $GANZ train --widht 4
refuses 2 'cannot be divided among 3 heads' $GANZ train --heads 3 --train corpus --vocab vocab --out no
printf 'width: 64\nheigth: 2\n' >bad.yaml
refuses 1 'bad.yaml:2: no setting is named heigth' $GANZ train --recipe bad.yaml --train corpus --vocab vocab --out no
refuses 2 '--vocab is needed' $GANZ train --train corpus --out no

# ---- a run, and what it leaves
mkdir whole && cd whole || fail "no folder"
train 2>err || fail "training fails: $(cat err)"
[ -s err ] && fail "a quiet run says: $(cat err)"
for file in last.safetensors best.safetensors log.tsv loss.svg; do [ -s run/$file ] || fail "no $file"; done
equal "lines of the log" 7 "$(wc -l <run/log.tsv)"
documented run/log.tsv
if command -v python3 >/dev/null; then # a picture of several runs is of Python; a log is never taken for it
  plot="$HERE/../../tools/plot_runs.py"
  python3 "$plot" --y loss out.svg run/log.tsv run/log.tsv || fail "no picture of two runs"
  equal "lines of the picture" 2 "$(grep -c '<polyline' out.svg)"
  cp run/log.tsv before
  python3 "$plot" run/log.tsv run/log.tsv 2>err
  equal "a log in place of the picture" 2 $?
  grep -q 'ends in .svg, not run/log.tsv' err || fail "says: $(cat err)"
  cmp before run/log.tsv || fail "a log was overwritten with a picture"
  refuses 1 'cannot read nowhere' python3 "$plot" out.svg nowhere
fi
head -n 4 ../text.en | $GANZ translate --model run/best.safetensors >out || fail "cannot translate with the best model"
equal "lines translated" 4 "$(wc -l <out)"
head -n 4 ../text.en | $GANZ translate --model run/last.safetensors >out || fail "cannot translate with a checkpoint"
refuses 1 'run holds a run already' train
cd ..
$GANZ train --recipe tiny --slots 16 --train corpus --vocab vocab --out told --steps 3 2>err ||
  fail "a run that talks fails"
grep \
  -qE '^train [0-9]+ parameters on cpu, [0-9]+ steps an epoch, [1-9][0-9]* pairs longer than 16 tokens left out$' err ||
    fail "it says: $(cat err)"
grep -qx 'the model is in told/last.safetensors' err || fail "it says: $(cat err)"
$GANZ train --recipe tiny --train corpus --vocab vocab --out told --resume --slots 16 --steps 5 2>err ||
  fail "a run that talks does not go on"
grep -q ', from step 3$' err || fail "it says: $(cat err)"
grep -qP '^3\t.*\tsteps 5 \(before: 3\)' told/log.tsv || fail "the log does not tell of changes: $(cat told/log.tsv)"

$GANZ train --recipe tiny --train corpus --vocab vocab --out by-loss --steps 3 --bleu-sentences 0 \
  --valid-source valid.en \
  --valid-target valid.de 2>err || fail "a run without BLEU fails"
grep -qE '^best at step 3: validation loss [0-9.]+ \(by-loss/best.safetensors\)$' err ||
  fail "without BLEU it says: $(cat err)"

# ---- checkpoints that are older than a setting
sed -i 's/"recipe.learn-from"/"recipe.learn-none"/' told/last.safetensors
refuses 1 'last.safetensors: the header is damaged' $GANZ train -q --train corpus --vocab vocab --out told --resume \
  --steps 6
sed -i 's/"xxh3":/"none":/; s/"header_checksum":/"header_unsummed":/' told/last.safetensors
$GANZ train -q --train corpus --vocab vocab --out told --resume --steps 6 || fail "an older checkpoint does not go on"

# ---- languages are noted for good, unless others are given
spoken() { $GANZ inspect --json "$1" | grep -oE '"(source|target)_language":"[a-z]*"' | sed 's/.*:"//; s/"//' |
  tr '\n' ' '; }
speaks() { $GANZ train -q --recipe tiny --train corpus --vocab vocab --out spoken "$@" || fail "$* fails"; }
speaks --steps 2 --source-language en --target-language de
speaks --steps 4 --resume
equal "languages of a resumed run" "en de " "$(spoken spoken/last.safetensors)"
speaks --steps 6 --resume --source-language fr
equal "languages of a corrected run" "fr de " "$(spoken spoken/last.safetensors)"

# ---- what does not fit is refused before anything is written
$GANZ vocab -q --size 200 --out other text.en || fail "no other vocabulary"
refuses 1 'corpus.*vocabulary' $GANZ train --recipe tiny --train corpus --vocab other --out no
refuses 1 'text.en' $GANZ train --recipe tiny --train text.en --vocab vocab --out no
sed 's/"pairs":"[0-9]/"pairs":"0/' corpus >turned
refuses 1 'turned: the header is damaged' $GANZ train --recipe tiny --train turned --vocab vocab --out no
refuses 1 'valid.de has only 20 lines' $GANZ train --recipe tiny --train corpus --vocab vocab --out no \
  --valid-source text.en --valid-target valid.de
refuses 1 'no GPU|no CUDA' $GANZ train --recipe tiny --train corpus --vocab vocab --out no --device cuda
refuses 1 'patience counts validations and needs a text for them' $GANZ train --recipe tiny --cooldown 0 --steps 0 \
  --patience 2 --train corpus --vocab vocab --out no
refuses 1 'patience counts validations and needs a text for them' $GANZ train --recipe tiny --steps 2 --patience 2 \
  --train corpus --vocab vocab --out no
refuses 2 'save-every 50 is beyond the 20 steps' $GANZ train --recipe tiny --average-last 2 --steps 20 --train corpus \
  --vocab vocab --out no
refuses 2 'average of the last checkpoints needs some: save-every' $GANZ train --recipe tiny --average-last 2 \
  --save-every 0 --train corpus --vocab vocab --out no
idle() { refuses 2 "$1: here it would change nothing" $GANZ train --recipe tiny --train corpus --vocab vocab --out no \
  "${@:2}"; }
idle '--adam-beta1 goes with --optimizer adam' --optimizer adafactor --adam-beta1 0.5
idle '--rows goes with --batch packed' --batch sentences --rows 3
idle '--zero-start goes with --batch packed' --batch sentences --zero-start true
idle '--batch-tokens goes with --batch sentences' --batch-tokens 300
idle '--beam goes with --valid-source' --beam 2
idle '--label-smoothing goes with --learn-from corpus' --teacher whole/run/best.safetensors --label-smoothing 0.2
refuses 1 'train: cannot make the folder no/where: No such file' $GANZ train -q --recipe tiny --train corpus \
  --vocab vocab --out no/where
[ -e no ] && fail "a refused run leaves a folder"
cd whole && refuses 1 'was made with ffn 64, not 128' train --resume --ffn 128
$GANZ prepare -q --vocab ../other --source ../text.en --target ../text.de --out ../strange >/dev/null
refuses 1 'vocabulary' $GANZ train -q --resume --out run --train ../strange --vocab ../other
cd ..

# ---- a model goes on with other text
$GANZ inspect --vocab whole/run/best.safetensors >within || fail "no vocabulary in a model"
cmp within vocab || fail "a model's vocabulary is another one"
tune() { $GANZ train -q --threads 1 --model whole/run/last.safetensors --train corpus --valid-source valid.en \
  --valid-target valid.de "$@"; }
tune --out tuned --steps 20 --learning-rate 0.2 --cooldown 1 || fail "a model does not go on"
loss() { awk -F'\t' -v at="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "valid_loss") column = i }
  NR > 1 && $column != "" { value[++n] = $column } END { print at == "last" ? value[n] : value[1] }' "$2"; }
awk -v a="$(loss last whole/run/log.tsv)" -v b="$(loss last tuned/log.tsv)" 'BEGIN { exit !(b > 0 && b < a) }' ||
  fail "tuning does not lower the loss: $(loss last whole/run/log.tsv), then $(loss last tuned/log.tsv)"
$GANZ inspect --json tuned/best.safetensors | grep -q '"width":32,.*"encoder_layers":1,' ||
  fail "it has another shape: $($GANZ inspect --json tuned/best.safetensors | head -n 1)"
(tune --out halves --steps 10 --cooldown 0 && tune --out halves --resume --steps 20 --cooldown 0) ||
  fail "a tuned model is not resumed"
tune --out flat --steps 20 --cooldown 0 || fail "a model does not go on at a flat rate"
# the tensors behind the header: scores of float models may differ in their last digit with the batch
weights() { tail -c +$(($(od -An -tu8 -N8 "$1") + 9)) "$1" | sha256sum; }
equal "tuning in two parts" "$(weights flat/last.safetensors)" "$(weights halves/last.safetensors)"
refuses 2 '--vocab and --model exclude each other' tune --vocab vocab --out no
refuses 2 '--width and --model exclude each other' tune --width 64 --out no
refuses 1 'strange was made with a vocabulary' $GANZ train --model whole/run/best.safetensors --train strange --out no

# ---- a model teaches; later its pupil learns as any other model does
setting() { grep -aom1 "\"recipe.$1\":\"[^\"]*" "$2" | sed 's/.*"//'; }
taught() { $GANZ train -q --threads 1 --recipe tiny --train corpus --vocab vocab --steps 10 "$@"; }
taught --teacher whole/run/best.safetensors --width 16 --out pupil || fail "nothing is learned from a teacher"
equal "who taught" model "$(setting learn-from pupil/last.safetensors)"
taught --teacher whole/run/best.safetensors pupil/last.safetensors --width 16 --out grandchild ||
  fail "nothing is learned from two teachers"
for command in 'train --steps 2' 'quantize --steps-per-phase 1'; do
  from=$([ "${command%% *}" = train ] && echo corpus || echo model)
  $GANZ $command -q --model pupil/last.safetensors --train corpus --out "after-${command%% *}" ||
    fail "a pupil does not go on"
  equal "who teaches a pupil" $from "$(setting learn-from "after-${command%% *}/last.safetensors")"
done
refuses 2 '--teacher and --learn-from corpus exclude each other' taught --teacher whole/run/best.safetensors \
  --learn-from corpus --out no
refuses 2 'which model to learn from. give --teacher' taught --learn-from model --out no
refuses 2 'which model to learn from. give --teacher' taught --resume --out pupil
refuses 1 'cannot teach: it has another vocabulary' $GANZ train -q --recipe tiny --train strange --vocab other \
  --steps 2 \
  --teacher whole/run/best.safetensors --out no
head -n 20 text.en >some
$GANZ quantize -q --model whole/run/best.safetensors --calibrate some --out whole.int || fail "no integer model"
refuses 1 'an integer model, where a float one is needed' $GANZ train --model whole.int --train corpus --out no
[ -e no ] && fail "a refused run leaves a folder"

# ---- SIGTERM saves and ends; what comes out in the end is the same
mkdir stopped && cd stopped || fail "no folder"
$GANZ "${words[@]}" 2>err &
pid=$!
until [ -s run/last.safetensors ]; do kill -0 $pid 2>/dev/null || break; sleep 0.01; done
kill -TERM $pid 2>/dev/null
wait $pid
code=$?
[ $code = 143 ] || [ $code = 0 ] || fail "SIGTERM ends with $code: $(cat err)"
[ $code = 0 ] || grep -q 'stopped at step' err || fail "says: $(cat err)"
train $(again) || fail "a stopped run does not go on"
for file in best last; do cmp run/$file.safetensors ../whole/run/$file.safetensors ||
  fail "a stopped run ends otherwise"; done
cd ..

# ---- SIGKILL at twenty moments: there is always a whole checkpoint, or none yet
# Most kills wait until this start has saved, so that slow machines get on too; the others come while it starts.
(mkdir long && cd long && train --steps 120) || fail "a longer run fails"
mkdir killed && cd killed || fail "no folder"
inode() { stat -c %i run/last.safetensors 2>/dev/null; } # another one for each checkpoint
kills=0
for i in $(seq 20); do
  before=$(inode)
  $GANZ "${words[@]}" --steps 120 $(again) 2>err &
  pid=$!
  if [ $((i % 4)) = 0 ]; then
    sleep "0.0$((RANDOM % 4))$((RANDOM % 10))"
  else
    while [ "$(inode)" = "$before" ] && kill -0 $pid 2>/dev/null; do :; done
    sleep "0.00$((RANDOM % 10))"
  fi
  kill -KILL $pid 2>/dev/null && kills=$((kills + 1))
  wait $pid 2>/dev/null
  [ -s err ] && fail "after a kill it says: $(cat err)"
done
[ $kills -ge 5 ] || fail "it could be killed $kills times only"
train --steps 120 $(again) || fail "a killed run does not go on"
for file in best last; do cmp run/$file.safetensors ../long/run/$file.safetensors ||
  fail "a killed run ends otherwise"; done
ls run | grep -q tmp && fail "a killed run leaves $(ls run)"
cd ..

# ---- SIGUSR1 saves and goes on
mkdir asked && cd asked || fail "no folder"
$GANZ "${words[@]}" --steps 1000000 --save-every 0 2>err &
pid=$!
until [ -s run/log.tsv ]; do kill -0 $pid 2>/dev/null || fail "ends: $(cat err)"; sleep 0.01; done
until [ -s run/last.safetensors ]; do kill -USR1 $pid 2>/dev/null ||
  fail "SIGUSR1 ends it: $(cat err)"; sleep 0.02; done
kill -0 $pid || fail "does not go on after SIGUSR1"
refuses 1 'run/log.tsv is in use by another run' train --resume --steps 1000000 --save-every 0
kill -0 $pid || fail "a second run ends the first"
kill -INT $pid
wait $pid
equal "exit code after SIGINT" 130 $?
cd ..

# ---- a terminal that goes away saves and ends it too, unless it was told to outlive that
mkdir hung && cd hung || fail "no folder"
$GANZ "${words[@]}" --steps 1000000 --save-every 0 2>err &
pid=$!
until [ -s run/log.tsv ]; do kill -0 $pid 2>/dev/null || fail "ends: $(cat err)"; sleep 0.01; done
kill -HUP $pid
wait $pid
equal "exit code after SIGHUP" 129 $?
[ -s run/last.safetensors ] || fail "SIGHUP saves nothing"
(trap '' HUP; exec $GANZ "${words[@]}" --resume --steps 1000000 --save-every 0) 2>err &
pid=$!
sleep 0.3
kill -HUP $pid
sleep 0.2
kill -TERM $pid || fail "it does not outlive its terminal: $(cat err)"
wait $pid
equal "exit code after SIGTERM" 143 $?
cd ..

# ---- a full disk
if mkdir full && mount -t tmpfs -o size=3m none full 2>/dev/null; then
  train_there() { (cd full && train "$@"); }
  train_there --steps 10 2>err || { umount full; fail "no run on a small disk: $(cat err)"; }
  cp full/run/last.safetensors before
  dd if=/dev/zero of=full/fill bs=1k count=4096 2>/dev/null
  (refuses 1 'run/.*No space left.*the last good state is in' train_there --resume --steps 20)
  code=$?
  cmp full/run/last.safetensors before || code=1
  umount full
  [ $code = 0 ] || fail "a full disk"
else
  echo "not tested: a full disk (no right to mount one)"
fi

# ---- averages
$GANZ train --recipe tiny --steps 2 --average-decay 0.9 --train corpus --vocab vocab --out unseen 2>err ||
  fail "no running average"
grep -qx 'the model is in unseen/average.safetensors' err && [ -s unseen/average.safetensors ] ||
  fail "where is the average: $(cat err)"
(mkdir mean && cd mean && train --average-last 2 --save-every 10 --average-decay 0.9) || fail "no averages"
[ -s mean/run/average.safetensors ] && [ -s mean/run/model-30.safetensors ] && [ -s mean/run/model-40.safetensors ] ||
  fail "no average"
[ -e mean/run/model-20.safetensors ] && fail "an old model is kept"
$GANZ average --out mean.safetensors mean/run/model-*.safetensors || fail "cannot average"
for file in mean/run/average.safetensors mean.safetensors; do # what quantization goes by
  equal "settings noted in $file" "adam 40" "$(setting optimizer $file) $(setting steps $file)"
  grep -aqo '"trained_steps":"[34]0"' $file || fail "$file does not tell how long it was trained"
done
grep -aqo '"trained_steps":"40"' mean/run/average.safetensors || fail "an average is not of its newest model's age"
$GANZ quantize -q --model mean/run/average.safetensors --train corpus --out mean/int --steps-per-phase 1 \
  --save-every 0 ||
  fail "settings of averages keep a model from being quantized"
head -n 1 text.en | $GANZ translate --model mean.safetensors >out || fail "cannot translate with an average"
refuses 1 'different shapes' $GANZ average --out no mean.safetensors $(cd whole &&
  $GANZ train -q --recipe tiny --width 64 --train ../corpus --vocab ../vocab --out wide --steps 1 &&
    echo whole/wide/last.safetensors)

# ---- speed
$GANZ bench train --recipe tiny --vocab-size 200 --steps 2 --warm 1 >out || fail "bench fails"
mkdir temporary
TMPDIR=temporary timeout 2 $GANZ bench train --recipe tiny --vocab-size 200 --rows 1 --steps 5000 >/dev/null
equal "what a stopped bench leaves" "" "$(ls temporary)"
grep -q '^target tokens/s *[1-9]' out || fail "bench says: $(cat out)"
refuses 2 'nothing named fly' $GANZ bench fly
refuses 2 'unknown option --patience' $GANZ bench train --recipe tiny --patience 3
refuses 2 '--vocab-size and --train exclude each other' $GANZ bench train --recipe tiny --vocab-size 200 --train corpus
exit 0
