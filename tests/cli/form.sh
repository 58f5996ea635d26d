# The page of ganz serve without a browser: its texts, its headers, the form.
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
python3 "$HERE/../serve/test_page.py" "$GANZ" "$HERE/../../web" || fail "see above"
