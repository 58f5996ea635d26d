# ganz serve: the tests are tests/serve/test_serve.py and test_languages.py, a client that speaks HTTP byte by byte.
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
python3 "$HERE/../serve/test_languages.py" "$GANZ" || fail "see above"
python3 "$HERE/../serve/test_serve.py" "$GANZ" || fail "see above"
python3 "$HERE/../serve/test_room.py" "$GANZ" || fail "see above"
