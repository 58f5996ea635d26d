# Parts of a large text: --shard, --work with workers that die, join, and proofs that catch what is lost or changed.
MODEL=$HERE/../../models/en-de.safetensors
T="$GANZ translate --model $MODEL -q -b1 --max-length 12 -j1"
for i in $(seq 1 60); do echo "The ship number $i is late."; [ $((i % 7)) -ne 0 ] || echo; done >in
printf 'The last line has no end.' >>in
$T --format lines in >whole

# every line is in one part, whatever the number of parts
for n in 1 2 5; do
  for i in $(seq 1 $n); do $T --shard $i/$n -o out$n in || fail "shard $i of $n"; done
  $GANZ join -q --input in out$n || fail "parts of $n cannot be joined"
  cmp -s whole out$n || fail "$n parts differ from the whole"
done
SLURM_ARRAY_TASK_ID=8 SLURM_ARRAY_TASK_MIN=4 SLURM_ARRAY_TASK_STEP=4 SLURM_ARRAY_TASK_COUNT=2 $T --shard slurm -o slurm in ||
  fail "an array of Slurm"
cmp -s out2.part-2-of-2 slurm.part-2-of-2 || fail "an array of Slurm has another part"

# sentences that come again are not translated again, and nothing of the output shows it
for i in 1 2 3; do cat in; echo; done >again
$T --remember 0 --format lines again >plain
$T --format lines again | cmp - plain || fail "remembered lines are others"
$T --remember 1 -j3 --shard 1/1 -o again.out again && cmp plain again.out.part-1-of-1 || fail "a part with remembered lines"
head -n 8 in >few; cat few few few >again
sed 's/.*/Das/; 9,$s/.*//' again >begin
for words in "--beam 2 --n-best 2 --scores" "--alignment --word-scores" "--sample 1 --seed 3" "--prefix begin --scores"; do
  $T $words --remember 0 --format lines again >plain || fail "$words"
  $T $words -j2 --format lines again | cmp - plain || fail "remembered lines are others with $words"
done

# what is lost, changed or of another make is told
mv out5.part-3-of-5.proof p3; rm out5
refuses 1 'out5: 1 of 5 parts are missing or damaged: 3' $GANZ join out5
[ ! -e out5 ] || fail "a file was written without a part"
mv p3 out5.part-3-of-5.proof
printf X | dd of=out5.part-4-of-5 bs=1 seek=3 conv=notrunc 2>/dev/null
mv out5.part-5-of-5 kept
refuses 1 'out5: 2 of 5 parts are missing or damaged: 4-5' $GANZ join out5
mv kept out5.part-5-of-5
$T --shard 4/5 -o out5 in && $GANZ join -q out5 && cmp -s whole out5 || fail "a damaged part is not mended"
sed 's/ship/boat/' in >other
refuses 1 'other is not what part 1 was made from' $GANZ join --input other out5
refuses 1 'out5.part-1-of-5.proof is about another input: remove the old parts first' $T --shard 1/5 -o out5 other
refuses 1 'is about another model or other options' $T --beam 2 --shard 1/5 -o out5 in
cp out2.part-1-of-2 out5.part-1-of-2; cp out2.part-1-of-2.proof out5.part-1-of-2.proof
refuses 1 'has parts of several cuts' $GANZ join out5
refuses 1 'none has no parts with proofs' $GANZ join none
: >none.part-1-of-9000000000000000000.proof # no part of ours: looking for so many would never end
refuses 1 'none has no parts with proofs' timeout 20 $GANZ join none
refuses 2 'shard is I/N' $T --shard 6/5 -o out5 in
refuses 2 'needs --out' $T --shard 1/5 in
refuses 2 'about one FILE' $T --work w
refuses 2 'exclude each other' $T --work w --shard 1/2 in
gzip -k in
refuses 1 'in.gz is compressed' $T --shard 1/2 -o z in.gz

# a folder that several share: one is killed, one left a claim behind, the rest is done by others
head -n 100 "$HERE/../data/tatoeba.en" >few
W="$GANZ translate --model $MODEL -b1 --max-length 8 -j1 --claim-seconds 1"
$W -q --format lines -o single few
W="$W --work work --part-bytes 200 few"
parts=$(($(stat -c %s few) / 200 + 1))
mkdir work; echo 'dead 1' >work/lines.part-2-of-$parts.claim
touch -d '1 hour ago' work/lines.part-2-of-$parts.claim
$W -q & killed=$!
for _ in $(seq 1 100); do [ -n "$(ls work | grep proof)" ] && break; sleep 0.05; done
kill -9 $killed
wait $killed 2>/dev/null
refuses 1 'parts are missing or damaged: ' $GANZ join -o joined work
$W -q & first=$!
$W -q & second=$!
wait $first || fail "the first worker"
wait $second || fail "the second worker"
$GANZ join -q --input few -o joined work || fail "the work cannot be joined"
cmp -s single joined || fail "shared work differs from that of one"
[ -z "$(ls work | grep -E 'claim|dead|again')" ] || fail "work left $(ls work)"
# a full disk leaves no claim behind, for which others would wait
(trap '' XFSZ; ulimit -f 0; exec ${W/--work work/--work full} -q) 2>&1 | grep -q 'lines.part-1-of-.*claim: File too large' ||
  fail "a full disk is no failure"
[ -z "$(ls full)" ] || fail "a full disk leaves $(ls full)"
$W --verify 0.1 2>err || fail "the work cannot be verified: $(cat err)"
grep -q "of $parts parts translated again, all with the same bytes" err || fail "no word about verifying: $(cat err)"
rm -f kept-lines; $W --cache kept-lines --verify 0.1 2>err || fail "no verifying with a cache: $(cat err)"
[ ! -e kept-lines ] || fail "what a cache says is compared with itself"
# a machine that computes wrongly: bytes and proof agree, but translated again the part is another one
$GANZ translate -q --model $MODEL -b1 --max-length 2 -j1 --work wrong --part-bytes 200 few
origin=$(grep '^origin ' work/lines.part-1-of-$parts.proof)
sed "s/^origin .*/$origin/" wrong/lines.part-1-of-$parts.proof >work/lines.part-1-of-$parts.proof
cp wrong/lines.part-1-of-$parts work/
refuses 1 'part 1: translated again it gives other bytes' $W -q --verify 0.1
[ -z "$(ls work | grep again)" ] || fail "verifying leaves $(ls work | grep again)"
# a proof that its file does not agree with
sed -i 's/^output_sum .*/output_sum 1/' work/lines.part-1-of-$parts.proof
refuses 1 'parts are missing or damaged: 1$' $GANZ join -o joined work
refuses 2 'needs --out' $GANZ join work
