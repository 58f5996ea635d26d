# Clients of others against ganz serve, from PyPI; skipped where pip or PyPI is missing.
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
SCHEMATHESIS_EXAMPLES=${SCHEMATHESIS_EXAMPLES:-5} "$HERE/../../tools/serve_clients.sh" "$GANZ" || { [ $? = 77 ] && exit 77; fail "see above"; }
