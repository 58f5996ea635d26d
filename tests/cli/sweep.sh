# Calls that fail one by one, in a sample of those that tools/sweep.sh has; BUILD is where the programs are.
export LIMIT=5
"$HERE/../../tools/sweep.sh" "$BUILD" 41 "memory disk" >log 2>&1 || fail "$(cat log)"
FIRST=7 "$HERE/../../tools/sweep.sh" "$BUILD" 17 disk train >log 2>&1 || fail "$(cat log)"
if command -v python3 >/dev/null; then
  python3 "$HERE/../../tools/sweep_serve.py" "$BUILD" 29 "memory disk" >log 2>&1 || fail "$(cat log)"
fi
exit 0
