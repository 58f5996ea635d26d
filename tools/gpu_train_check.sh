#!/bin/bash
# gpu_train_check.sh: checks training on a GPU with the program alone, in about a minute, on text it makes itself.
#   GANZ=PROGRAM     the program (default: build/release/cli/ganz)
#   DEVICE=cuda      or cpu, to check this script
#   GOLDEN=PROGRAM   test_golden (default: beside GANZ, in ../tests); without it that one check is left out
#   OUT=DIR          where logs and runs are left (default: a temporary folder, removed)
# One line for each check; ends with 1 when one failed. Nothing but bash, awk and the coreutils is needed.
set -u
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 0 0 "$@"
here=$(cd "$(dirname "$0")/.." && pwd)
GANZ=$(readlink -f "${GANZ:-$here/build/release/cli/ganz}")
DEVICE=${DEVICE:-cuda}
GOLDEN=$(readlink -f "${GOLDEN:-$(dirname "$GANZ")/../tests/test_golden}")
work=${OUT:-$(mktemp -d)}
work=$work/train_check
[ -n "${OUT:-}" ] || trap 'rm -rf "$(dirname "$work")"' EXIT
mkdir -p "$work" && cd "$work" || exit 1
[ -x "$GANZ" ] || { echo "gpu_train_check: no program at $GANZ"; exit 1; }

failures=0 began=$SECONDS
report() { # report STATUS WHAT...
  local status=$1
  shift
  if [ "$status" = 0 ]; then echo "ok      $*"; else echo "FAILED  $*"; failures=$((failures + 1)); fi
}

# ---- a language of forty words, translated by reading it backwards -------------------------------
make_text() { # make_text SEED LINES NAME
  awk -v seed="$1" -v lines="$2" -v name="$3" 'BEGIN {
    srand(seed)
    split("b d f g k l m n", first, " "); split("a e i o u", last, " ")
    for (line = 0; line < lines; line++) {
      n = 3 + int(6 * rand()); forward = backward = ""
      for (i = 0; i < n; i++) {
        word = first[1 + int(8 * rand())] last[1 + int(5 * rand())]
        forward = forward (i ? " " : "") word; backward = word (i ? " " : "") backward
      }
      print forward >(name ".src"); print backward >(name ".tgt")
    }
  }'
}
make_text 1 20000 train
make_text 2 300 valid
$GANZ vocab -q --size 120 --out vocab train.src train.tgt &&
  $GANZ prepare -q --vocab vocab --source train.src --target train.tgt --out corpus >/dev/null
report $? "text, vocabulary, corpus"

ROOT=$work
common=(train -q --recipe tiny --device "$DEVICE" --threads 2 --train "$ROOT/corpus" --vocab "$ROOT/vocab" --out run)

# ---- equal runs, stopped and killed ones -----------------------------------------------------------
# All words are the same in every folder, because the command is noted in the model. Heads of 64 take the fast
# attention.
words=("${common[@]}" --width 128 --ffn 256 --heads 2 --rows 16 --slots 64 --optimizer adafactor --dropout 0.1
  --dropout-relu 0.1 --dropout-attention 0.1 --label-smoothing 0.1 --average-decay 0.99 --steps "${STEPS:-600}"
  --log-every 20 --save-every 20 --validate-every 200 --bleu-sentences 50
  --valid-source "$ROOT/valid.src" --valid-target "$ROOT/valid.tgt")
again() { [ -e run/last.safetensors ] && echo --resume; }
same_run() { # same_run FOLDER: its files are those of the run that was left alone, and so is its log but for the clock
  local file
  for file in last best average; do cmp "whole/run/$file.safetensors" "$1/run/$file.safetensors" || return 1; done
  cmp <(cut -f1-3,5-7,9- whole/run/log.tsv) <(cut -f1-3,5-7,9- "$1/run/log.tsv")
}

mkdir -p whole equal stopped killed
(cd whole && $GANZ "${words[@]}") && (cd equal && $GANZ "${words[@]}")
report $? "two runs of ${STEPS:-600} steps"
same_run equal
report $? "equal runs have equal bytes"

cd stopped || exit 1
$GANZ "${words[@]}" 2>err &
pid=$!
until [ "$(cat run/log.tsv 2>/dev/null | wc -l)" -ge 5 ]; do kill -0 $pid 2>/dev/null || break; sleep 0.02; done
kill -TERM $pid 2>/dev/null
wait $pid
code=$? said=$(cat err)
$GANZ "${words[@]}" --resume
resumed=$?
cd ..
[ $code = 143 ] && [ $resumed = 0 ] && same_run stopped
report $? "a run stopped by SIGTERM ($said) and resumed has the same bytes"

cd killed || exit 1
kills=0 bad=""
for _ in $(seq 20); do
  lines=$(cat run/log.tsv 2>/dev/null | wc -l)
  $GANZ "${words[@]}" $(again) 2>err &
  pid=$!
  # from when it has got on, a moment of up to 0.2 s
  until [ "$(cat run/log.tsv 2>/dev/null | wc -l)" -gt "$lines" ]; do kill -0 $pid 2>/dev/null ||
    break; sleep 0.01; done
  sleep "0.$((RANDOM % 2))$((RANDOM % 10))"
  kill -KILL $pid 2>/dev/null && kills=$((kills + 1))
  wait $pid 2>/dev/null
  [ -s err ] && bad=$(cat err)
  [ $kills = 5 ] && break
done
$GANZ "${words[@]}" $(again) || bad="it does not go on"
cd ..
[ -z "$bad" ] && same_run killed
report $? "a run killed $kills times and resumed has the same bytes${bad:+: $bad}"

# ---- losses: against the CPU and against PyTorch ----------------------------------------------------
losses() { # losses FOLDER DEVICE: ten of them
  (mkdir -p "$1" && cd "$1" &&
    $GANZ "${common[@]}" --device "$2" --precision fp32 --width 128 --ffn 256 --heads 2 --rows 16 \
      --optimizer adafactor \
      --warmup 0 --label-smoothing 0.1 --steps 10 --log-every 1 && tail -n 10 run/log.tsv | cut -f6)
}
losses ten "$DEVICE" >ten.device && losses ten_cpu cpu >ten.cpu
worst=$(paste ten.device ten.cpu | awk \
  'NF == 2 {d = ($1 - $2) / $2; if (d < 0) d = -d; if (d > worst) worst = d; n++} END {print n == 10 ? worst + 0 : 1}')
awk -v d="$worst" 'BEGIN {exit !(d <= 1e-4)}'
report $? "ten losses in fp32 and those of the CPU differ by $worst of their value at most (1e-4 allowed)"

precisions="fp32 tf32 bf16"
[ "$DEVICE" = cpu ] && precisions=fp32
if [ -x "$GOLDEN" ]; then
  for precision in $precisions; do
    "$GOLDEN" "$DEVICE" $precision "$here/tests/golden" >golden.$precision
    report $? "ten losses of PyTorch, $(tail -n 1 golden.$precision)"
  done
else
  echo "-       ten losses of PyTorch: no test_golden here"
fi

# ---- it learns ---------------------------------------------------------------------------------------
right() { # right FILE: share of the words of valid.tgt that stand in their places
  paste -d'|' "$1" valid.tgt | awk -F'|' '{n = split($2, want, " "); m = split($1, got, " "); all += n
    for (i = 1; i <= n; i++) good += i <= m && got[i] == want[i]} END {printf "%.4f", all ? good / all : 0}'
}
for precision in $precisions; do
  mkdir -p "learn_$precision"
  (cd "learn_$precision" && $GANZ "${common[@]}" --precision $precision --width 128 --ffn 256 --heads 2 --rows 32 \
    --steps 1200 \
    --save-every 0) &&
    $GANZ translate -q --scores --device "$DEVICE" --precision $precision --model \
      "learn_$precision/run/last.safetensors" valid.src | cut -f2- >learned.$precision
  share=$(right learned.$precision)
  awk -v s="$share" 'BEGIN {exit !(s > 0.99)}'
  report $? "reversing sentences, trained and translated in $precision: $share of the words right"
done

# ---- translation: the device against the CPU -------------------------------------------------------
$GANZ translate -q --scores --model whole/run/last.safetensors valid.src | cut -f2- >lines.cpu
for precision in $precisions; do
  $GANZ translate -q --scores --device "$DEVICE" --precision $precision --model whole/run/last.safetensors valid.src \
    >scored.$precision
  cut -f2- scored.$precision >lines.$precision
  differ=$(diff --suppress-common-lines -y lines.cpu lines.$precision | wc -l)
  most=3
  [ $precision = tf32 ] && most=15
  [ $precision = bf16 ] && most=60
  [ "$(wc -l <lines.$precision)" = 300 ] && [ "$differ" -le $most ]
  report $? "translations in $precision: $differ of 300 lines differ from the CPU's ($most allowed)"
done

# ---- speed -------------------------------------------------------------------------------------------
recipes="base small"
size=(--steps 40 --warm 10)
[ "$DEVICE" = cpu ] && recipes=tiny size=(--steps 3 --warm 1 --vocab-size 500)
speed() { grep '^target tokens/s' "$1" | awk '{print $3}'; }
for recipe in $recipes; do
  for phase in 0 5; do
    $GANZ bench train --recipe $recipe --device "$DEVICE" --phase $phase "${size[@]}" >bench.$recipe.$phase 2>&1
    report $? "bench $recipe, phase $phase: $(speed bench.$recipe.$phase) target tokens/s"
  done
  awk -v a="$(speed bench.$recipe.0)" -v b="$(speed bench.$recipe.5)" \
    'BEGIN {if (a > 0 && b > 0) printf "        a fake-quantized step takes %.2f times the time of a float one\n", a / b}'
done

echo "gpu_train_check: $failures failed, $((SECONDS - began)) s on $DEVICE"
[ $failures = 0 ]
