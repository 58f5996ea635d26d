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
  $GANZ translate --format text --model int$bits.safetensors <out$bits/source.txt >lines || fail "translate"
  equal "translations" "$(cat lines)" "$(cat out$bits/translation.txt)"
done
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
[ -e none/index.json ] && fail "an index of nothing"
printf 'fine\nb\xffd\n' >bad
refuses 1 'bad:2: ' $GANZ export --to golden --model int8.safetensors --text bad bad_out
[ -e bad_out/index.json ] && fail "an index of half a text"

python3 -c 'import numpy' 2>/dev/null || exit 77
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
