#!/bin/bash
# serve_clients.sh [GANZ]: real clients from PyPI against `ganz serve`, in an environment of their own: deepl,
# libretranslatepy, deep-translator, and schemathesis over /spec. Skipped (77) where pip or PyPI is missing.
# SCHEMATHESIS_EXAMPLES: requests for each address (20).
set -eu
cd "$(dirname "$0")/.."
ganz=${1:-build/release/cli/ganz}
[ -x "$ganz" ] || { echo "serve_clients: build ganz first"; exit 1; }
place=${SERVE_CLIENTS:-$(mktemp -d)}
[ -n "${SERVE_CLIENTS:-}" ] || trap 'rm -rf "$place"' EXIT
if [ ! -x "$place/bin/deepl" ]; then
  python3 -m venv "$place" >/dev/null 2>&1 || { echo "serve_clients: skipped, python3 has no venv"; exit 77; }
  "$place/bin/pip" install -q deepl libretranslatepy deep-translator schemathesis >/dev/null 2>&1 ||
    { echo "serve_clients: skipped, PyPI cannot be reached"; exit 77; }
fi
PYTHONPATH=tests/serve "$place/bin/python" tests/serve/clients.py "$ganz" "$place/bin/schemathesis" "${SCHEMATHESIS_EXAMPLES:-20}"
