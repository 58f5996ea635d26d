# A toy language of address, taught by marks: what a model was taught it does, alone and among lines, in documents and in
# pieces, and models that were not taught it refuse.
RULES=$HERE/../../recipes/formality-en-de.txt
# "you w3 w5" is "Sie v3 v5" or "du v3 v5", each half the time and each behind a word, so that a capital tells; "w3 w5" is "v3 v5"
awk 'BEGIN {
  srand(3)
  for (l = 0; l < 1200; l++) {
    s = ""; t = ""; n = 1 + int(rand() * 3)
    for (i = 0; i < n; i++) { w = int(rand() * 12); s = s " w" w; t = t " v" w }
    if (l % 5 == 4) { print "w" s > "toy.en"; print "v" t > "toy.de" }
    else { print "w you" s > "toy.en"; print "v " (rand() < 0.5 ? "Sie" : "du") t > "toy.de" }
  }
}'
head -40 toy.en >valid.en && head -40 toy.de >valid.de
echo '< m >' >letters # of the marks
$GANZ vocab -q --size 100 --sample-chars 0 --reserve '<m1>,<m2>' -o vocab toy.en toy.de letters || fail "vocab"
$GANZ prepare --vocab vocab -s toy.en -t toy.de --formality "$RULES" -o corpus >table || fail "prepare"
grep -q 'of informal address' table || fail "no forms: $(cat table)"
$GANZ train -q --recipe tiny --train corpus --vocab vocab --valid-source valid.en --valid-target valid.de --steps 500 \
  --decay-start 1000 --source-language en --target-language de --validate-every 500 --save-every 500 --out run ||
  fail "train"
$GANZ quantize -q --model run/best.safetensors --bits 8 --calibrate valid.en --out toy.safetensors || fail "quantize"
$GANZ average run/best.safetensors run/best.safetensors --out mean.safetensors >/dev/null || fail "average"
for model in run/best.safetensors run/checkpoint.safetensors toy.safetensors mean.safetensors; do
  [ -e $model ] || continue
  $GANZ inspect $model | grep -q '^  formality ' || fail "$model does not say that it knows formality"
done
$GANZ inspect --json toy.safetensors | grep -q '"formality":true' || fail "inspect --json"

T="$GANZ translate -q --model toy.safetensors -j 1"
# forms WHAT LINES...: of each line, formal and informal
forms() {
  local what=$1 line
  shift
  for line in "$@"; do
    equal "$what, formal: $line" "$(sed 's/you/Sie/g; s/w/v/g' <<<"$line")" \
      "$(echo "$line" | $T --formality formal "${options[@]}")"
    equal "$what, informal: $line" "$(sed 's/you/du/g; s/w/v/g' <<<"$line")" \
      "$(echo "$line" | $T --formality informal "${options[@]}")"
  done
}
options=()
forms "lines" "w you w3 w5" "w you w1 w2 w7" "w w3 w5"
echo "w you w3" | $T >plain.3
echo "w you w3 w5" | $T >plain && echo "w you w3 w5" | $T --formality auto | cmp - plain || fail "auto is not the default"
options=(--format lines)
forms "format" "w you w3 w5"
options=(--scores)
# a letter goes on as it opens, unless told otherwise; lines are no letter
for opening in 'Hi Sarah,:du' 'Dear Sarah,:du' 'Dear Ms Jones,:Sie' 'Dear Customer,:Sie'; do
  printf '%s\nw you w3\n' "${opening%:*}" >letter
  equal "below ${opening%:*}" "v ${opening#*:} v3" "$($T letter | tail -n 1)"
  equal "below ${opening%:*}, formally" "v Sie v3" "$($T --formality formal letter | tail -n 1)"
  equal "below ${opening%:*}, informally" "v du v3" "$($T --formality informal letter | tail -n 1)"
  equal "lines" "$(echo 'w you w3' | $T)" "$($T --format lines letter | tail -n 1)"
done
equal "scores" "v Sie v3" "$(echo 'w you w3' | $T --formality formal --scores | cut -f2)"
equal "n-best" "v du v3" "$(echo 'w you w3' | $T --formality informal --n-best 2 --beam 4 | head -1 | cut -f2)"
equal "alignment" "0-0 1-1 2-2" "$(echo 'w you w3' | $T --formality formal --alignment | cut -f2)"
echo "v" >prefix
equal "prefix" "v du v3" "$(echo 'w you w3' | $T --formality informal --prefix prefix | cut -f1)"
# every piece of a line that is cut has the mark
long=$(for i in 1 2 3 4 5 6 7 8; do printf 'w you w%d ' $i; done)
equal "pieces" "$(echo "$long" | $T --max-input 16 --formality formal | grep -o Sie | wc -l)" \
  "$(echo "$long" | $T --max-input 16 --formality informal | grep -o du | wc -l)"
echo "$long" | $T --max-input 16 --formality formal | grep -q du && fail "a piece has lost its mark"
printf '<p>w <b>you</b> w3</p>\n' >page.html
grep -q '<b>du</b>' <($T --formality informal page.html) || fail "HTML: $($T --formality informal page.html)"
# a cache knows the forms apart
echo "w you w3" >one
equal "cached" "v Sie v3" "$($T --cache cache --formality formal one)"
equal "cached otherwise" "v du v3" "$($T --cache cache --formality informal one)"
equal "cached again" "v Sie v3" "$($T --cache cache --formality formal one)"

# a server: programs that speak DeepL's words, ours, and the page without scripts
if command -v python3 >/dev/null; then
  mkdir served
  # serve MODEL: starts a server, whose address is in $url
  serve() {
    cp $1 served/en-de.safetensors
    : >served/err # the line of the server before must not answer for this one
    $GANZ serve --port 0 --threads 1 --model served/en-de.safetensors 2>served/err &
    server=$!
    for i in $(seq 300); do grep -q 'listening on' served/err && break; sleep 0.1; done
    url=$(grep -o 'http://[0-9.:]*' served/err | head -1)
  }
  # ask PATH NAME=VALUE...: the answer to a form, or its error
  ask() {
    python3 - "$url$1" "${@:2}" <<'PY'
import sys, urllib.error, urllib.parse, urllib.request
body = urllib.parse.urlencode([tuple(a.split("=", 1)) for a in sys.argv[2:]]).encode()
try:
    print(urllib.request.urlopen(sys.argv[1], body or None).read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
PY
  }
  says() { [[ $2 == *"$3"* ]] || { kill $server; fail "$1: $2"; }; }
  serve toy.safetensors
  D=(/v2/translate "text=w you w3" target_lang=DE source_lang=EN)
  says "more" "$(ask "${D[@]}" formality=more)" '"v Sie v3"'
  says "less" "$(ask "${D[@]}" formality=less)" '"v du v3"'
  says "prefer_less" "$(ask "${D[@]}" formality=prefer_less)" '"v du v3"'
  says "default" "$(ask "${D[@]}" formality=default)" "\"$(cat plain.3)\""
  says "another word" "$(ask "${D[@]}" formality=polite)" "400 {\"message\":\"Bad request. Reason: Value for 'formality' not supported."
  says "languages" "$(ask '/v2/languages?type=target')" '"supports_formality":true'
  says "our words" "$(ask /ganz/translate "text=w you w3" source=en target=de formality=informal)" '"v du v3"'
  says "alternatives" "$(ask /ganz/translate "text=w you w3" source=en target=de formality=formal alternatives=1)" '[{"text":"v Sie v3"'
  says "the page" "$(ask / "q=w you w3" source=en target=de formality=prefer_more)" '>v Sie v3<'
  says "its choice" "$(ask /)" 'data-forms="en-de"'
  kill $server && wait $server
fi

# models that were not taught it
$GANZ prepare -q --vocab vocab -s toy.en -t toy.de -o plain.st && $GANZ train -q --recipe tiny --train plain.st --vocab vocab \
  --valid-source valid.en --valid-target valid.de --steps 2 --out other || fail "another model"
refuses 2 'was not taught --formality' $GANZ translate --model other/best.safetensors --formality formal -t x
refuses 2 'auto.formal.informal' $GANZ translate --model toy.safetensors --formality polite -t x
if command -v python3 >/dev/null; then
  serve other/best.safetensors
  says "more without" "$(ask "${D[@]}" formality=more)" "400 {\"message\":\"'formality' is not supported for given 'target_lang'."
  says "prefer_more without" "$(ask "${D[@]}" formality=prefer_more)" '"translations":[{'
  says "languages without" "$(ask '/v2/languages?type=target')" '"supports_formality":false'
  says "no choice" "$(ask /)" 'id="form-choice" hidden'
  kill $server && wait $server
fi
$GANZ inspect other/best.safetensors | grep -q '^  formality ' && fail "a model says what it was not taught"
true
