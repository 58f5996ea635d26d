# Integer models: one answer, scores included, for any batch, any number of threads and any processor. Then ganz
# quantize.
head -n 500 "$HERE/../data/tatoeba.en" >text
TEXT=text
GOLDEN="$HERE/../golden/integer"

# hash MODEL BEAM OPTIONS...
hash() {
  local model=$1 beam=$2
  shift 2
  $GANZ translate -m "$GOLDEN/$model.safetensors" --beam "$beam" --least-length 0 --max-length 16 --scores "$@" "$TEXT" >out ||
    fail "$model $* fails"
  equal "lines" 500 "$(wc -l <out)"
  sha256sum <out | cut -d' ' -f1
}

while read -r model beam expected; do
  equal "$model, beam $beam" "$expected" "$(hash $model $beam)"
  for isa in scalar avx2 avxvnni avx512vnni amx neon neondot i8mm; do
    export GANZ_FORCE_ISA=$isa
    if $GANZ translate -m "$GOLDEN/$model.safetensors" </dev/null 2>err; then
      equal "$model, beam $beam on $isa" "$expected" "$(hash $model $beam)"
    else
      grep -q "this processor has no $isa" err || fail "$isa says: $(cat err)"
    fi
    unset GANZ_FORCE_ISA
  done
  [ "$model$beam" = int84 ] || continue
  # about 1, 7 and 64 sentences at a time
  for batch in 1 400 3600; do
    equal "$model, beam $beam, batches of $batch" "$expected" "$(hash $model $beam --batch-tokens $batch)"
    equal "$model, beam $beam, batches of $batch on two threads" "$expected" "$(hash $model $beam \
      --batch-tokens $batch --threads 2)"
  done
done <"$GOLDEN/sha256"
[ "$(wc -l <"$GOLDEN/sha256")" = 4 ] || fail "hashes are missing"
refuses 1 'GANZ_FORCE_ISA=sparc: unknown' env GANZ_FORCE_ISA=sparc $GANZ translate -m "$GOLDEN/int8.safetensors" "$TEXT"

# links between words too
head -n 60 "$TEXT" >few
A="$GANZ translate -m $GOLDEN/int8.safetensors --max-length 16 --alignment few"
$A >linked || fail "--alignment"
GANZ_FORCE_ISA=scalar $A | cmp - linked || fail "links depend on the processor"
$A --threads 2 --batch-tokens 1 | cmp - linked || fail "links depend on batches"

# translations drawn by chance: one answer for one seed, whatever the batch, the threads, the processor and the place
for how in 1 0.7 top-5; do
  D="$GANZ translate -m $GOLDEN/int8.safetensors --max-length 16 --scores --sample $how"
  $D few >drawn || fail "--sample $how"
  GANZ_FORCE_ISA=scalar $D few | cmp - drawn || fail "--sample $how depends on the processor"
  $D --threads 2 --batch-tokens 1 few | cmp - drawn || fail "--sample $how depends on batches"
  tac few | $D --batch-tokens 900 | tac | cmp - drawn || fail "--sample $how depends on the place of a line"
  $D --seed 1 few | cmp - drawn || fail "the first seed is not 1"
  $D --seed 2 few | cmp -s - drawn && fail "--sample $how does not depend on the seed"
done
S="$GANZ translate -m $GOLDEN/int8.safetensors --max-length 16 --scores"
$S --sample top-1 few >drawn && $S --beam 1 few | cmp - drawn || fail "the likeliest token alone is not the greedy search"
for bad in 0 -1 top-0 top-129 top-1.5 top- 1x warm nan inf 1e9; do
  refuses 2 'a temperature .0.01 to 100. or top-1 to top-128' $S --sample $bad few
done
refuses 2 'does not go with --beam and --n-best' $S --sample 1 --beam 2 few
refuses 2 'does not go with --beam and --n-best' $S --sample 1 --n-best 2 few

# ganz quantize
$MAKE_MODEL m.safetensors 5 || fail "no model"
head -n 40 "$TEXT" >some
$GANZ quantize --model m.safetensors --method max --calibrate some --bits 8 --out made.safetensors >said ||
  fail "it fails"
equal "said" "45 of 45 products in 8-bit integers, 57 input steps from 40 lines (0 left out)" "$(cat said)"
$GANZ quantize -m m.safetensors --calibrate some --calibrate-target some -o target.safetensors --quiet >said ||
  fail "with a target"
[ -s said ] && fail "--quiet says something"
cmp -s made.safetensors target.safetensors && fail "the target changes nothing"
for model in made target; do
  $GANZ translate -m $model.safetensors --max-length 16 some >out || fail "$model does not translate"
  equal "lines" 40 "$(wc -l <out)"
done
refuses 2 'which model' $GANZ quantize --calibrate some --out x
refuses 2 'where to' $GANZ quantize --calibrate some --model m.safetensors
refuses 2 'which text' $GANZ quantize --model m.safetensors --out x
$GANZ quantize -q --model m.safetensors --calibrate some --bits 6 --out six.safetensors || fail "no model of 6 bits"
$GANZ inspect six.safetensors | grep -q '^  stored  *each code in a byte' || fail "the size of the file is not explained"
refuses 2 'bits' $GANZ quantize --model m.safetensors --calibrate some --bits 16 --out x
refuses 2 'method' $GANZ quantize --model m.safetensors --calibrate some --method guess --out x
$GANZ quantize -q --model m.safetensors --calibrate some --products dense --out mixed.safetensors ||
  fail "no model with attention in float"
refuses 1 'with products in float translate on the cpu only' $GANZ translate --model mixed.safetensors --device cuda some
$GANZ quantize -q -m m.safetensors --method dynamic --out rows.safetensors >/dev/null ||
  fail "no model whose rows are rounded"
refuses 1 'rounded one by one translate on the cpu only' $GANZ translate --model rows.safetensors --device cuda some
refuses 1 'made.safetensors: an integer model, where a float one is needed' $GANZ average \
  --out x m.safetensors made.safetensors
refuses 1 'an integer model already' $GANZ quantize --model made.safetensors --calibrate some --out x
refuses 1 'nothing' $GANZ quantize --model m.safetensors --calibrate nothing --out x
refuses 1 'cannot make the folder some: File exists' $GANZ quantize --model m.safetensors --calibrate some \
  --report some --out x
refuses 1 'nothing' $GANZ quantize --model m.safetensors --calibrate nothing --report new --out x
[ -e new ] && fail "a folder for no report"
$GANZ quantize -q --model m.safetensors --calibrate some --report new --out reported && [ -s new/quant.txt ] ||
  fail "a report into a new folder"
{ cat some; echo more; } >longer
refuses 1 'longer has more lines than some' $GANZ quantize --model m.safetensors --calibrate some \
  --calibrate-target longer --out x
refuses 1 'fewer lines' $GANZ quantize --model m.safetensors --calibrate some --calibrate-target /dev/null --out x
refuses 1 'no line to calibrate' $GANZ quantize --model m.safetensors --calibrate /dev/null --out x
[ -e x ] && fail "a failed run left a model"
exit 0
