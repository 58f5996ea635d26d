#!/bin/bash
# paper.sh DATA OUT: the experiments of docs/PAPER.md, from corpus to tables: the paper's method, ours, what lies between them
# one thing at a time, the baselines as published, five and four bits, several seeds. It works through a plan; after LIMIT
# seconds it saves what is under way and ends with status 3: started again, it goes on. Status 0: all is done. A model that
# takes minutes is not made again where its translations are, so those are all that has to outlive a machine.
#   DATA  vocab.txt and corpus.safetensors (of ganz prepare), SET.en and SET.de of all sets; unseen.safetensors, if it is
#         there, is a corpus that no float model has seen
#   OUT   NAME/ (a run), NAME.safetensors (its model), NAME.SET.hyp, plan.tsv, table.tsv (each model on each set),
#         pooled.tsv (over the test sets, FP32, and each against it and against the best baseline by VALID), seeds.tsv (means over seeds,
#         set by set), means.tsv (means over seeds, pooled, against FP32, the best baseline and the line of the plan that
#         differs in one thing: the largest p against any seed of that),
#         failed.tsv (runs that failed, as those do that run away: they are not tried again), log
# Settings, by the environment:
#   GANZ, DEVICE=cuda, THREADS=0
#   LIMIT=0            seconds of a piece; 0: no end
#   ONLY=.             a regular expression: names of the plan to work on (float models and tables always)
#   SEEDS="1 2 3"      of all that is learned
#   TRAIN_PAPER="--recipe paper-base" TRAIN_OURS="--recipe base-quick"   options of ganz train
#   TRAIN_FIRST=       of a run that both float models are branches of; none: each begins with fresh parameters
#   TRAIN_LONGER=      with which FP32 of the paper's way goes on as float-longer: what learning as long as six phases
#                      gives without integers; none: it is not made
#   PAPER="--recipe paper" OURS="--steps-per-phase 300 --measure-batches 30"   options of ganz quantize; FEW (as OURS) for few
#                      bits by rows, where more steps pay; TUNED (as OURS) of baselines that are tuned
#   VALID=newstest2013 TESTS="newstest2014 newstest2015 newstest2016 newstest2017 newstest2018" SOURCE=en TARGET=de
#   LINES=600          of VALID for calibration; BOOTSTRAP=1000, BEAM=4
#   PHASE_3=1          0: models as they are after phase 3 are not translated
#   TRANSLATE=         further options of ganz translate
#   FLOATS=1           0: float models are not translated
#   TABLES=1           0: models and translations only
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 2 2 "$@"
data=$1 out=$2
here=$(cd "$(dirname "$0")/.." && pwd)
GANZ=${GANZ:-$here/build/release/cli/ganz} DEVICE=${DEVICE:-cuda} THREADS=${THREADS:-0} LIMIT=${LIMIT:-0} ONLY=${ONLY:-.}
SEEDS=${SEEDS:-1 2 3} LINES=${LINES:-600} BOOTSTRAP=${BOOTSTRAP:-1000} BEAM=${BEAM:-4} TABLES=${TABLES:-1}
PHASE_3=${PHASE_3:-1} TRANSLATE=${TRANSLATE:-} FLOATS=${FLOATS:-1}
TRAIN_PAPER=${TRAIN_PAPER:---recipe paper-base} TRAIN_OURS=${TRAIN_OURS:---recipe base-quick}
TRAIN_FIRST=${TRAIN_FIRST:-} TRAIN_LONGER=${TRAIN_LONGER:-}
PAPER=${PAPER:---recipe paper} OURS=${OURS:---steps-per-phase 300 --measure-batches 30} FEW=${FEW:-$OURS}
TUNED=${TUNED:-$OURS}
VALID=${VALID:-newstest2013} SOURCE=${SOURCE:-en} TARGET=${TARGET:-de}
TESTS=${TESTS:-newstest2014 newstest2015 newstest2016 newstest2017 newstest2018}
mkdir -p "$out"
exec 3>&2 # for words of this script, wherever those of a command go

say() { printf '[%s] %s (%d s)\n' "$(date +%T)" "$*" $SECONDS | tee -a "$out/log" >&3; }
later() { say "time is up: start again to go on"; exit 3; }

# timed COMMAND...: with what is left of the piece; what is stopped by that has saved its state
timed() {
  local code=0 left=$((LIMIT - SECONDS))
  [ "$LIMIT" -gt 0 ] || { "$@"; return; }
  [ $left -gt 2 ] || later
  timeout --kill-after=60 $left "$@" || code=$?
  case $code in 124 | 143) later ;; esac
  return $code
}

# ---- the plan: name, float model it is made of, kind, options. Baselines are named so, with their bits at the end.
line() { printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${*:4}"; }

# few WIDTH: options of few bits, a step for each row; biases have eight below six bits
few() {
  case $1 in
  w4a8) echo "--bits 8 --weight-bits 4 --per-row --steps-of @w4a8-kl-per-row-ours" ;;
  6) echo "--bits 6 --per-row --steps-of @rows-ours-6" ;;
  *) echo "--bits $1 --bias-bits 8 --per-row --steps-of @rows-ours-$1" ;;
  esac
}

# seeded KIND NAME FROM OPTIONS...: a line for each seed
seeded() {
  local seed
  for seed in $SEEDS; do line "$2-s$seed" "$3" "$1" "${*:4} --seed $seed"; done
}
learned() { seeded learned "$@"; }

plan() {
  local bits from width options
  for bits in 8 6; do
    learned paper-$bits paper "$PAPER --bits $bits"
    learned ours-$bits ours "$OURS --bits $bits --steps-of @kl-ours-$bits"
    # the claims: powers of two lose little; together from the start does not converge
    learned paper-power-$bits paper "$PAPER --bits $bits --power-of-two"
    learned joint-$bits paper "$PAPER --bits $bits --phases joint"
    # from the paper's way towards ours, one thing at a time
    learned paper+teacher-$bits paper "$PAPER --bits $bits --learn-from model"
    learned paper+kl-$bits paper "$PAPER --bits $bits --steps-of @kl-paper-$bits"
    learned paper+cooldown-$bits paper "$PAPER --bits $bits --phase-cooldown 0.5"
    learned paper+average-$bits paper "$PAPER --bits $bits --phase-average 0.999"
    learned paper+rate-$bits paper "$PAPER --bits $bits --rate-factor 0.2"
    learned paper+adam-$bits paper "$PAPER --bits $bits --step-optimizer adam --step-schedule own"
    learned paper+order-$bits paper "$PAPER --bits $bits --no-drop-first"
    learned paper+fit-$bits paper "$PAPER --bits $bits --weight-range fit"
    [ ! -e "$data/unseen.safetensors" ] || seeded unseen paper+unseen-$bits paper "$PAPER --bits $bits"
    # and from ours towards the paper's
    learned ours-corpus-$bits ours "$OURS --bits $bits --learn-from corpus --steps-of @kl-ours-$bits"
    learned ours-max-$bits ours "$OURS --bits $bits"
    learned ours-flat-$bits ours "$OURS --bits $bits --phase-cooldown 0 --phase-average 0 --steps-of @kl-ours-$bits"
  done
  [ -z "$TRAIN_LONGER" ] || line float-longer paper trained "$TRAIN_LONGER"
  # few bits, by rows: steps of weights fitted, learned too, and learned together with everything else from the start
  for width in 6 5 4 w4a8; do
    options="$FEW $(few $width)"
    learned ours-fitted-$width ours "$options"
    learned ours-rows-$width ours "$options --weight-range learned"
    learned ours-joint-$width ours "$options --weight-range learned --phases joint"
  done
  # the baselines, as published (docs/PAPER.md), on both float models
  for from in paper ours; do
    for bits in 8 6 5 4; do
      line base-max-$from-$bits $from calibrated "--method max --bits $bits"
      line kl-$from-$bits $from calibrated "--method kl --bits $bits"
      line rows-$from-$bits $from calibrated "--method kl --per-row --bits $bits"
    done
    line w4a8-kl-per-row-$from $from calibrated "--method kl --per-row --bits 8 --weight-bits 4"
    line bhandare-$from-8 $from calibrated "--method kl --bits 8 --products dense --exceptions *.ffn.out:_product=float"
    line dynamic-$from-8 $from plain "--method dynamic --bits 8"
    line clip-$from-8 $from plain "--method clip --clip 2 --bits 8"
    line clip-tuned-$from-8 $from tuned "--method clip --clip 2 --bits 8 --learn-from corpus"
    line gnmt-$from-8 $from tuned "--method clip --clip 8:1 --bits 8 --products dense --learn-from corpus"
  done
}

# ---- making models

# trained NAME FROM OPTIONS...: the float model NAME, a branch of the run FROM if that is there; paper mode goes on from its
# checkpoint
trained() {
  local name=float-$1 from=$out/float-$2 vocab=(--vocab "$data/vocab.txt") best=last # the paper's: a single checkpoint
  shift 2
  case " $* " in *" --model "*) vocab=() ;; esac # a model brings its own
  [ -e "$out/$name.done" ] || {
    if [ -d "$from" ] && [ ! -e "$out/$name" ]; then
      rm -rf "$out/$name.new" && cp -rL "$from" "$out/$name.new" && mv "$out/$name.new" "$out/$name"
    fi
    timed $GANZ train --resume --train "$data/corpus.safetensors" "${vocab[@]}" --valid-source \
      "$data/$VALID.$SOURCE" --valid-target "$data/$VALID.$TARGET" --out "$out/$name" --device "$DEVICE" \
      --threads "$THREADS" "$@" 2>>"$out/$name.log"
    touch "$out/$name.done"
    say "trained $name"
  }
  if [ "$name" = float-ours ]; then best=$([ -e "$out/$name/average.safetensors" ] && echo average || echo best); fi
  ln -sfn "$name/$best.safetensors" "$out/$name.safetensors"
}

# words OPTIONS: one a line; @NAME is a model of the plan, _ in a rule is a space
words() { tr ' ' '\n' <<<"$1" | sed -e '/^$/d' -e "s|^@\(.*\)|$out/\1.safetensors|" -e '/product=/s/_/ /g'; }

# made NAME FROM KIND OPTIONS
made() {
  local name=$1 from=$out/float-$2.safetensors kind=$3 options=() corpus=$data/corpus.safetensors
  mapfile -t options < <(words "$4")
  [ ! -e "$out/$name.safetensors" ] || return 0
  ! cut -f1 "$out/failed.tsv" 2>/dev/null | grep -qxF -- "$name" || return 0
  case $kind in
  trained)
    trained "${name#float-}" "$2" "${options[@]}"
    return ;;
  calibrated | plain)
    [ "$kind" = plain ] || options+=(--calibrate "$data/$VALID.$SOURCE" --calibrate-target "$data/$VALID.$TARGET"
      --calibrate-lines "$LINES")
    timed $GANZ quantize -q --model "$(realpath "$from")" --out "$out/$name.safetensors" --threads "$THREADS" \
      "${options[@]}" ;;
  learned | unseen | tuned)
    [ "$kind" != unseen ] || corpus=$data/unseen.safetensors
    # shellcheck disable=SC2206,SC2207 # TUNED is a list of words, without those of phases that clip has not
    [ "$kind" != tuned ] || options+=($(sed -E 's/--(phases|measure-batches|recipe)[ =][^ ]+//g' <<<"$TUNED"))
    timed $GANZ quantize --resume --keep learned --model "$(realpath "$from")" --train "$corpus" --valid-source \
      "$data/$VALID.$SOURCE" --valid-target "$data/$VALID.$TARGET" --out "$out/$name" --device "$DEVICE" \
      --threads "$THREADS" "${options[@]}" 2>>"$out/$name.log" || {
      say "$name FAILED: $(tail -n 1 "$out/$name.log")" # a run that does not converge is a result
      printf '%s\t%s\n' "$name" "$(tail -n 1 "$out/$name.log")" >>"$out/failed.tsv"
      return 0
    }
    [ ! -e "$out/$name/phase-3.safetensors" ] || ln -sfn "$name/phase-3.safetensors" "$out/$name.phase-3.safetensors"
    ln -sfn "$name/best.safetensors" "$out/$name.safetensors" ;;
  esac
  say "made $name"
}

# needed OPTIONS: models of the plan that the options name come first
needed() {
  local other name from kind options
  for other in $(grep -o '@[^ ]*' <<<"$1" || true); do
    while IFS=$'\t' read -r name from kind options; do
      [ "@$name" != "$other" ] || made "$name" "$from" "$kind" "$options"
    done <"$out/plan.tsv"
  done
}

# translated NAME: all sets by one command, as loading a model takes as long as translating a set with it; integer models give
# the same bytes on every DEVICE
translated() {
  local name=$1 set from=1 to all=$out/$1.$$ device=$DEVICE # all: of its own, two calls may share a folder
  case $name in dynamic-* | bhandare-* | gnmt-*) device=cpu ;; esac # products in float beside integers run there alone
  [ -e "$out/$name.safetensors" ] && [ ! -s "$out/$name.${TESTS##* }.hyp" ] || return 0
  for set in $VALID $TESTS; do cat "$data/$set.$SOURCE"; done >"$all.source"
  # shellcheck disable=SC2086 # TRANSLATE is a list of words
  timed $GANZ translate -q --format lines --least-length 0 --model "$out/$name.safetensors" --beam "$BEAM" --threads "$THREADS" \
    --device "$device" $TRANSLATE -o "$all.hyps" "$all.source"
  for set in $VALID $TESTS; do
    to=$((from + $(wc -l <"$data/$set.$SOURCE")))
    sed -n "$from,$((to - 1))p" "$all.hyps" >"$all.part" && mv "$all.part" "$out/$name.$set.hyp"
    from=$to
  done
  rm "$all.hyps" "$all.source"
}

# ---- tables

# scored REF HYP...: file and BLEU and p of each, the first being what the others are compared with; with MEAN=yes a last line
# for the mean of the others
scored() {
  $GANZ score --ref "$1" --hyp "${@:2}" --bootstrap "$BOOTSTRAP" --json ${TOK:+--tok $TOK} ${LOWER:+--lowercase} \
    ${MEAN:+--seeds} | awk '
    function field(key) { return match($0, "\"" key "\": [0-9.eE+-]+") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) : "" }
    /"name"/ { name = $0; sub(/.*"name": "/, "", name); sub(/".*/, "", name); sub(/.*\//, "", name)
      printf "%s\t%.4f\t%s\n", name, field("score"), field("p_value") }'
}

# of FROM: names of its models, all of whose translations are there
of() {
  local from=$1 name
  for name in "float-$from" $(awk -F'\t' -v f="$from" '$2 == f { print $1; print $1 ".phase-3" }' "$out/plan.tsv"); do
    [ "$(for set in $VALID $TESTS; do [ ! -s "$out/$name.$set.hyp" ] || echo; done | wc -l)" != \
      "$(wc -w <<<"$VALID $TESTS")" ] || echo "$name"
  done
}

# bits NAME: the last number of its name, seeds and phases aside; w4a8 stands for itself
bits() { case $1 in *w4a8*) echo w4a8 ;; *) sed 's/\.phase-3$//; s/-s[0-9]*$//; s/.*-//' <<<"$1" ;; esac; }
is_baseline() { case $1 in base-max-* | kl-* | rows-* | w4a8-kl-* | bhandare-* | dynamic-* | clip-* | gnmt-*) true ;; *) false ;; esac; }

# best FROM BITS: the baseline with the best BLEU on VALID
best() {
  awk -F'\t' -v set="$VALID" '$2 == set && $3 == "13a" && $4 == "cased" { print $1 "\t" $5 }' "$out/table.tsv" |
    while IFS=$'\t' read -r name score; do
      ! { is_baseline "$name" && [ "$(bits "$name")" = "$2" ] && [[ $name == *-$1* ]]; } || printf '%s\t%s\n' "$score" "$name"
    done | sort -rn | head -n 1 | cut -f2
}

# seeds_of GROUP: names of its runs, as far as they are translated
seeds_of() {
  local seed end=${1#"${1%.phase-3}"}
  for seed in $SEEDS; do [ ! -e "$out/pooled/${1%.phase-3}-s$seed$end" ] || echo "${1%.phase-3}-s$seed$end"; done
}

# other GROUP: the group that differs from it in one thing
other() {
  case $1 in
  *.phase-3) ;;
  paper+* | paper-power-* | joint-*) echo "paper-${1##*-}" ;;
  ours-corpus-* | ours-max-* | ours-flat-*) echo "ours-${1##*-}" ;;
  esac
}

# mean RIVAL GROUP: a line of means.tsv
mean() {
  local names=() name
  for name in $(seeds_of "$2"); do names+=("$out/pooled/$name"); done
  [ ${#names[@]} -gt 0 ] || return 0
  MEAN=yes scored "$out/pooled/ref" "$out/pooled/$1" "${names[@]}" | awk -F'\t' -v OFS='\t' -v group="$2" -v rival="$1" '
    NR == 1 { first = $2; next }
    /^mean of / { print group, rival, NR - 2, $2, least, most, sprintf("%.2f", first > 0 ? 100 * $2 / first : 0), $3; next }
    { if (NR == 2 || $2 < least) least = $2; if (NR == 2 || $2 > most) most = $2 }'
}

means() {
  local from group rival
  printf 'name\tagainst\tseeds\tmean\tleast\tmost\tpercent\tp\n'
  for from in paper ours; do
    for group in $(of $from | sed -nE 's/-s[0-9]+(\.phase-3)?$/\1/p' | sort -u); do
      for rival in "float-$from" $(best $from "$(bits "$group")"); do mean "$rival" "$group"; done
      for rival in $(seeds_of "$(other "$group")"); do mean "$rival" "$group"; done | sort -t$'\t' -k8,8g | tail -n 1
    done
  done
}

tables() {
  local from set name rival first
  printf 'name\tset\ttokenizer\tcase\tBLEU\tpercent of FP32\tp\n' >"$out/table.part"
  printf 'name\tagainst\tBLEU\tpercent\tp\n' >"$out/pooled.part"
  rm -rf "$out/pooled" && mkdir "$out/pooled"
  for from in paper ours; do
    local names
    names=$(of $from)
    [ -n "$names" ] || continue
    for set in $VALID $TESTS; do
      for how in 13a:cased 13a:uncased t2t:cased t2t:uncased; do
        # shellcheck disable=SC2046
        TOK=${how%:*} LOWER=$([ "${how#*:}" = cased ] || echo yes) scored "$data/$set.$TARGET" \
          $(for name in $names; do echo "$out/$name.$set.hyp"; done) | awk -F'\t' -v OFS='\t' -v set="$set" \
          -v how="$how" '{ sub("." set ".hyp$", "", $1); if (NR == 1) f = $2; split(how, h, ":")
            print $1, set, h[1], h[2], $2, sprintf("%.2f", f > 0 ? 100 * $2 / f : 0), $3 }' >>"$out/table.part"
      done
    done
  done
  mv "$out/table.part" "$out/table.tsv"
  for set in $TESTS; do cat "$data/$set.$TARGET"; done >"$out/pooled/ref"
  for from in paper ours; do
    names=$(of $from)
    for name in $names; do for set in $TESTS; do cat "$out/$name.$set.hyp"; done >"$out/pooled/$name"; done
    for name in $names; do
      [ "$name" != "float-$from" ] || scored "$out/pooled/ref" "$out/pooled/$name"{,} |
        awk -F'\t' -v OFS='\t' 'NR == 1 { print $1, $1, $2, "100.00", "" }' >>"$out/pooled.part"
      for rival in "float-$from" $(best $from "$(bits "$name")"); do
        [ "$name" != "$rival" ] || continue
        first=$(scored "$out/pooled/ref" "$out/pooled/$rival" "$out/pooled/$name" | awk -F'\t' -v OFS='\t' \
          -v rival="$rival" 'NR == 1 { f = $2 } NR == 2 { print $1, rival, $2, sprintf("%.2f", f > 0 ? 100 * $2 / f : 0), $3 }')
        printf '%s\n' "$first" >>"$out/pooled.part"
      done
    done
  done
  mv "$out/pooled.part" "$out/pooled.tsv"
  means >"$out/means.part"
  mv "$out/means.part" "$out/means.tsv"
  rm -rf "$out/pooled"
  awk -F'\t' -v OFS='\t' 'NR > 1 && $1 ~ /-s[0-9]+(\.phase-3)?$/ { sub(/-s[0-9]+/, "", $1); k = $1 OFS $2 OFS $3 OFS $4
      n[k]++; s[k] += $5; p[k] += $6; if (n[k] == 1 || $5 < lo[k]) lo[k] = $5; if (n[k] == 1 || $5 > hi[k]) hi[k] = $5 }
    BEGIN { print "name", "set", "tokenizer", "case", "seeds", "mean", "least", "most", "percent of FP32" }
    END { for (k in n) print k, n[k], sprintf("%.4f", s[k] / n[k]), lo[k], hi[k], sprintf("%.2f", p[k] / n[k]) | "sort" }' \
    "$out/table.tsv" >"$out/seeds.tsv"
}

plan | sort -u >"$out/plan.$$" && mv "$out/plan.$$" "$out/plan.tsv" # whole at any time: two calls may share a folder
# shellcheck disable=SC2086 # lists of words
if [ -n "$TRAIN_FIRST" ] && ! { [ -e "$out/float-paper.done" ] && [ -e "$out/float-ours.done" ]; }; then
  trained first none $TRAIN_FIRST
fi
# shellcheck disable=SC2086
trained paper first $TRAIN_PAPER
# shellcheck disable=SC2086
trained ours first $TRAIN_OURS
if [ "$FLOATS" != 0 ]; then for name in paper ours; do translated float-$name; done; fi
plan | grep -E "$ONLY" | while IFS=$'\t' read -r name from kind options; do
  case $kind in
  calibrated | plain) ;; # made in seconds, and others begin with its steps
  *) [ ! -s "$out/$name.${TESTS##* }.hyp" ] || continue ;;
  esac
  needed "$options"
  made "$name" "$from" "$kind" "$options"
  [ "$PHASE_3" = 0 ] || translated "$name.phase-3" # first: where NAME has its translations, there is nothing left to do
  translated "$name"
done || exit $?
[ "$TABLES" != 0 ] || { say "models and translations are done"; exit 0; }
tables
say "all is done: $(($(wc -l <"$out/table.tsv") - 1)) scores"
