# Power cuts at every call of a small run of training, as tools/power_cut.py imagines them; FAULTS is the library that
# records. Without syncs the same judge must find something wrong.
command -v python3 >/dev/null || exit 77
small_corpus
mkdir -p root/run && rmdir root/run && cd root || fail "no folder"
train="$GANZ train -q -j 1 --recipe tiny --encoder-layers 1 --decoder-layers 1 --width 16 --heads 2 --ffn 16 --rows 8 --slots 32 \
  --train $DIR/corpus --vocab $DIR/vocab --valid-source $DIR/valid.en --valid-target $DIR/valid.de --bleu-sentences 2 \
  --validate-every 2 --save-every 1 --log-every 1 --average-last 2 --steps 6 --out run"
LD_PRELOAD=$FAULTS FAULT_RECORD=$DIR/record $train || fail "no run"
replay() { "$HERE/../../tools/power_cut.py" "$@" 2>&1; }
replay --states 9 --resume "${RESUMED:-10}" "$DIR/record" . "$train \$([ -e run/last.safetensors ] && echo --resume)" >log ||
  fail "$(cat log)"
grep -qE '^[1-9][0-9]+ calls, [1-9][0-9]{2,} states, [1-9][0-9]* resumed, 0 wrong$' log || fail "says: $(cat log)"
cat log
replay --without-syncs "$DIR/record" . >log && fail "a disk that loses everything looks safe: $(cat log)"
grep -q 'is neither the old nor the new file' log || fail "says: $(cat log)"
exit 0
