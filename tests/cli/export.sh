# ganz export: records of products, which examples/replay_golden.py computes again (skipped without NumPy), and refusals.
$MAKE_MODEL float.safetensors 5 || fail "no model"
head -n 40 "$HERE/../data/tatoeba.en" >text
$GANZ quantize --quiet --model float.safetensors --calibrate text --out int8.safetensors || fail "no integer model"
$GANZ quantize --quiet --model float.safetensors --calibrate text --bits 6 --per-row --out int6.safetensors ||
  fail "no model of 6 bits"

# 2 + 2 layers: 2 * 6 + 2 * 10 + 1 dense products and 2 + 4 attentions for each line
for bits in 8 6; do
  $GANZ export --to golden --model int$bits.safetensors --text text --lines 3 out$bits >said || fail "it fails"
  grep -q '^117 integer products of 3 lines, .* MB; 0 in float are not written$' said || fail "it says $(cat said)"
  equal "runs" 117 "$(grep -c '"kind": ' out$bits/index.json)"
  equal "sources" "$(head -n 3 text)" "$(cat out$bits/source.txt)"
  $GANZ translate --scores --model int$bits.safetensors <out$bits/source.txt >lines || fail "translate"
  equal "translations" "$(cut -f2- lines)" "$(cat out$bits/translation.txt)" # as the model said them
done
$GANZ export --to golden --model int8.safetensors --text text --lines 1 one | grep -q ' products of 1 line, ' ||
  fail "the number of lines"
printf '\n' | $GANZ export -q --to golden --model int8.safetensors empty || fail "an empty line"
equal "runs of nothing" 0 "$(grep -c '"kind": ' empty/index.json)"

# refusals; nothing is there that looks whole
refuses 1 'the folder is not empty' $GANZ export --to golden --model int8.safetensors --text text out8
refuses 1 'a float model has no integer products' $GANZ export --to golden --model float.safetensors --text text none
[ -e none ] && fail "a folder for nothing"
refuses 2 'give --to FORMAT' $GANZ export none
refuses 2 'name one folder' $GANZ export --to golden
refuses 2 'is one of' $GANZ export --to silver none
refuses 1 'nothing' $GANZ export --to golden --model int8.safetensors --text nothing none
[ -e none ] && fail "a folder for a text that is not there"
printf 'fine\nb\xffd\n' >bad
refuses 1 'bad:2: ' $GANZ export --to golden --model int8.safetensors --text bad bad_out
[ -e bad_out ] && fail "half a text is left, and would be in the way of the next try"
mkdir bad_out
refuses 1 'bad:2: ' $GANZ export --to golden --model int8.safetensors --text bad bad_out
equal "what is left in a folder that was there" "" "$(ls -A bad_out)"
refuses 1 'no lines' $GANZ export --to golden --model int8.safetensors --text /dev/null none
[ -e none ] && fail "a record of nothing"

# ONNX: both graphs, read by a protobuf reader of a few lines: names are said before they are used, numbers are as many
# as the shape says. With ONNX Runtime they are run against the records (tools/onnx_check.py).
for model in int8 int6 float; do
  $GANZ export -q --to onnx --model $model.safetensors onnx_$model || fail "onnx of $model"
done
refuses 2 'reads no text' $GANZ export --to onnx --text text --model int8.safetensors none
command -v python3 >/dev/null || exit 77
python3 - onnx_*/*.onnx >said 2>&1 <<'END' || fail "$(tail -n 1 said)"
import math
import sys


def fields(data):
    at = 0

    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            size = varint() if key & 7 == 2 else 4
            yield key >> 3, data[at : at + size]
            at += size
            if at > len(data):
                sys.exit("a field beyond the end")


def every(message, field):
    return [value for number, value in fields(message) if number == field]


for path in sys.argv[1:]:
    (graph,) = every(open(path, "rb").read(), 7)
    known, codes = set(), 0
    for tensor in every(graph, 5):
        dims, (kind,), (name,), (raw,) = every(tensor, 1), every(tensor, 2), every(tensor, 8), every(tensor, 9)
        if len(raw) != math.prod(dims) * {1: 4, 2: 1, 3: 1, 7: 8}[kind] or name in known:
            sys.exit(f"{path}: {name}: {len(raw)} bytes of {dims}, or named twice")
        known.add(name)
        codes += kind == 3 and len(dims) == 2
    known |= {every(value, 1)[0] for value in every(graph, 11)}
    for node in every(graph, 1):
        if not set(every(node, 1)) <= known:
            sys.exit(f"{path}: {every(node, 4)} reads what is not there: {every(node, 1)}")
        known |= set(every(node, 2))
    if not {every(value, 1)[0] for value in every(graph, 12)} <= known:
        sys.exit(f"{path}: no output")
    products = sum(every(node, 4) == [b"Gemm"] for node in every(graph, 1))
    # 2 layers: 6 dense products each in the encoder, 10 in the decoder, and the logits; the table is also looked up
    if products != (12 if "encoder" in path else 21):
        sys.exit(f"{path}: {products} products")
    if codes != (0 if "float" in path else 13 if "encoder" in path else 21):
        sys.exit(f"{path}: {codes} matrices of codes")
END

python3 -c 'import numpy' 2>/dev/null || exit 77
if python3 -c 'import onnxruntime' 2>/dev/null; then
  for bits in 8 6; do
    $GANZ export -q --to golden --lines 20 --text text --model int$bits.safetensors long$bits || fail "20 lines"
    python3 "$HERE/../../tools/onnx_check.py" onnx_int$bits long$bits >said || fail "ONNX Runtime: $(cat said)"
  done
fi
replay() { python3 "$HERE/../../examples/replay_golden.py" "$1"; }
for bits in 8 6; do
  replay out$bits >said || fail "products of $bits bits differ: $(head -n 5 said)"
  equal "replayed" "117 products of 3 lines, 0 arrays that differ" "$(cat said)"
done
# a bit that is turned in any kind of file is noticed: one of the last byte, low in integers, high in floats
PYTHONDONTWRITEBYTECODE=1 python3 - "$HERE/../../examples" out6 >said 2>&1 <<'END' || fail "$(tail -n 1 said)"
import pathlib
import sys

sys.path.insert(0, sys.argv[1])
import replay_golden

folder = pathlib.Path(sys.argv[2])
for name in """weights/enc.1.ffn.in.codes weights/dec.0.self.k.step weights/dec.1.ffn.out.bias line-00002/dec.0.cross.q
    line-00001/dec.1.cross.k line-00003/enc.0.self.v line-00001/dec.1.ffn.out.x line-00001/logits.sums line-00002/logits.y
    line-00002/dec.1.self.scores line-00002/enc.1.self.u line-00003/dec.0.ffn.in.codes line-00001/enc.0.ffn.out.add
    """.split():
    path = folder / (name + ".npy")
    kept = path.read_bytes()
    turned = bytearray(kept)
    turned[-1] ^= 64 if b"f4" in kept[:128] else 1
    path.write_bytes(turned)
    if replay_golden.main(folder) == 0:
        sys.exit(f"a turned bit of {name} passes")
    path.write_bytes(kept)
sys.exit(replay_golden.main(folder))
END
exit 0
