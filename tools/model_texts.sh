# For scripts that source it: the texts that models which ship learn from, as lists and corpora in the folder that is the
# current one. They set GANZ, THREADS, data, here, recipes, DING, INSERTS and, for another vocabulary, VOCAB.
# shellcheck disable=SC2154 # these are theirs

say() { printf '== %s (%d s)\n' "$*" $SECONDS; }

# texts: those that are made, the vocabulary and the validation text
texts() {
  local side pairs
  for side in en de; do
    [ -s text/newstest2013.$side ] || cp "$data/newstest2013.$side" text/
  done
  [ -s text/clock-phrases.de ] || "$here/tools/clock_phrases.sh" text/clock-phrases
  for pairs in en-de de-en; do # each written from its first language
    cut -f1 "$recipes/phrasebook-$pairs.tsv" >text/phrasebook-$pairs.en
    cut -f2 "$recipes/phrasebook-$pairs.tsv" >text/phrasebook-$pairs.de
  done
  if [ ! -s vocab.txt ]; then
    if [ -n "${VOCAB:-}" ]; then cat "$VOCAB"; else "$GANZ" inspect --vocab "$here/models/en-de.safetensors"; fi \
      >vocab.new
    mv vocab.new vocab.txt
  fi
  local name both=() # texts that say which of a word's meanings is meant mostly
  for name in tatoeba opensubtitles-sample ted-iwslt16 mozilla-web libreoffice news-dev-2008-2012 multi30k \
    chat-bcontrast-wmt gnome-kde-docs debian-ui-strings; do
    [ ! -e "$data/train/$name.en.xz" ] || both+=(--parallel "$data/train/$name")
  done
  for side in en de; do
    [ -s text/ding-$side.de.xz ] || [ ! -e "$DING" ] ||
      "$here/tools/ding_pairs.py" --from $side --out text/ding-$side --phrases text/phrases-$side \
        --rank "$data/train/tatoeba.$([ $side = en ] && echo de || echo en).xz" ${both[@]+"${both[@]}"} "$DING"
  done
}

# list DIRECTION MIXTURE: lines of ganz prepare --list for those texts that are there
list() {
  local name rest from=${1%-*} to=${1#*-} stem
  grep -v '^#' "$2" | while read -r name rest; do
    stem=$data/train/$name
    case $name in
    ding-words) stem=text/ding-$from ;;
    ding-phrases) stem=text/phrases-$from ;;
    clock-phrases | phrasebook-* | own-news) stem=text/$name ;;
    esac
    if [ -e "$stem.$from.xz" ]; then echo "$stem.$from.xz $stem.$to.xz $rest"
    elif [ -e "$stem.$from" ]; then echo "$stem.$from $stem.$to $rest"
    else say "without $name" >&2
    fi
  done
}

# corpus NAME: of the list from standard input; German addresses its reader formally or informally (docs/FORMALITY.md)
corpus() {
  local forms=()
  [ -e "$1.st" ] && return
  case $1 in en-de*) forms=(--formality "$recipes/formality-en-de.txt") ;; esac
  cat >"$1.list"
  say "corpus $1"
  "$GANZ" prepare -q --vocab vocab.txt --list "$1.list" --dedupe --drop-identical --max-length 200 --max-ratio 4 \
    --insert "$INSERTS" "${forms[@]}" --threads "$THREADS" --out "$1.st"
}

# mono LANGUAGE: one file of recipes/mono-LANGUAGE.txt, shuffled in an order that is always the same
mono() {
  local name every
  [ -s "text/mono.$1" ] && return
  grep -v '^#' "$recipes/mono-$1.txt" | while read -r name every; do
    [ -e "$data/mono/$name.$1.xz" ] || { say "without $name" >&2; continue; }
    xz -dc "$data/mono/$name.$1.xz" | awk -v n="$every" 'NR % n == 0'
  done | shuf --random-source=<(yes) >"text/mono.$1.new"
  mv "text/mono.$1.new" "text/mono.$1"
}
