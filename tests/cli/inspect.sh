# ganz inspect: text and JSON, float and integer models, the audit, refusals. MAKE_MODEL writes a small random model.
$MAKE_MODEL float.safetensors 5 || fail "no model"
head -n 40 "$HERE/../data/tatoeba.en" >text
$GANZ quantize --quiet --model float.safetensors --calibrate text --out int.safetensors || fail "no integer model"

# number KEY LINE: the value of a key in a line of JSON
number() { sed -E "s/.*\"$1\":([-0-9.e+]+).*/\1/" <<<"$2"; }
# products FILE CODE: awk over the products in a file of JSON; v(key) is a value of the product, bad() a failure
products() {
  awk "function v(key, text) { text = \$0; sub(\".*\\\"\" key \"\\\":\", \"\", text); return text + 0 }
    function bad() { print; wrong = 1 }
    /^{\"name\":/ { $2 }
    END { exit wrong }" "$1"
}

# 2 + 2 layers: 2 * (6 + 2) + 2 * (10 + 4) + 1 products
$GANZ inspect int.safetensors >out || fail "it fails"
grep -q '^45 products: 45 integer, 0 float$' out || fail "no count of the products: $(cat out)"
grep -q '^int.safetensors: .* bytes, checksums agree$' out || fail "no checksums"
grep -q '2 + 2 layers, width 32, feed-forward 48, 4 heads' out || fail "no network"
grep -qE '^dec.1.cross.uv +8 x 64 keys +8 .* 2,072,640 < 2\^21$' out || fail "no products: $(grep dec.1.cross.uv out)"
grep -q 'No sum exceeds 178 \* 255 \* 127 = 5,764,530 < 2^23 (dec.0.self.uv): 32 bits hold them all.' out ||
  fail "no proof"
$GANZ inspect float.safetensors >out || fail "it fails"
grep -q '^45 products: 0 integer, 45 float$' out || fail "a float model has integer products"
equal "float products" 45 "$(grep -c ' x .* float$' out)"

# JSON: one object for each product; no sum can leave 32 bits
$GANZ inspect --json int.safetensors >json || fail "--json"
equal "objects" 45 "$(grep -c '^{"name":' json)"
equal "integer products" 45 "$(number integer_products "$(head -n 1 json)")"
equal "float products" 0 "$(number float_products "$(head -n 1 json)")"
products json 'worst = v("depth") * (/"kind":"uv"/ ? 255 : 127) * 127; bits = v("worst_bits")
  if (v("worst_sum") != worst || worst >= 2 ^ bits || worst < 2 ^ (bits - 1) || bits > 31) bad()' || fail "a worst sum"

# the audit: every product ran, in integers alone
$GANZ inspect --audit text --json int.safetensors >json || fail "--audit"
equal "integer products that ran" 45 "$(number integer_products "$(head -n 1 json)")"
equal "float products that ran" 0 "$(number float_products "$(head -n 1 json)")"
equal "lines" 40 "$(number audited_lines "$(head -n 1 json)")"
products json 'if (!(v("integer_runs") > 0) || v("float_runs") != 0) bad()
  if (!(v("largest_sum") > 0) || v("largest_sum") > v("worst_sum") || v("clipped") > v("codes")) bad()' ||
    fail "a count"
gzip -k text
$GANZ inspect --quiet --audit text.gz int.safetensors >out || fail "--audit of a compressed text"
grep -q '^45 products: 45 integer, 0 float$' out || fail "products of the audit"
grep -q '^40 lines: .* products in integers, 0 in float; ' out || fail "totals: $(tail -n 2 out)"
$GANZ inspect --audit - float.safetensors <text >out || fail "--audit of a float model"
grep -q '^45 products: 0 integer, 45 float$' out || fail "products of the audit of a float model"
$GANZ inspect --audit /dev/null int.safetensors | grep -q '^45 products: 0 integer, 0 float, the rest never ran$' ||
  fail "empty audit"
GANZ_MODEL=int.safetensors $GANZ inspect | grep -q '45 integer' || fail "GANZ_MODEL"

mkdir -p put/bin/models && cp "$GANZ" put/bin && cp int.safetensors put/bin/models/en-de.safetensors
put/bin/ganz inspect | grep -q '45 integer' || fail "the default model"

# refusals
mkdir bin && cp "$GANZ" bin
refuses 1 'no model: name one or set GANZ_MODEL' bin/ganz inspect
refuses 2 'one model at a time' $GANZ inspect float.safetensors int.safetensors
refuses 1 'nothing' $GANZ inspect nothing
refuses 1 'nothing' $GANZ inspect --audit nothing int.safetensors
printf 'fine\nb\xffd\n' >bad
refuses 1 'bad:2: not UTF-8' $GANZ inspect --audit bad int.safetensors
head -c 5000 int.safetensors >half
refuses 1 'half: ' $GANZ inspect half
{ head -c 40000 int.safetensors; printf 'xx'; tail -c +40003 int.safetensors; } >spoilt
refuses 1 'spoilt: tensor .* damaged' $GANZ inspect spoilt
refuses 1 'spoilt: tensor .* damaged' $GANZ translate --model spoilt -o said text
sed 's/"bits":"8"/"bits":"7"/' int.safetensors >turned
refuses 1 'turned: the header is damaged' $GANZ inspect turned
refuses 1 'turned: the header is damaged' $GANZ translate --model turned -o said text
sed 's/"xxh3":/"none":/; s/"bits":"8"/"bits":"7"/' int.safetensors >turned
refuses 1 'turned: the header is damaged' $GANZ inspect turned
[ -e said ] && fail "a damaged model writes something"

refuses 2 '--beam goes with --audit' $GANZ inspect --beam 2 int.safetensors
refuses 2 'goes with nothing else' $GANZ inspect --vocab --json int.safetensors
exit 0
