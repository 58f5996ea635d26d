# libganz_infer.a: a program of a few lines translates with it, and neither training nor vocabulary learning is in it.
nm --defined-only "$INFER_LIBRARY" >symbols 2>/dev/null || fail "no symbols in $INFER_LIBRARY"
for symbol in ganz_translate ganz_model_open ganz_vocab_open; do
  grep -q " T $symbol\$" symbols || fail "$symbol is missing"
done
for symbol in ganz_train ganz_trainer_open ganz_vocab_learn ganz_recipe_table ganz_corpus_open; do
  grep -q " T $symbol\$" symbols && fail "$symbol does not belong to inference"
done
nm --undefined-only "$INFER_PROGRAM" | grep -qi 'yaml_\|cuda' && fail "the program needs YAML or CUDA"

$MAKE_MODEL m.safetensors 5 || fail "no model"
printf 'a b c\nb a\n\nc c c c b\n' >in
$GANZ translate --model m.safetensors in >expected || fail "cannot translate"
"$INFER_PROGRAM" m.safetensors <in >out || fail "the program cannot translate"
cmp -s out expected || fail "the program translates otherwise: $(cat out)"
size() { stat -c %s "$1"; }
cp "$INFER_PROGRAM" stripped && strip stripped
echo "libganz_infer.a $(size "$INFER_LIBRARY") bytes, libganz.a $(size "$GANZ_LIBRARY") bytes," \
  "a program that translates $(size stripped) bytes without symbols"
