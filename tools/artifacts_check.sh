#!/bin/bash
# artifacts_check.sh TEXT [FOLDER...]: translates TEXT with everything that ganz comes as and compares the bytes: the
# programs in build/release, build/clang, build/static and, in an empty root, build/static-models; the server, asked as
# LibreTranslate is; the Python package and Spark (PYTHON names a Python that has ganz, and pyspark with pyarrow and a Java);
# and the Debian packages of FOLDERs in which packages_check.sh has left them and the sha256 of the same TEXT. Prints a
# table, and says of what is not there that it was left out. Fails when two differ. ONLY is a pattern of names to try alone.
set -eu -o pipefail
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 1 any "$@"
text=$(realpath "$1")
shift
folders=()
for folder; do folders+=("$(realpath "$folder")"); done
cd "$(dirname "$0")/.."
python=${PYTHON:-python3} port=${PORT:-5179}
work=$(mktemp -d)
trap 'rm -rf "$work"; [ -z "${server:-}" ] || kill $server' EXIT
touch "$work/sums"

note() { # NAME SUM
  echo "| $1 | $2 |"
  echo "$2" >>"$work/sums"
}

# row NAME COMMAND...: a line of the table: the sha256 of the command's output
row() {
  local name=$1 sum
  shift
  [[ $name =~ ${ONLY:-.} ]] || return 0
  if sum=$("$@" 2>"$work/log" | sha256sum); then note "$name" "${sum%% *}"
  else note "$name" "FAILED: $(tail -n 1 "$work/log")"; fi
}
missing() { echo "| $1 | left out: $2 |"; }

# program NAME FILE: a program that is there or not
program() {
  if [ -x "$2" ]; then row "$1" "$2" translate --format text "$text"; else missing "$1" "no $2"; fi
}

empty_root() {
  mkdir "$work/root"
  cp build/static-models/cli/ganz "$work/root/ganz"
  if [ "$(id -u)" = 0 ]; then chroot "$work/root" /ganz translate --format text <"$text"
  else unshare --map-root-user --root="$work/root" /ganz translate --format text <"$text"; fi
}

ask_server() {
  "$python" - "$text" "http://127.0.0.1:$port" <<'EOF'
import json, sys, time, urllib.request
question = json.dumps({"q": open(sys.argv[1], encoding="utf-8").read(), "source": "en", "target": "de", "format": "text"})
for attempt in range(30):
    try:
        urllib.request.urlopen(sys.argv[2] + "/health").close()
        break
    except OSError:
        time.sleep(0.5)
request = urllib.request.Request(sys.argv[2] + "/translate", question.encode(), {"Content-Type": "application/json"})
sys.stdout.write(json.load(urllib.request.urlopen(request))["translatedText"])
EOF
}

ask_python() {
  "$python" - "$text" <<'EOF'
import sys, ganz
sys.stdout.write(ganz.Translator().translate(open(sys.argv[1], encoding="utf-8").read()))
EOF
}

ask_spark() {
  PYSPARK_PYTHON=$python "$python" - "$text" <<'EOF'
import os, sys
from pyspark.sql import SparkSession

def translate_batches(batches):
    import ganz, pyarrow
    with ganz.Translator(threads=1) as translator:
        for batch in batches:
            lines = translator.translate(batch.column("text").to_pylist())
            yield pyarrow.RecordBatch.from_arrays([batch.column("number"), pyarrow.array(lines)], names=["number", "line"])

spark = (SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
         .config("spark.executorEnv.PYTHONPATH", os.environ.get("PYTHONPATH", "")).getOrCreate())
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
table = spark.createDataFrame(list(enumerate(lines)), "number int, text string")
rows = table.repartition(8).mapInArrow(translate_batches, "number int, line string").collect()
sys.stdout.write("".join(r.line + "\n" for r in sorted(rows, key=lambda r: r.number)))
spark.stop()
EOF
}

echo "| artifact | sha256 of the translation |"
echo "|---|---|"
program "program, gcc" build/release/cli/ganz
program "program, clang" build/clang/cli/ganz
program "one static file (musl)" build/static/cli/ganz
if [ -x build/static-models/cli/ganz ]; then row "one static file with models, in an empty root" empty_root
else missing "one static file with models" "no build/static-models"; fi
if [ -x build/release/cli/ganz ]; then
  build/release/cli/ganz serve --port "$port" --timeout 600 2>"$work/server.log" &
  server=$!
  row "server, LibreTranslate's interface" ask_server
fi
cd "$work" # else the sources could be taken for the package
if "$python" -c 'import ganz' 2>/dev/null; then row "Python package" ask_python; else missing "Python package" "not installed"; fi
if "$python" -c 'import ganz, pyspark, pyarrow' 2>/dev/null && command -v java >/dev/null; then
  row "Spark, two executors, 8 partitions" ask_spark
else missing "Spark" "no pyspark, pyarrow or Java"; fi
for folder in ${folders[@]+"${folders[@]}"}; do
  note "Debian packages, ${folder##*/}" "$(cut -d' ' -f1 "$folder/sha256")"
done
[ "$(sort -u "$work/sums" | wc -l)" = 1 ] || { echo "artifacts_check: not all are equal" >&2; exit 1; }
echo "artifacts_check: $(wc -l <"$work/sums") artifacts, one sha256"
