# ganz export --to ctranslate2, hf, npz: what is exported and imported again says the same, with the same
# log-probabilities; and files have the names and numbers that transformers and Marian gave them.
data=$HERE/../import
printf '%s\n' 'w1 w2 w3' 'w4' 'w5 w6 w7 w8' 'w9 w1 w2' >text
same() { # MODEL NAME FORMAT: as it was after a journey
  $GANZ export -q --to "$3" -m "$1" "$3-$2" || fail "$2 is not exported to $3"
  $GANZ import -q "$3-$2" --out "$3-$2.safetensors" || fail "what $3 was made of $2 is not imported"
  $GANZ translate -q -m "$1" --beam 1 --alpha 0 --max-length 40 --scores text >before || fail "$2 does not translate"
  $GANZ translate -q -m "$3-$2.safetensors" --beam 1 --alpha 0 --max-length 40 --scores text >after || fail "nor does its copy"
  paste before after | awk -F'\t' '{ d = $1 - $3; if (d < 0) d = -d; if (d > '"${4:-2e-5}"' || $2 != $4) exit 1 }' ||
    fail "$2 says something else after $3: $(paste before after | head -n 2)"
}
for kind in hf hf-relu hf-untied hf-two-tables hf-shared-untied ct2-int8 ct2-alternating ct2-bare npz; do
  $GANZ import -q "$data/$kind" --out "$kind.safetensors" || fail "no $kind"
  same "$kind.safetensors" "$kind" ctranslate2
done
# Hugging Face's class adds 1e-5 to variances, Marian 1e-6; Marian has positions of its own
$GANZ import -q "$data/hf-start" --out hf-start.safetensors || fail "no hf-start"
for kind in hf hf-relu hf-untied hf-two-tables hf-shared-untied hf-start ct2-int8 ct2-alternating; do
  same "$kind.safetensors" "$kind" hf 1e-6
done
same npz.safetensors npz hf 2e-3
$GANZ import -q "$data/bin-codes" --out bin-codes.safetensors || fail "no bin-codes"
for kind in npz bin-codes; do same "$kind.safetensors" "$kind" npz 1e-6; done
for kind in hf hf-untied hf-two-tables hf-shared-untied; do
  $GANZ export -q --to npz -m "$kind.safetensors" "npz-$kind" || fail "$kind is not exported to npz"
  $GANZ import -q "npz-$kind" --out "npz-$kind.safetensors" || fail "the npz of $kind is not imported"
done
refuses 1 'a vector of its own' $GANZ export -q --to npz -m hf-start.safetensors no
refuses 1 'another factor' $GANZ export -q --to npz -m hf-relu.safetensors no
for to in hf npz; do refuses 1 'does not want' $GANZ export -q --to $to -m ct2-bare.safetensors no; done
[ -e no ] && fail "a folder for nothing"

# ---- integers leave as floats, of the same numbers as their codes
$GANZ import -q "$data/hf" --out f.safetensors && printf 'w1 w2 w3\nw9 w5\n' >steps &&
  $GANZ quantize -q -m f.safetensors --calibrate steps --per-row --out i.safetensors || fail "no integers"
for to in hf npz; do $GANZ export -q --to $to -m i.safetensors codes-$to || fail "codes do not leave as $to"; done
# two lines leave columns that never change: numbers stay finite all the same
$GANZ quantize -q -m f.safetensors --calibrate steps --columns --out few.safetensors && $GANZ translate -q -m few.safetensors text >/dev/null ||
  fail "columns of two lines"
# so do weights by steps of columns, which say nearly the same without the rounding of inputs
$GANZ quantize -q -m f.safetensors --calibrate text --columns --out c.safetensors || fail "no columns"
$GANZ translate -q -m c.safetensors --beam 1 --alpha 0 --max-length 3 --scores text >before || fail "columns do not translate"
for to in hf npz ctranslate2; do
  $GANZ export -q --to $to -m c.safetensors columns-$to || fail "weights by columns do not leave as $to"
  $GANZ import -q columns-$to --out columns-$to.safetensors || fail "nor come back from $to"
  [ $to = npz ] && continue # other positions
  $GANZ translate -q -m columns-$to.safetensors --beam 1 --alpha 0 --max-length 3 --scores text >after || fail "nor translate"
  paste before after | awk -F'\t' '{ d = $1 - $3; if (d < 0) d = -d; if (d > 0.5 || $2 != $4) exit 1 }' ||
    fail "columns say something else after $to: $(paste before after)"
done

# ---- the files themselves, by a reader of a few lines: names and numbers are those of the folders that transformers and
# NumPy wrote; a recurrent decoder of Firefox's kind makes the journey too
if command -v python3 >/dev/null; then
  python3 - "$data" >said 2>&1 <<'END' || fail "$(tail -n 1 said)"
import ast, json, random, struct, sys, zipfile

data = sys.argv[1]


def safetensors(path):
    d = open(path, "rb").read()
    n = struct.unpack("<Q", d[:8])[0]
    head = json.loads(d[8 : 8 + n])
    assert head.pop("__metadata__")["format"] == "pt"
    return {k: (v["shape"], d[8 + n + v["data_offsets"][0] : 8 + n + v["data_offsets"][1]]) for k, v in head.items()}


def npz(path):
    out = {}
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None
        for name in z.namelist():
            d = z.read(name)
            n = struct.unpack("<H", d[8:10])[0]
            out[name[:-4]] = (list(ast.literal_eval(d[10 : 10 + n].decode())["shape"]), d[10 + n :])
    return out


def compare(ours, theirs, bent):
    if set(ours) != set(theirs): sys.exit(f"names {sorted(set(ours) ^ set(theirs))}")
    for name, (shape, numbers) in theirs.items():
        if name.startswith("special:"): continue
        if ours[name][0] != shape: sys.exit(f"{name} has the shape {ours[name][0]}")
        if any(word in name for word in bent): continue  # folded biases, rows in another order
        if ours[name][1] != numbers: sys.exit(f"{name} has other numbers")


compare(safetensors("hf-hf/model.safetensors"), safetensors(data + "/hf/model.safetensors"),
        ("k_proj.bias", "v_proj.bias", "out_proj.bias", "shared", "final_logits"))
compare(npz("npz-npz/model.npz"), npz(data + "/npz/model.npz"), ("_bk", "_bv", "_bo", "Wemb", "logit_out_b"))
table = sorted(struct.unpack("<136f", safetensors("hf-hf/model.safetensors")["model.shared.weight"][1]))
if table != sorted(struct.unpack("<136f", safetensors(data + "/hf/model.safetensors")["model.shared.weight"][1])):
    sys.exit("the table has other rows")
vocab, config = json.load(open("hf-hf/vocab.json")), json.load(open("hf-hf/config.json"))
if vocab["<pad>"] != config["pad_token_id"] or vocab["</s>"] != config["eos_token_id"]: sys.exit("marks have other numbers")

# a recurrent decoder
random.seed(1)
d, f, v = 8, 12, 11
arrays = {"Wemb": (v, d), "decoder_ff_logit_out_b": (1, v)}
for side in ("encoder", "decoder"):
    l = f"{side}_l1_"
    for group in ("self",) if side == "encoder" else ("context",):
        for x in "qkvo": arrays[l + group + "_W" + x], arrays[l + group + "_b" + x] = (d, d), (1, d)
        arrays[l + group + "_Wo_ln_scale"] = arrays[l + group + "_Wo_ln_bias"] = (1, d)
    arrays[l + "ffn_W1"], arrays[l + "ffn_b1"], arrays[l + "ffn_W2"], arrays[l + "ffn_b2"] = (d, f), (1, f), (f, d), (1, d)
    arrays[l + "ffn_ffn_ln_scale"] = arrays[l + "ffn_ffn_ln_bias"] = (1, d)
arrays.update({"decoder_l1_rnn_W": (d, d), "decoder_l1_rnn_Wf": (d, d), "decoder_l1_rnn_bf": (1, d),
               "decoder_l1_rnn_ffn_ln_scale": (1, d), "decoder_l1_rnn_ffn_ln_bias": (1, d)})


def array(kind, shape, numbers):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + head.encode() + numbers


import os

os.mkdir("ssru")
yml = (f"type: transformer\ndim-emb: {d}\ntransformer-dim-ffn: {f}\ntransformer-heads: 2\nenc-depth: 1\ndec-depth: 1\n"
       "transformer-postprocess: dan\ntransformer-ffn-activation: relu\ntransformer-decoder-autoreg: rnn\ndec-cell: ssru\n")
with zipfile.ZipFile("ssru/model.npz", "w") as z:
    for name, shape in arrays.items():
        n = shape[0] * shape[1]
        z.writestr(name + ".npy", array("<f4", shape, struct.pack(f"<{n}f", *(random.gauss(0, 0.4) for _ in range(n)))))
    z.writestr("special:model.yml.npy", array("|i1", f"({len(yml) + 1},)", yml.encode() + b"\0"))
with open("ssru/x.vocab.yml", "w") as out:
    for i, word in enumerate(["</s>", "<unk>"] + [f"w{i}" for i in range(1, v - 1)]): out.write(f"{word}: {i}\n")
END
  $GANZ import -q ssru --out ssru.safetensors || fail "no recurrent decoder"
  same ssru.safetensors ssru npz 1e-6
  refuses 1 'recurrent' $GANZ export -q --to hf -m ssru.safetensors no
  refuses 1 'recurrent' $GANZ export -q --to ctranslate2 -m ssru.safetensors no
fi

# ---- our own network: norms before, a target space, subwords
head -n 120 "$HERE/../data/tatoeba.en" >words.en
$GANZ vocab -q --size 300 --out vocab words.en || fail "no vocabulary"
$GANZ prepare -q --vocab vocab --source words.en --target words.en --out corpus >/dev/null || fail "no corpus"
$GANZ train -q --recipe tiny --train corpus --vocab vocab --out own --steps 5 --validate-every 0 || fail "no model"
$GANZ export -q --to ctranslate2 -m own/last.safetensors own-float || fail "our own network is not exported"
$GANZ quantize -q -m own/last.safetensors --calibrate words.en --out own.safetensors || fail "no integers"
$GANZ export -q --to ctranslate2 -m own.safetensors own-codes || fail "codes are not exported"
for file in model.bin config.json shared_vocabulary.json vocab.subwords; do [ -s own-codes/$file ] || fail "no $file"; done
[ "$(stat -c %s own-codes/model.bin)" -lt "$(stat -c %s own-float/model.bin)" ] || fail "codes take as much as floats"

for model in own/last.safetensors own.safetensors; do
  rm -rf own-hf
  $GANZ export -q --to hf -m $model own-hf || fail "$model is not exported to hf"
  grep -q PegasusForConditionalGeneration own-hf/config.json || fail "another class"
  cmp -s vocab own-hf/vocab.subwords || fail "another vocabulary"
  refuses 1 'target space' $GANZ export -q --to npz -m $model no
done

# ---- a folder with something in it would become a mixture
mkdir full && echo mine >full/config.json
for to in ctranslate2 hf onnx; do refuses 1 'full: the folder is not empty' $GANZ export -q --to $to -m own.safetensors full; done
refuses 1 'full: the folder is not empty' $GANZ export -q --to npz -m npz.safetensors full
equal "what was there" "config.json mine" "$(ls full) $(cat full/config.json)"

# ---- the same by CTranslate2 itself, where it is installed
refuses 1 'cannot express' $GANZ export -q --to ctranslate2 -m hf-start.safetensors no
refuses 2 'reads no text' $GANZ export -q --to ctranslate2 --lines 3 -m hf.safetensors no
python3 -c 'import ctranslate2' 2>/dev/null || exit 0
for kind in hf hf-relu; do
  $GANZ translate -q -m $kind.safetensors --beam 1 --alpha 0 --max-length 40 --scores text | cut -f2- >ours
  python3 - "ctranslate2-$kind" text ours <<'END' || fail "CTranslate2 says something else of $kind"
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
