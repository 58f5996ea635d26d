# ganz bench translate: a report that adds up, for random models and given ones.
$MAKE_MODEL m.safetensors 5 || fail "no model"
printf '7\n12\n3\n30\n' >lengths
B="$GANZ bench translate"

# number KEY FILE
number() { sed -n "s/.*\"$1\": \([-0-9.]*\).*/\1/p" "$2"; }

$B --model m.safetensors --lengths lengths --force-length 9 --json >report || fail "it fails"
equal "tokens" 36 "$(number tokens report)"
for key in tokens_per_s seconds cpu_s load_s peak_mib; do
  awk "BEGIN {exit !($(number $key report) > 0)}" || fail "$key: $(cat report)"
done
grep -q p50_ms report && fail "a latency without --single"
$B --model m.safetensors --lengths lengths --force-length 9 --single --threads 2 --beam 1 --json >report ||
  fail "--single"
awk "BEGIN {exit !($(number p50_ms report) > 0 && $(number p99_ms report) >= $(number p50_ms report))}" ||
  fail "$(cat report)"
equal "tokens one by one" 36 "$(number tokens report)"
$B --model m.safetensors --sentences 5 --threads 3 --beam 2 >report || fail "a report for people"
equal "lines" 3 "$(wc -l <report)"
TMPDIR=$PWD $B --random small --vocab-size 100 --bits 6 --sentences 3 --force-length 4 --beam 1 --json >report ||
  fail "--random"
equal "tokens of a random model" 12 "$(number tokens report)"
ls | grep -q ganz_bench && fail "the random model stays behind"
for seconds in 0.1 1; do
  TMPDIR=$PWD timeout $seconds $B --random base --sentences 100000 >report
  equal "exit code where it is stopped" 124 $?
  ls | grep -q ganz_bench && fail "the random model stays behind where it is stopped"
done
TMPDIR=$PWD/nowhere refuses 1 'cannot make a temporary file .*nowhere/ganz_bench_.*: No such file' $B --random small
$GANZ bench --help | grep -q '^  translate' || fail "no word of it in the help"

mkdir bare && cp "$GANZ" bare/ganz
refuses 1 'no model: give --model FILE or --random SHAPE or set GANZ_MODEL' bare/ganz bench translate
GANZ_MODEL=m.safetensors $B --sentences 3 --force-length 4 >report || fail "bench translate does not find the model"
grep -q '^tokens/s ' report || fail "no report of the default model"
refuses 2 '--bits goes with --random' $B --bits 4
refuses 2 'either --model or --random' $B --model m.safetensors --random base
refuses 2 '--bits goes with --random' $B --model m.safetensors --bits 4
refuses 2 '--vocab-size goes with --random' $B --model m.safetensors --vocab-size 400
refuses 2 '--sentences and --lengths exclude' $B --model m.safetensors --sentences 4 --lengths m.safetensors
refuses 1 'nothing' $B --model nothing
printf '7\nx\n' >bad
refuses 1 'bad:2: not a length' $B --model m.safetensors --lengths bad
printf '7\n70\n' >long
refuses 1 'a source of 70 tokens: this model takes 1 to 63' $B --model m.safetensors --lengths long
exit 0
