#!/bin/bash
# back_translate.sh MODEL OUT TEXT...: monolingual text to parallel text whose other side a model makes. Text is cut
# into shards; a shard that is done is not done again, so this may be stopped and started at will.
#   MODEL  a file or a pair of languages: de-en to make English of German
#   OUT    a folder: N.REAL and N.MADE for each shard (of the model's languages), and `list`, which ganz prepare --list
#          takes for training from MADE to REAL
#   TEXT   one sentence a line, plain or compressed
# Settings, by the environment: GANZ (the program), THREADS (all), SHARD (20000 lines), UNTIL (seconds after which no
# shard is begun; none), SAMPLE (of ganz translate --sample; none: greedy), SEED (1), WEIGHT (1), TAG (<bt>; none: -),
# MORE (more for the lines of the list, like "upper=0.04 lower=0.04").
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 3 any "$@"
model=$1 out=$2
shift 2
here=$(cd "$(dirname "$0")/.." && pwd)
GANZ=${GANZ:-$here/build/release/cli/ganz}
pair=$("$GANZ" inspect "$model" | awk '$1 == "pair" {print $2}')
[ -n "$pair" ] || { echo "back_translate: $model does not say its languages" >&2; exit 1; }
real=${pair%-*} made=${pair#*-}
how=(--format lines --max-length 150 --threads "${THREADS:-0}")
if [ -n "${SAMPLE:-}" ]; then how+=(--sample "$SAMPLE" --seed "${SEED:-1}"); else how+=(--beam 1); fi
mkdir -p "$out"

# Sentences of 3 to 450 characters, in an order that is always the same; texts named first stay first.
cut_text() {
  local text
  for text in "$@"; do
    case $text in *.xz) xz -dc "$text" ;; *.gz) gzip -dc "$text" ;; *.zst) zstd -dcq "$text" ;; *) cat "$text" ;; esac
  done | awk 'length($0) > 2 && length($0) < 450' | split -l "${SHARD:-20000}" -d -a 5 - "$out/new."
  local part
  for part in "$out"/new.*; do mv "$part" "$out/${part##*.}.$real"; done
  touch "$out/cut"
}
[ -e "$out/cut" ] || { rm -f "$out"/new.* && cut_text "$@"; }

for part in "$out"/[0-9]*."$real"; do
  stem=${part%."$real"}
  [ -e "$stem.$made" ] && continue
  [ "$SECONDS" -lt "${UNTIL:-999999999}" ] || break
  "$GANZ" translate -q --model "$model" "${how[@]}" --out "$stem.$made" "$part"
  [ "$(wc -l <"$stem.$made")" = "$(wc -l <"$part")" ] || { echo "back_translate: $stem.$made lacks lines" >&2; exit 1; }
done

for part in "$out"/[0-9]*."$made"; do
  stem=${part%."$made"}
  [ -e "$stem.$made" ] || continue
  echo "$stem.$made $stem.$real ${WEIGHT:-1}$([ "${TAG:-<bt>}" = - ] || echo " tag=${TAG:-<bt>}") ${MORE:-}"
done >"$out/list.new"
mv "$out/list.new" "$out/list"
echo "$(cat "$out"/[0-9]*."$made" 2>/dev/null | wc -l) of $(cat "$out"/[0-9]*."$real" | wc -l) lines are translated"
