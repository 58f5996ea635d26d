# Little memory: programs end, and with a sentence. OpenBLAS, which does not, stays away from integers. MAKE_MODEL
# writes a small random float model.
$MAKE_MODEL float.safetensors 5 || fail "no model"
head -n 5 "$HERE/../data/tatoeba.en" >text
integer="$GANZ translate -m $HERE/../golden/integer/int8.safetensors --max-length 16 --batch-tokens 400"
float="$GANZ translate -m float.safetensors --max-length 16 --batch-tokens 400"
$integer text >expected || fail "no translation"
LD_DEBUG=files $integer text 2>&1 >out | grep -q openblas && fail "integer translation loads OpenBLAS"
LD_DEBUG=files $float text 2>&1 >out | grep -q openblas || fail "float translation does without OpenBLAS"

# limited KIB COMMAND...: in so much memory
limited() { (ulimit -v "$1" && shift && timeout 20 "$@"); }
limited 60000 $GANZ --version >out || fail "--version in 60 MB ends with $?"
limited 60000 $integer text | cmp - expected || fail "integer translation in 60 MB"
refuses 1 'out of memory' limited 100000 $integer --batch-tokens 100000 text
# OpenBLAS is not even loaded where it would hang for want of memory, if threads can be had at all
for kib in 50000 100000 200000 300000 400000; do
  refuses 1 'float products need OpenBLAS: its [0-9]+ MiB of memory cannot be had .see ulimit -v.|out of memory' limited $kib $float text
done
$float text >expected || fail "no float translation"
for kib in 700000 800000 1000000 1500000 2000000 4000000; do
  limited $kib $float text >out 2>err
  status=$?
  [ $status = 0 ] || [ $status = 1 ] || fail "in $kib KiB it ends with $status"
  [ $status = 1 ] || cmp out expected || fail "another translation in $kib KiB"
  [ $status = 0 ] || grep -q 'cannot be had' err || fail "in $kib KiB it says: $(cat err)"
done
exit 0
