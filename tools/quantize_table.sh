#!/bin/bash
# quantize_table.sh MODEL CORPUS TEXTS OUT: one float model through every method of ganz quantize, translated by the
# integer engine and scored. Started again, it goes on where it stopped; several may work on one OUT, with other
# METHODS.
#   TEXTS  a folder with VALID.en, VALID.de, TEST.en and TEST.de
#   OUT    the models, their runs (logs, reports, plots), NAME.SET.hyp, table.tsv (all scores) and table.md (to read)
# Settings, by the environment:
#   GANZ=ganz        the program
#   BITS="8 6"       widths to try
#   METHODS="max kl kl-dense clip clip-tuned dynamic learned learned-power-of-two learned-per-row"   what to compare
#                    (also max-per-row, kl-per-row, and learned with any of: -from-corpus, -from-kl: begun with its steps,
#                    -per-row, -power-of-two, -taught: by TEACHERS; kl-max-weights, and -max-weights after learned:
#                    weights reach to their largest number, as in the paper, also with fewer than 8 bits)
#   ONCE="dynamic clip-tuned learned-power-of-two learned-per-row"   methods for the first width alone
#   PHASE_3="learned"   methods with a line of their own after phase 3
#   LEARN=""         more options of learning, e.g. "--steps-per-phase 500 --validate-every 250"
#   LEARN_8="" LEARN_6="" LEARN_TAUGHT=""   those for one width, and for learning from TEACHERS
#   TEACHERS=""      float models
#   DEVICE=cpu       where to learn and where the float model translates (cpu, cuda)
#   THREADS=0        of translation and of the CPU; 0: all
#   VALID=newstest2013 TEST=newstest2014 SOURCE=en TARGET=de   names of the texts
#   LINES=600        of the validation text for calibration
#   BEAM=4           of translation
#   BOOTSTRAP=1000   resamples of the comparison with the float model
#   STEPS="make score"   make: models and translations; translate: what make left; score: the tables
#   DETACH=""        not empty: make ends before its translations do
#   LOCK=OUT/.lock   one translation at a time of all that share it (OUT/.lock-NAME: one process makes a model)
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 4 4 "$@"
MODEL=$1 CORPUS=$2 TEXTS=$3 OUT=$4
GANZ=${GANZ:-ganz} BITS=${BITS:-8 6} DEVICE=${DEVICE:-cpu} THREADS=${THREADS:-0} LEARN=${LEARN:-} LINES=${LINES:-600}
METHODS=${METHODS:-max kl kl-dense clip clip-tuned dynamic learned learned-power-of-two learned-per-row}
ONCE=${ONCE:-dynamic clip-tuned learned-power-of-two learned-per-row} PHASE_3=${PHASE_3:-learned} TEACHERS=${TEACHERS:-}
DETACH=${DETACH:-} LOCK=${LOCK:-$OUT/.lock}
VALID=${VALID:-newstest2013} TEST=${TEST:-newstest2014} SOURCE=${SOURCE:-en} TARGET=${TARGET:-de}
BEAM=${BEAM:-4} BOOTSTRAP=${BOOTSTRAP:-1000} STEPS=${STEPS:-make score}
mkdir -p "$OUT"

say() { printf 'quantize_table: %s (%d s)\n' "$*" $SECONDS >&2; }

# translated NAME OPTIONS...: both texts with OUT/NAME.safetensors
translated() {
  local name=$1 set
  shift
  for set in "$VALID" "$TEST"; do
    [ -s "$OUT/$name.$set.hyp" ] && continue
    nice $GANZ translate -q --format lines --model "$OUT/$name.safetensors" --beam "$BEAM" --threads "$THREADS" "$@" -o \
      "$OUT/$name.$set.hyp" \
      "$TEXTS/$set.$SOURCE"
    say "translated $set with $name"
  done
}

# in_turn NAME: translated, but one model at a time; the float model where it was trained, beside them
in_turn() {
  if [ "$1" = float ] && [ "$DEVICE" != cpu ]; then (flock 9 &&
    translated float --device "$DEVICE") 9>"$OUT/.lock-float"
  else (flock 9 && translated "$1") 9>"$LOCK"; fi
}

# listed NAME LABEL BITS: notes a model for the table and translates with it while the next one is made
listed() {
  local name=$1
  printf '%s\t%s\t%s\t%s\n' "$name" "$2" "$3" "$($GANZ inspect --json "$OUT/$name.safetensors" |
    sed -n 's/.*"integer_products": *\([0-9]*\).*/\1/p' | head -n 1)" >"$OUT/$name.row"
  in_turn "$name" &
}

# calibrated NAME OPTIONS...: a model without learning; who wants one that another is making waits for it
calibrated() {
  local name=$1
  shift
  [ ! -s "$OUT/$name.safetensors" ] || return 0
  (
    flock 9
    [ ! -s "$OUT/$name.safetensors" ] || exit 0
    nice $GANZ quantize -q --model "$MODEL" --out "$OUT/$name.safetensors" --threads "$THREADS" "$@"
    say "made $name"
  ) 9>"$OUT/.lock-$name"
}

# learned NAME OPTIONS...: a run that learns; its model is a link, so that all names look alike
learned() {
  local name=$1
  shift
  [ -e "$OUT/$name.done" ] || {
    # shellcheck disable=SC2086 # LEARN is a list of words
    $GANZ quantize --resume --keep learned --model "$MODEL" --train "$CORPUS" --valid-source "$TEXTS/$VALID.$SOURCE" \
      --valid-target "$TEXTS/$VALID.$TARGET" --out "$OUT/$name" --device "$DEVICE" --threads "$THREADS" "$@" $LEARN \
      2> >(tee -a "$OUT/$name.log" >&2)
    touch "$OUT/$name.done"
    say "learned $name"
  }
  ln -sfn "$name/best.safetensors" "$OUT/$name.safetensors"
}

# learned_how METHOD BITS: a run with what the words of METHOD ask for, and its lines
learned_how() {
  local method=$1 bits=$2 how=(--bits "$2") weights=() own=LEARN_$2 first=kl
  [[ $method != *-max-weights* ]] || { weights=(--weight-range max) first=kl-max-weights; }
  [[ $method != *-per-row* ]] || { weights=(--per-row) first=kl-per-row; }
  [[ $method != *-from-corpus* ]] || how+=(--learn-from corpus)
  [[ $method != *-power-of-two* ]] || how+=(--power-of-two)
  if [[ $method == *-from-kl* ]]; then
    calibrated "$first-$bits" --method kl "${weights[@]}" "${calibrate[@]}"
    how+=(--steps-of "$OUT/$first-$bits.safetensors")
  fi
  # shellcheck disable=SC2206 # lists of words
  how+=("${weights[@]}" ${!own:-})
  if [[ $method == *-taught* ]]; then
    [ -n "$TEACHERS" ] || { say "$method needs TEACHERS" && exit 2; }
    # shellcheck disable=SC2206
    how+=(--teacher $TEACHERS ${LEARN_TAUGHT:-})
  fi
  learned "$method-$bits" "${how[@]}"
  if [[ " $PHASE_3 " == *" $method "* ]]; then
    ln -sfn "$method-$bits/phase-3.safetensors" "$OUT/$method-phase-3-$bits.safetensors"
    listed "$method-phase-3-$bits" "$method, after phase 3" "$bits"
  fi
}

# made METHOD BITS: a line of the table
made() {
  local method=$1 bits=$2 name=$1-$2
  local calibrate=(--bits "$bits" --calibrate "$TEXTS/$VALID.$SOURCE" --calibrate-target "$TEXTS/$VALID.$TARGET"
    --calibrate-lines "$LINES")
  case $method in
  max | kl) calibrated "$name" --method "$method" "${calibrate[@]}" ;;
  kl-max-weights) calibrated "$name" --method kl --weight-range max "${calibrate[@]}" ;;
  kl-dense) calibrated "$name" --method kl --products dense "${calibrate[@]}" ;;
  max-per-row | kl-per-row) calibrated "$name" --method "${method%%-*}" --per-row "${calibrate[@]}" ;;
  clip | dynamic) calibrated "$name" --method "$method" --bits "$bits" ;;
  clip-tuned) # has one phase, without steps to learn
    LEARN=$(sed -E 's/--(phases|measure-batches|step-rate|step-optimizer)[ =][^ ]+//g' <<<"$LEARN") learned "$name" \
      --method clip --bits "$bits" ;;
  learned*) learned_how "$method" "$bits" ;;
  *) say "no method named $method" && exit 2 ;;
  esac
  listed "$name" "$method" "$bits"
}

make() {
  ln -sf "$(realpath "$MODEL")" "$OUT/float.safetensors"
  printf 'float\tfloat\t32\t0\n' >"$OUT/float.row"
  in_turn float &
  local first=${BITS%% *} bits method
  for bits in $BITS; do
    for method in $METHODS; do
      [ "$bits" != "$first" ] && [[ " $ONCE " == *" $method "* ]] || made "$method" "$bits"
    done
  done
  [ -n "$DETACH" ] || wait
}

translate() { rows | cut -f1 | while read -r name; do in_turn "$name"; done; }

# rows: the models that are there, in the order of the table
rows() {
  local bits method row
  cat "$OUT/float.row"
  for bits in 8 7 6 5 4 3 2; do
    for method in max max-per-row kl kl-max-weights kl-per-row kl-dense clip clip-tuned dynamic 'learned*'; do
      # shellcheck disable=SC2231 # the star is to be one
      for row in "$OUT"/$method-$bits.row; do [ ! -e "$row" ] || cat "$row"; done
    done
  done
}

# compared SET TOK CASE: name, BLEU and p of every model, the float one first
compared() {
  local set=$1 tok=$2 case=$3 files=()
  while IFS=$'\t' read -r name _; do files+=("$OUT/$name.$set.hyp"); done <"$OUT/models.tsv"
  $GANZ score --ref "$TEXTS/$set.$TARGET" --hyp "${files[@]}" --tok "$tok" --bootstrap "$BOOTSTRAP" --json \
    $([ "$case" = cased ] || echo --lowercase) |
    awk -v set="$set" -v tok="$tok" -v case="$case" '
      function field(key) { return match($0, "\"" key "\": [0-9.eE+-]+") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) : "" }
      /"name"/ {
        name = $0; sub(/.*"name": "/, "", name); sub(/".*/, "", name); sub(/.*\//, "", name)
        sub("\\." set "\\.hyp$", "", name)
        score = field("score"); if (float == "") float = score
        printf "%s\t%s\t%s\t%s\t%.4f\t%.2f\t%s\n", name, set, tok, case, score,
          (float > 0 ? 100 * score / float : 0), field("p_value")
      }'
}

score() {
  local set tok case
  rows >"$OUT/models.tsv"
  printf 'name\tset\ttokenizer\tcase\tBLEU\tpercent of float\tp\n' >"$OUT/table.part"
  for set in "$VALID" "$TEST"; do
    for tok in 13a intl; do
      for case in cased uncased; do compared "$set" $tok $case >>"$OUT/table.part"; done
    done
  done
  mv "$OUT/table.part" "$OUT/table.tsv"
  for tok in 13a intl; do
    awk -F'\t' -v tok=$tok -v valid="$VALID" -v test="$TEST" '
      BEGIN {
        split(valid " " valid " " test " " test, sets, " "); split("cased uncased cased uncased", cases, " ")
        head = "| BLEU (" tok ") | bits | integer products |"; line = "|---|---|---|"
        for (i = 1; i <= 4; i++) { head = head " " sets[i] " " cases[i] " | of float | p |"
          line = line "---|---|---|" }
        print head; print line
      }
      FILENAME ~ /table.tsv$/ { if ($3 == tok) cell[$1, $2, $4] = sprintf("%.2f | %.1f%% | %s", $5, $6, $7 == "" ? "" : sprintf("%.3f", $7)); next }
      {
        row = "| " $2 " | " $3 " | " $4 " |"
        for (i = 1; i <= 4; i++) row = row " " cell[$1, sets[i], cases[i]] " |"
        print row
      }
      END { print "" }' "$OUT/table.tsv" "$OUT/models.tsv"
  done >"$OUT/table.md"
  cat "$OUT/table.md"
}

for step in $STEPS; do
  case $step in
  make | translate | score) $step ;;
  *) say "no step named $step" && exit 2 ;;
  esac
done
