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
# sources without an end mark: corpora have none either, and a model that is trained with one keeps to it
$GANZ import -q "$data/ct2-bare" --out bare.safetensors || fail "no model of OpenNMT's kind"
$GANZ inspect bare.safetensors | grep -q "without an end mark" || fail "inspect does not say what sources lack"
printf 'w0 w2\nw4\n' >text
$GANZ prepare --vocab bare.safetensors --source text --target text --out corpus >said || fail "no corpus"
grep -q "source tokens *3$" said && grep -q "target tokens *5$" said || fail "other tokens: $(cat said)"
$GANZ train -q --model bare.safetensors --train corpus --out run --steps 2 --validate-every 0 || fail "no training"
$GANZ inspect run/last.safetensors | grep -q "without an end mark" || fail "training loses what sources lack"
