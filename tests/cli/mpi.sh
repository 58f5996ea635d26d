# Several processes share a run: its bytes are those of one, whoever has died in between; and what does not fit is refused.
# They talk by sockets, and by MPI too where it is there.
small_corpus
ROOT=$PWD
HOST=$(uname -n)
# An address of this machine and a port that no other run of this test has
MEET=127.$((1 + RANDOM % 250)).$((RANDOM % 250)).$((1 + RANDOM % 250)) PORT=$((20000 + RANDOM % 10000))
words=(train -q --threads 1 --recipe tiny --train "$ROOT/corpus" --vocab "$ROOT/vocab" --out run --parts 4 --dropout 0.1)

# start N COMMAND...: N processes by sockets, in the background; said0, said1, ... is what they say
start() {
  local n=$1 i
  shift
  PORT=$((PORT + 1))
  pids=()
  for ((i = 0; i < n; i++)); do
    GANZ_RANKS=$n GANZ_RANK=$i GANZ_MEET=$MEET:$PORT $GANZ "$@" 2>said$i & pids+=($!)
  done
}
# ends: waits for all; the status and the words of the first
ends() {
  local status=0
  wait "${pids[0]}" || status=$?
  [ ${#pids[@]} = 1 ] || wait "${pids[@]:1}"
  cat said0 >&2
  return $status
}
together() { start "$@" && ends; }
# same FOLDER OTHER: two runs to the byte, and to the line of their logs but for the clocks
same() {
  local file
  for file in "$1"/run/*.safetensors; do
    cmp "$file" "$2/run/$(basename "$file")" || fail "$file is another one than that of $2"
  done
  cmp <(cut -f1-3,5-7,9-13 "$1/run/log.tsv") <(cut -f1-3,5-7,9-13 "$2/run/log.tsv") || fail "logs of $1 and $2 differ"
}
inside() { mkdir "$1" && cd "$1" || fail "no folder $1"; }
mpi() { command -v mpirun >/dev/null && [ -n "${GANZ_MPI:-}" ]; }
by_mpi() { OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 100 mpirun --oversubscribe -n "$@"; }

# ---- training, with both optimizers and validation, of which each process has a share
sed -n 200,280p "$HERE/../data/tatoeba.en" >many.en
sed -n 200,280p "$HERE/../data/tatoeba.de" >many.de
for optimizer in adafactor adam; do
  run=("${words[@]}" --optimizer $optimizer --steps 8 --save-every 3 --log-every 3 --validate-every 4 --valid-source
    "$ROOT/many.en" --valid-target "$ROOT/many.de" --micro-tokens 512)
  for n in 1 2 3 4; do
    (inside $optimizer$n && together $n "${run[@]}") || fail "$n processes cannot train with $optimizer"
    [ $n = 1 ] || [ ! -s $optimizer$n/said1 ] || fail "a follower says: $(cat $optimizer$n/said1)"
    same ${optimizer}1 $optimizer$n
  done
  if mpi; then
    for n in 2 3; do
      (inside mpi$optimizer$n && by_mpi $n $GANZ "${run[@]}") || fail "$n processes of MPI cannot train"
      same ${optimizer}1 mpi$optimizer$n
    done
  fi
done

# ---- all phases of quantization; dropout, because the corpus teaches
run=(quantize -q --threads 1 --model "$ROOT/adam1/run/last.safetensors" --train "$ROOT/corpus" --out run --parts 4
  --steps-per-phase 2 --learn-from corpus --save-every 3 --dropout 0.2 --valid-source "$ROOT/valid.en" --valid-target
  "$ROOT/valid.de")
for n in 1 3 4; do
  (inside integer$n && together $n "${run[@]}") || fail "$n processes cannot quantize"
  same integer1 integer$n
  cmp integer1/run/steps.tsv integer$n/run/steps.tsv || fail "$n processes learn other steps"
done
if mpi; then
  (inside mpi && by_mpi 2 $GANZ "${run[@]}") || fail "two processes of MPI cannot quantize"
  same integer1 mpi
fi

# ---- processes that die: the run goes on with those that are left, and ends as if nothing had been
run=("${words[@]}" --steps 150 --save-every 5 --resume)
(inside whole && together 1 "${run[@]}") || fail "one process cannot train"
inside fewer
for n in 4 3; do
  before=$(stat -c '%i %y' run/last.safetensors 2>/dev/null)
  start $n "${run[@]}"
  for _ in $(seq 1 500); do
    [ "$(stat -c '%i %y' run/last.safetensors 2>/dev/null)" = "$before" ] || break
    sleep 0.02
  done
  kill -9 "${pids[$((n - 1))]}"
  ends 2>err && fail "a run of $n ends well without its last process"
  grep -q "process [1-$((n - 1))] on $HOST has gone: .*; the last good state is in run/last.safetensors" err ||
    fail "a run of $n that lost one says: $(cat err)"
done
together 1 "${run[@]}" || fail "the last process does not go on"
cd ..
same whole fewer

# ---- what does not fit together is refused, by the first process, in a sentence; the others are silent
# unlike PATTERN OPTIONS...: two processes, the second one with these options too
unlike() {
  local pattern=$1
  shift
  PORT=$((PORT + 1))
  GANZ_RANKS=2 GANZ_RANK=1 GANZ_MEET=$MEET:$PORT $GANZ "${words[@]}" --steps 4 --out no "$@" 2>other & second=$!
  GANZ_RANKS=2 GANZ_RANK=0 GANZ_MEET=$MEET:$PORT refuses 1 "$pattern" $GANZ "${words[@]}" --steps 4 --out no
  wait $second
  [ ! -s other ] || fail "the second process says: $(cat other)"
  [ ! -e no/last.safetensors ] || fail "a refused run leaves a checkpoint"
  rm -rf no
}
unlike "seed is 5 for process 1 on $HOST, and 1 for process 0 on $HOST" --seed 5
unlike "process 1 on $HOST: cannot open nowhere" --train nowhere
$GANZ prepare -q --vocab vocab --source valid.en --target valid.de --out few >/dev/null || fail "no other corpus"
unlike "process 1 on $HOST has another corpus than process 0 on $HOST" --train few
refuses 1 '2 processes cannot share steps of 1 part: parts' env GANZ_RANKS=2 GANZ_RANK=0 \
  GANZ_MEET=$MEET:$((PORT + 1)) bash -c 'GANZ_RANK=1 "$@" 2>/dev/null & "$@"; status=$?; wait; exit $status' - \
  $GANZ "${words[@]}" --parts 1 --steps 4 --out no
PORT=$((PORT + 1))
refuses 2 'parts is a power of two, not 3' $GANZ "${words[@]}" --parts 3 --out no
refuses 1 'GANZ_MEET is HOST:PORT, not here' env GANZ_RANKS=2 GANZ_RANK=0 GANZ_MEET=here $GANZ "${words[@]}" --out no
refuses 1 'was started|were started to share a run, which needs libganz_mpi.so' env GANZ_MPI=none OMPI_COMM_WORLD_SIZE=2 \
  OMPI_COMM_WORLD_RANK=0 $GANZ "${words[@]}" --out no

# ---- one that goes again before it has said where it is
PORT=$((PORT + 1))
GANZ_RANKS=2 GANZ_RANK=0 GANZ_MEET=$MEET:$PORT $GANZ "${words[@]}" --steps 4 --out no 2>err & first=$!
until (exec 3<>/dev/tcp/$MEET/$PORT && printf 'znag\1\0\0\0\2\0\0\0\0\0\0\0' >&3) 2>/dev/null; do
  kill -0 $first || fail "the first process does not wait for others: $(cat err)"
  sleep 0.02
done
wait $first && fail "a run of two ends well without its second process"
grep -q 'process 1 has gone: ' err || fail "the first of two says: $(cat err)"

# ---- a full disk ends all, and the last checkpoint stays
inside full
size=$(($(stat -c %s ../whole/run/last.safetensors) / 1024))
(together 2 "${words[@]}" --steps 4) || fail "two processes cannot train"
cp run/last.safetensors kept
# The log is, before the first step: the others are told, and do not take the first process for dead
sed -i "\$s/\$/$(printf '%*s' $((1024 - $(stat -c %s run/log.tsv))))/" run/log.tsv
(trap '' XFSZ; ulimit -f 1; together 2 "${words[@]}" --steps 8 --resume) 2>err && fail "a full log is no failure"
grep -q 'cannot write run/log.tsv' err || fail "says: $(cat err)"
[ ! -s said1 ] || fail "the second process says: $(cat said1)"
(trap '' XFSZ; ulimit -f $((size / 2)); together 2 "${words[@]}" --steps 8 --resume) 2>err && fail "a full disk is no failure"
grep -q 'cannot write run/last.safetensors.*; the last good state is in run/last.safetensors' err || fail "says: $(cat err)"
cmp kept run/last.safetensors || fail "a full disk has changed the checkpoint"
