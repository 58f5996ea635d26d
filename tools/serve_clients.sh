#!/bin/bash
# serve_clients.sh [GANZ]: real clients from PyPI against `ganz serve`, in an environment of their own: deepl,
# libretranslatepy, deep-translator, and schemathesis over /spec. Skipped (77) where pip or PyPI is missing.
# SCHEMATHESIS_EXAMPLES: requests for each address (20). SERVE_CLIENTS: a folder that keeps the environment. Versions are
# named, so that a new one of theirs is no failure of ours; LATEST=1 takes the newest.
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 0 1 "$@"
cd "$(dirname "$0")/.."
ganz=${1:-build/release/cli/ganz}
[ -x "$ganz" ] || { echo "serve_clients: build ganz first"; exit 1; }
place=${SERVE_CLIENTS:-$(mktemp -d)}
[ -n "${SERVE_CLIENTS:-}" ] || trap 'rm -rf "$place"' EXIT
if [ ! -x "$place/bin/deepl" ]; then
  python3 -m venv "$place" >/dev/null 2>&1 || { echo "serve_clients: skipped, python3 has no venv"; exit 77; }
  clients="deepl==1.32.0 libretranslatepy==2.1.4 deep-translator==1.11.4 schemathesis==4.32.5"
  [ -z "${LATEST:-}" ] || clients="deepl libretranslatepy deep-translator schemathesis"
  # shellcheck disable=SC2086
  "$place/bin/pip" --retries 0 --timeout 10 install -q $clients >/dev/null 2>&1 ||
    { echo "serve_clients: skipped, PyPI cannot be reached"; exit 77; }
fi
PYTHONPATH=tests/serve "$place/bin/python" tests/serve/clients.py "$ganz" "$place/bin/schemathesis" "${SCHEMATHESIS_EXAMPLES:-20}"
