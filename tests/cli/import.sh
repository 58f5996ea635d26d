# ganz import: what it prints, what it refuses, and that inspect shows where a model comes from.
data=$HERE/../import
$GANZ import "$data/hf" --out a.safetensors --from xx --to yy --licence CC0 --sentence "w1 w2" >said || fail "import"
for word in "MarianMT of Hugging Face, hf" "width 8" "17 entries" "xx to yy" "CC0" "w1 w2 ->"; do
  grep -q "$word" said || fail "does not say $word: $(cat said)"
done
$GANZ inspect a.safetensors >facts
grep -q "origin.*MarianMT" facts && grep -q "licence.*CC0" facts || fail "inspect does not show the origin"
$GANZ import "$data/ct2-int8/model.bin" --out b.safetensors --quiet >said || fail "a file instead of its folder"
[ ! -s said ] || fail "--quiet prints"
mkdir empty
for bad in empty "$data/hf/vocab.json" missing; do
  ! $GANZ import "$bad" --out c.safetensors 2>message || fail "$bad is taken"
  [ "$(wc -l <message)" = 1 ] || fail "no sentence about $bad: $(cat message)"
  [ ! -e c.safetensors ] || fail "$bad left a file"
done
