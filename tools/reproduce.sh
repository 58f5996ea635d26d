#!/bin/bash
# reproduce.sh RECIPE DATA OUT [ganz train options]: from text to a scored model, step by step; a step whose result is
# there is not done again, so that an interrupted chain goes on.
#   DATA  NAME.en.xz and NAME.de.xz for each name of recipes/mixture-en-de.txt, newstest2013 and newstest2014 (.xz or plain)
#   OUT   vocab.txt, corpus.safetensors, train/ (checkpoints, log.tsv, loss.svg), hyp.*.de, scores.tsv
# Environment: GANZ (program), DEVICE (cuda), THREADS (all), VOCAB_SIZE (32768; 16384 for small).
set -eu
recipe=$1 data=$2 out=$3
shift 3
here=$(cd "$(dirname "$0")/.." && pwd)
ganz=${GANZ:-$here/build/release/cli/ganz}
device=${DEVICE:-cuda}
threads=${THREADS:-$(nproc)}
size=${VOCAB_SIZE:-$([ "$recipe" = small ] && echo 16384 || echo 32768)}
mkdir -p "$out"

say() { printf '== %s (%d s)\n' "$*" $SECONDS; }
names=$(grep -v '^#' "$here/recipes/mixture-en-de.txt" | cut -d' ' -f1)

for set in newstest2013 newstest2014; do
  for side in en de; do
    [ -s "$out/$set.$side" ] || if [ -e "$data/$set.$side.xz" ]; then xz -dc "$data/$set.$side.xz"; else cat "$data/$set.$side"; fi >"$out/$set.$side"
  done
done

if [ ! -s "$out/vocab.txt" ]; then
  say "vocabulary of about $size"
  "$ganz" vocab --size "$size" --out "$out/vocab.txt" $(for n in $names; do echo "$data/$n.en.xz $data/$n.de.xz"; done)
fi

if [ ! -s "$out/corpus.safetensors" ]; then
  say "corpus"
  grep -v '^#' "$here/recipes/mixture-en-de.txt" | while read -r name weight; do
    echo "$data/$name.en.xz $data/$name.de.xz $weight"
  done >"$out/mixture.list"
  "$ganz" prepare --vocab "$out/vocab.txt" --list "$out/mixture.list" --dedupe --max-length 256 --max-ratio 4 \
    --threads "$threads" --out "$out/corpus.safetensors"
fi

say "training $recipe"
"$ganz" train --recipe "$here/recipes/$recipe.yaml" --train "$out/corpus.safetensors" --vocab "$out/vocab.txt" \
  --valid-source "$out/newstest2013.en" --valid-target "$out/newstest2013.de" --source-language en --target-language de \
  --out "$out/train" --device "$device" --threads "$threads" --resume "$@"

model=$out/train/average.safetensors
[ -e "$model" ] || model=$out/train/best.safetensors
printf 'set\ttokenizer\tcase\tBLEU\n' >"$out/scores.tsv"
for set in newstest2013 newstest2014; do
  say "translating $set with $(basename "$model")"
  "$ganz" translate --model "$model" --threads "$threads" -o "$out/hyp.$set.de" "$out/$set.en"
  for tokenizer in 13a intl; do
    for case in "" --lowercase; do
      score=$("$ganz" score --ref "$out/$set.de" --hyp "$out/hyp.$set.de" --tok $tokenizer $case --json | tr -d ' \n' | sed -E 's/.*"score":([0-9.]+).*/\1/')
      printf '%s\t%s\t%s\t%.2f\n' $set $tokenizer "$([ -n "$case" ] && echo lower || echo cased)" "$score" | tee -a "$out/scores.tsv"
    done
  done
done
say "done: $model, $out/scores.tsv"
