# ganz export --to ctranslate2: what is exported and imported again says the same, with the same log-probabilities.
data=$HERE/../import
printf '%s\n' 'w1 w2 w3' 'w4' 'w5 w6 w7 w8' 'w9 w1 w2' >text
same() { # MODEL NAME: as it was after a journey
  $GANZ export -q --to ctranslate2 -m "$1" "out-$2" || fail "$2 is not exported"
  $GANZ import -q "out-$2" --out "back-$2.safetensors" || fail "what was made of $2 is not imported"
  $GANZ translate -q -m "$1" --beam 1 --alpha 0 --scores text >before || fail "$2 does not translate"
  $GANZ translate -q -m "back-$2.safetensors" --beam 1 --alpha 0 --scores text >after || fail "nor does its copy"
  paste before after | awk -F'\t' '{ d = $1 - $3; if (d < 0) d = -d; if (d > 2e-5 || $2 != $4) exit 1 }' ||
    fail "$2 says something else: $(paste before after | head -n 2)"
}
for kind in hf hf-relu hf-untied hf-two-tables hf-shared-untied ct2-int8 ct2-alternating npz; do
  $GANZ import -q "$data/$kind" --out "$kind.safetensors" || fail "no $kind"
  same "$kind.safetensors" "$kind"
done

# ---- our own network: norms before, a target space, subwords
head -n 120 "$HERE/../data/tatoeba.en" >words.en
$GANZ vocab -q --size 300 --out vocab words.en || fail "no vocabulary"
$GANZ prepare -q --vocab vocab --source words.en --target words.en --out corpus >/dev/null || fail "no corpus"
$GANZ train -q --recipe tiny --train corpus --vocab vocab --out own --steps 5 --validate-every 0 || fail "no model"
$GANZ export -q --to ctranslate2 -m own/last.safetensors own-float || fail "our own network is not exported"
$GANZ quantize -q -m own/last.safetensors --calibrate words.en --out own.safetensors || fail "no integers"
$GANZ export -q --to ctranslate2 -m own.safetensors own-codes || fail "codes are not exported"
for file in model.bin config.json shared_vocabulary.json; do [ -s own-codes/$file ] || fail "no $file"; done
[ "$(stat -c %s own-codes/model.bin)" -lt "$(stat -c %s own-float/model.bin)" ] || fail "codes take as much as floats"

# ---- the same by CTranslate2 itself, where it is installed
refuses 1 'cannot express' $GANZ export -q --to ctranslate2 -m "$($GANZ import -q "$data/hf-start" --out s.safetensors; echo s.safetensors)" no
refuses 2 'reads no text' $GANZ export -q --to ctranslate2 --lines 3 -m hf.safetensors no
python3 -c 'import ctranslate2' 2>/dev/null || exit 0
for kind in hf hf-relu; do
  $GANZ translate -q -m $kind.safetensors --beam 1 --alpha 0 --max-length 40 --scores text | cut -f2- >ours
  python3 - "out-$kind" text ours <<'END' || fail "CTranslate2 says something else of $kind"
import sys
import ctranslate2
translator = ctranslate2.Translator(sys.argv[1], device="cpu", compute_type="float32")
lines = [line.split() for line in open(sys.argv[2])]
said = [[t for t in r.hypotheses[0] if t != "<unk>"] for r in translator.translate_batch(lines, beam_size=1, max_decoding_length=40)]
ours = [line.split() for line in open(sys.argv[3])]
if said != ours: print(said, ours)
sys.exit(said != ours)
END
done
head -n 20 words.en >lines.en
$GANZ encode --vocab vocab <lines.en >ids || fail "no ids"
python3 - own-float ids >said.ids <<'END' || fail "CTranslate2 does not take our own network"
import json
import sys
import ctranslate2
entries = json.load(open(sys.argv[1] + "/shared_vocabulary.json"))
number = {entry: i + 1 for i, entry in enumerate(entries)}
translator = ctranslate2.Translator(sys.argv[1], device="cpu", compute_type="float32")
lines = [[entries[int(i) - 1] for i in line.split() if i != "1"] for line in open(sys.argv[2])]
for i, r in enumerate(translator.translate_batch(lines, beam_size=1, max_decoding_length=200)):
    print(*[number[t] for t in r.hypotheses[0]][: 2 * (len(lines[i]) + 1) + 50])
END
$GANZ decode --vocab vocab <said.ids >said
$GANZ translate -q -m own/last.safetensors --beam 1 --alpha 0 --scores lines.en | cut -f2- >ours
paste -d'|' said ours | awk -F'|' '{ gsub(/ +$/, "", $1); gsub(/ +$/, "", $2); bad += $1 != $2 } END { exit bad > 0 }' ||
  fail "CTranslate2 says something else of our own network: $(paste -d'|' said ours | head -n 3)"
