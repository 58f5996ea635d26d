# The page of ganz serve in a browser; skipped where Chromium or its Python packages are missing.
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
"${PYTHON:-python3}" "$HERE/../../tools/page_check.py" "$GANZ" || { [ $? = 77 ] && exit 77; fail "see above"; }
