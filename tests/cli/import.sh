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
# each option of Marian that ganz has no network for is named, and learned positions of others by their tensor
if command -v python3 >/dev/null; then
  mkdir marian learned changed
  $GANZ export -q --to ctranslate2 -m a.safetensors exported || fail "no folder to spoil"
  python3 - "$data" >options <<'END' || fail "no options"
import struct, sys, zipfile

data = sys.argv[1]
with zipfile.ZipFile(data + "/npz/model.npz") as z: parts = {name: z.read(name) for name in z.namelist()}
old = parts["special:model.yml.npy"]
begin = 10 + struct.unpack("<H", old[8:10])[0]
lines = old[begin:].rstrip(b"\0").decode().splitlines()
changes = ["type: s2s", "transformer-decoder-autoreg: average-attention", "transformer-ffn-depth: 3", "transformer-postprocess-emb: n",
           "lemma-dim-emb: 8", "transformer-decoder-dim-ffn: 4", "transformer-preprocess: h", "transformer-postprocess: r",
           "transformer-postprocess-top: n", "transformer-ffn-activation: tanh", "transformer-tied-layers: [1, 1]",
           "input-types: [class, sequence]"]
changes += [name + ": true" for name in ("transformer-no-projection", "transformer-train-position-embeddings", "transformer-train-positions",
            "ulr", "right-left", "layer-normalization", "transformer-pool", "transformer-rnn-projection")]
for i, change in enumerate(changes):
    key = change.split(":")[0]
    kept = [line for line in lines if not line.startswith(key + ":") and line != "  []"]
    yml = "\n".join([line for line in kept if line != "transformer-tied-layers:"] + [change, ""]).encode() + b"\0"
    head = f"{{'descr': '|i1', 'fortran_order': False, 'shape': ({len(yml)},), }}".ljust(117) + "\n"
    with zipfile.ZipFile(f"changed/{i}.npz", "w") as z:
        for name, x in parts.items():
            z.writestr(name, b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + head.encode() + yml if name == "special:model.yml.npy" else x)
    print(i, key)
for side in "encoder", "decoder":  # a number of the third row
    model = bytearray(open("exported/model.bin", "rb").read())
    at = model.index(side.encode() + b"/position_encodings/encodings\0") + len(side) + len("/position_encodings/encodings") + 1
    struct.pack_into("<f", model, at + 1 + 8 + 1 + 4 + 4 * 17, 7.0)
    open(f"changed/{side}.bin", "wb").write(model)
END
  cp "$data/npz/opus.vocab.yml" marian && cp exported/*.json learned
  [ "$(wc -l <options)" = 20 ] || fail "other options: $(cat options)"
  while read -r number key; do
    mv "changed/$number.npz" marian/model.npz
    refuses 1 "$key" $GANZ import -q marian --out c.safetensors
  done <options
  for side in encoder decoder; do
    mv changed/$side.bin learned/model.bin
    refuses 1 "$side/position_encodings/encodings are learned" $GANZ import -q learned --out c.safetensors
  done
  [ ! -e c.safetensors ] || fail "a refused model left a file"
fi
# sources without an end mark: corpora have none either, and a model that is trained with one keeps to it
$GANZ import -q "$data/ct2-bare" --out bare.safetensors || fail "no model of OpenNMT's kind"
$GANZ inspect bare.safetensors | grep -q "without an end mark" || fail "inspect does not say what sources lack"
printf 'w0 w2\nw4\n' >text
$GANZ prepare --vocab bare.safetensors --source text --target text --out corpus >said || fail "no corpus"
grep -q "source tokens *3$" said && grep -q "target tokens *5$" said || fail "other tokens: $(cat said)"
$GANZ train -q --model bare.safetensors --train corpus --out run --steps 2 --validate-every 0 || fail "no training"
$GANZ inspect run/last.safetensors | grep -q "without an end mark" || fail "training loses what sources lack"

# a model whose numbers overflow is refused, and one that stood there stays; a link stays a link
cp -r "$HERE/../import/hf" over
$GANZ import -q over --out good.safetensors || fail "no model to keep"
ln -s good.safetensors link.safetensors
rm -f before; cp good.safetensors before
$GANZ import -q over --out link.safetensors --licence MIT || fail "not through a link"
[ -L link.safetensors ] && ! cmp -s before good.safetensors || fail "a link was replaced"
cp good.safetensors before
command -v python3 >/dev/null && {
  python3 - over/model.safetensors <<'END'
import array, struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
head = 8 + struct.unpack("<Q", data[:8])[0]
data[head:] = array.array("f", [1e15]).tobytes() * ((len(data) - head) // 4)
open(sys.argv[1], "wb").write(data)
END
  refuses 1 'overflow' $GANZ import -q over --out good.safetensors
  cmp before good.safetensors || fail "a model that was refused replaces a good one"
  equal "what is left" "good.safetensors" "$(ls good.safetensors*)"
}
true
