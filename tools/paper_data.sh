#!/bin/bash
# paper_data.sh DATA OUT: what tools/paper.sh takes, from text: a vocabulary, a corpus to train with, another one of text
# that no float model sees, and the test sets. What is there is not made again, and translation goes on where it stopped.
#   DATA  train/NAME.{en,de}.xz for the names of MIXTURE, mono/NAME.de.xz for those of MONO, SET.{en,de} or
#         test/SET.{en,de} of all sets
#   OUT   vocab.txt, corpus.safetensors, unseen.safetensors, SET.en and SET.de; synthetic/ (tools/back_translate.sh)
# Settings, by the environment:
#   GANZ, THREADS=0
#   VOCAB=             a vocabulary (as Tensor2Tensor's for WMT, which the paper has); none: 32,768 entries are learned
#   MIXTURE=recipes/mixture-en-de-paper.txt
#   SYNTHETIC=380000   lines of MONO that BACK translates back, at some 260 a second on two cores; 0: real pairs alone
#   MONO=recipes/mono-de-paper.txt BACK=de-en
#   EVERY=5            one line in so many is kept out of the corpus: that is the unseen text
#   SETS="newstest2013 newstest2014 newstest2015 newstest2016 newstest2017 newstest2018"
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 2 2 "$@"
here=$(cd "$(dirname "$0")/.." && pwd)
data=$1 out=$2
GANZ=${GANZ:-$here/build/release/cli/ganz} THREADS=${THREADS:-0} VOCAB=${VOCAB:-} SYNTHETIC=${SYNTHETIC:-380000} EVERY=${EVERY:-5}
MIXTURE=${MIXTURE:-$here/recipes/mixture-en-de-paper.txt} MONO=${MONO:-$here/recipes/mono-de-paper.txt} BACK=${BACK:-de-en}
SETS=${SETS:-newstest2013 newstest2014 newstest2015 newstest2016 newstest2017 newstest2018}
mkdir -p "$out/text"

say() { printf '== %s (%d s)\n' "$*" $SECONDS; }
plain() { case $1 in *.xz) xz -dc "$1" ;; *) cat "$1" ;; esac; }

# translated_back: lines of MONO in an order that is always the same, those that back_translate.sh takes, and their sources
translated_back() {
  local name every
  [ -s "$out/mono.de" ] || {
    grep -v '^#' "$MONO" | while read -r name every; do
      [ -e "$data/mono/$name.de.xz" ] || { echo "paper_data: there is no $data/mono/$name.de.xz" >&2; exit 1; }
      xz -dc "$data/mono/$name.de.xz" | awk -v n="$every" 'NR % n == 0'
    done >"$out/mono.all"
    shuf --random-source=<(yes) "$out/mono.all" | awk 'length($0) > 2 && length($0) < 450' |
      awk -v n="$SYNTHETIC" 'NR <= n' >"$out/mono.new"
    rm "$out/mono.all"
    mv "$out/mono.new" "$out/mono.de"
  }
  say "translating $(wc -l <"$out/mono.de") lines back"
  GANZ=$GANZ THREADS=$THREADS TAG=- SHARD=10000 "$here/tools/back_translate.sh" "$BACK" "$out/synthetic" "$out/mono.de"
}

# split NAME EN DE WEIGHT: its lines into text/NAME.seen.SIDE and text/NAME.unseen.SIDE, and those into both lists
split() {
  local name=$1 side file kind
  for side in en de; do
    file=$([ $side = en ] && echo "$2" || echo "$3")
    [ -e "$file" ] || { echo "paper_data: there is no $file" >&2; exit 1; }
    plain "$file" | awk -v n="$EVERY" -v seen="$out/text/$name.seen.$side" -v unseen="$out/text/$name.unseen.$side" \
      '{ print >(NR % n == 0 ? unseen : seen) }'
  done
  for kind in seen unseen; do
    [ ! -s "$out/text/$name.$kind.en" ] || echo "$out/text/$name.$kind.en $out/text/$name.$kind.de $4" >>"$out/text/$kind.list"
  done
}

# splits: all texts of the mixture, then what was translated back
splits() {
  local name weight made real rest
  [ "$SYNTHETIC" = 0 ] || translated_back
  rm -f "$out"/text/*
  while read -r name weight; do
    split "$name" "$data/train/$name.en.xz" "$data/train/$name.de.xz" "$weight"
  done < <(grep -v '^#' "$MIXTURE")
  [ "$SYNTHETIC" != 0 ] || return 0
  while read -r made real weight rest; do split "synthetic-$(basename "${made%.*}")" "$made" "$real" "$weight"; done <"$out/synthetic/list"
}

for set in $SETS; do
  for side in en de; do
    [ -s "$out/$set.$side" ] || cat "$([ -e "$data/$set.$side" ] && echo "$data" || echo "$data/test")/$set.$side" >"$out/$set.$side"
  done
done
if [ ! -s "$out/corpus.safetensors" ] || [ ! -s "$out/unseen.safetensors" ]; then splits; fi
if [ ! -s "$out/vocab.txt" ]; then
  say "vocabulary"
  if [ -n "$VOCAB" ]; then cp "$VOCAB" "$out/vocab.new"; else "$GANZ" vocab -q --out "$out/vocab.new" "$out"/text/*.seen.??; fi
  mv "$out/vocab.new" "$out/vocab.txt"
fi
for kind in seen unseen; do
  corpus=$out/$([ $kind = seen ] && echo corpus || echo unseen).safetensors
  [ -s "$corpus" ] && continue
  say "corpus of $kind text"
  "$GANZ" prepare --vocab "$out/vocab.txt" --list "$out/text/$kind.list" --dedupe --drop-identical --max-length 200 \
    --max-ratio 4 --threads "$THREADS" --out "$corpus"
done
rm -rf "$out/text"
say "all is there"
