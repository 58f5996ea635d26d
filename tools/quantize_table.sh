#!/bin/bash
# quantize_table.sh MODEL CORPUS VALID_SRC VALID_REF TEST_SRC TEST_REF OUT: one float model through every method of
# ganz quantize, translated by the engine and scored: OUT/table.tsv and OUT/table.md. Started again, it goes on where it
# stopped. Settings, by the environment:
#   GANZ=ganz        the program
#   BITS="8 6"       widths to try
#   DEVICE=cpu       where to learn (cpu, cuda)
#   THREADS=0        of translation and of the CPU; 0: all
#   LEARN=""         more options of learning, e.g. "--steps-per-phase 500 --validate-every 250"
#   METHODS="max kl kl-dense clip clip-tuned dynamic learned power-of-two"   what to compare
#   POWER_BITS=8     widths for power-of-two
#   LINES=600        of the validation text for calibration
#   BEAM=4           of translation
#   TOK=13a          how BLEU finds words (13a, intl, t2t)
#   BOOTSTRAP=1000   resamples of the comparison with the float model
set -eu
[ $# = 7 ] || { sed -n '2,17p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 2; }
MODEL=$1 CORPUS=$2 VALID_SRC=$3 VALID_REF=$4 TEST_SRC=$5 TEST_REF=$6 OUT=$7
GANZ=${GANZ:-ganz} BITS=${BITS:-8 6} DEVICE=${DEVICE:-cpu} THREADS=${THREADS:-0} LEARN=${LEARN:-} LINES=${LINES:-600}
METHODS=${METHODS:-max kl kl-dense clip clip-tuned dynamic learned power-of-two} POWER_BITS=${POWER_BITS:-8}
BEAM=${BEAM:-4} TOK=${TOK:-13a} BOOTSTRAP=${BOOTSTRAP:-1000}
mkdir -p "$OUT"

say() { echo "quantize_table: $*" >&2; }

# calibrated NAME OPTIONS...: a model without learning
calibrated() {
  local name=$1
  shift
  [ -s "$OUT/$name.safetensors" ] && return
  say "$name"
  $GANZ quantize -q --model "$MODEL" --out "$OUT/$name.safetensors" --threads "$THREADS" "$@"
}

# learned NAME OPTIONS...: a run that learns; its model is a link, so that all names look alike
learned() {
  local name=$1
  shift
  [ -e "$OUT/$name.done" ] || {
    say "$name"
    # shellcheck disable=SC2086 # LEARN is a list of words
    $GANZ quantize --resume --model "$MODEL" --train "$CORPUS" --valid-source "$VALID_SRC" --valid-target "$VALID_REF" \
      --out "$OUT/$name" --device "$DEVICE" --threads "$THREADS" "$@" $LEARN 2> >(tee -a "$OUT/$name.log" >&2)
    touch "$OUT/$name.done"
  }
  ln -sfn "$name/best.safetensors" "$OUT/$name.safetensors"
}

# scored NAME LABEL BITS: translates the test and adds a line to the table
scored() {
  local name=$1 label=$2 bits=$3 cased uncased model=$OUT/$1.safetensors products
  [ "$name" = float ] && model=$MODEL
  [ -s "$OUT/$name.hyp" ] || {
    say "translating with $name"
    $GANZ translate --model "$model" --beam "$BEAM" --threads "$THREADS" "$TEST_SRC" >"$OUT/$name.part"
    mv "$OUT/$name.part" "$OUT/$name.hyp"
  }
  products=$($GANZ inspect --json "$model" | tr ',{}' '\n\n\n' | sed -n 's/^ *"integer_products": *//p' | head -n 1)
  [[ $name == dynamic* ]] && products="$DENSE (emulated)"
  cased=$(compare "$name") uncased=$(compare "$name" --lowercase)
  printf '%s\t%s\t%s\t%s\t%s\n' "$label" "$bits" "$products" "$cased" "$uncased" >>"$OUT/table.part"
}

# compare NAME OPTIONS...: BLEU, percent of the float model's, and p
compare() {
  local name=$1 json score float
  shift
  if [ "$name" = float ]; then
    json=$($GANZ score --ref "$TEST_REF" --hyp "$OUT/float.hyp" --tok "$TOK" --json "$@")
    score=$(sed -n 's/.*"score": \([0-9.eE+-]*\).*/\1/p' <<<"$json" | head -n 1)
    awk -v s="$score" 'BEGIN { printf "%.2f\t100.0\t", s }'
    return
  fi
  json=$($GANZ score --ref "$TEST_REF" --hyp "$OUT/float.hyp" "$OUT/$name.hyp" --tok "$TOK" --bootstrap "$BOOTSTRAP" --json "$@")
  float=$(grep -o '"score": [0-9.eE+-]*' <<<"$json" | sed -n '1s/.* //p')
  score=$(grep -o '"score": [0-9.eE+-]*' <<<"$json" | sed -n '2s/.* //p')
  awk -v s="$score" -v f="$float" -v p="$(grep -o '"p_value": [0-9.eE+-]*' <<<"$json" | sed -n '1s/.* //p')" \
    'BEGIN { printf "%.2f\t%.1f\t%.3f", s, (f > 0 ? 100 * s / f : 0), p }'
}

DENSE=$($GANZ inspect --json "$MODEL" | grep -o '"kind": *"dense"' | wc -l)
printf 'model\tbits\tinteger products\tBLEU\t%% of float\tp\tBLEU uncased\t%% of float\tp\n' >"$OUT/table.part"
scored float "float" 32
for bits in $BITS; do
  for method in $METHODS; do
    name=$method-$bits
    case $method in
    max | kl) calibrated $name --method $method --bits $bits --calibrate "$VALID_SRC" --calibrate-lines "$LINES" ;;
    kl-dense) calibrated $name --method kl --products dense --bits $bits --calibrate "$VALID_SRC" --calibrate-lines "$LINES" ;;
    clip | dynamic) calibrated $name --method $method --bits $bits ;;
    clip-tuned) learned $name --method clip --bits $bits ;;
    learned)
      learned $name --bits $bits
      ln -sfn $name/phase-3.safetensors "$OUT/phase-3-$bits.safetensors"
      scored phase-3-$bits "learned, after phase 3" $bits
      ;;
    power-of-two)
      [[ " $POWER_BITS " == *" $bits "* ]] || continue
      learned $name --bits $bits --power-of-two
      ;;
    *) say "no method named $method"; exit 2 ;;
    esac
    scored $name "$([ $method = learned ] && echo 'learned, after phase 6' || echo $method)" $bits
  done
done
mv "$OUT/table.part" "$OUT/table.tsv"
awk -F'\t' '{ gsub(/\t/, " | "); print "| " $0 " |" } NR == 1 { print "|---|---|---|---|---|---|---|---|---|" }' "$OUT/table.tsv" >"$OUT/table.md"
cat "$OUT/table.md"
