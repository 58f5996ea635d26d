# ganz score: text, JSON, several hypotheses, bad input.
GOLD=$HERE/../golden/score

# The numbers are sacrebleu's (tests/golden/score/scores.tsv).
row=$(awk -F'\t' '$1=="text.swap" && $4=="13a" && $5=="mixed"' "$GOLD/scores.tsv")
score=$(cut -f6 <<<"$row") p1=$(cut -f10 <<<"$row") len=$(cut -f8 <<<"$row")
line=$($GANZ score --ref "$GOLD/text.ref" --hyp "$GOLD/text.swap" --digits 4) || fail "score"
[[ $line == "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:ganz-"*" = $(printf %.4f "$score") "* ]] ||
  fail "text: $line"
[[ $line == *" (BP = 1.000 ratio = 1.000 hyp_len = $len ref_len = $len)" ]] || fail "text: $line"
[[ $line == *" $(printf %.1f "$p1")/"* ]] || fail "text: $line"
equal stdin "$line" "$($GANZ score --ref "$GOLD/text.ref" --digits 4 <"$GOLD/text.swap")"
gzip -c "$GOLD/text.swap" >swap.gz
equal gzip "$line" "$($GANZ score --ref "$GOLD/text.ref" --digits 4 --hyp swap.gz)"
chrf=$(awk -F'\t' '$1=="odd.case" && $3=="chrf" && $5=="lc"{print $6}' "$GOLD/scores.tsv")
line=$($GANZ score --ref "$GOLD/odd.ref" --hyp "$GOLD/odd.case" --metric chrf --lowercase --digits 6)
[[ $line == "chrF2|nrefs:1|case:lc|eff:yes|nc:6|nw:0|space:no|version:ganz-"*" = $(printf %.6f "$chrf")" ]] ||
  fail "text: $line"

one=$($GANZ score --ref "$GOLD/text.ref" --hyp "$GOLD/text.swap" --json)
for key in score precisions bp sys_len ref_len signature; do grep -q "\"$key\": " <<<"$one" ||
  fail "no $key in $one"; done
grep -q "\"score\": ${score:0:14}" <<<"$one" || fail "score in $one"

cp "$GOLD/text.drop" 'odd "name".txt'
many=$($GANZ score --ref "$GOLD/text.ref" --hyp "$GOLD/text.swap" 'odd "name".txt' "$GOLD/text.swap" --json \
  --bootstrap 100 --seed 5)
grep -qF '{"name": "odd \"name\".txt", ' <<<"$many" || fail "names: $many"
equal systems 3 "$(grep -c '"interval": ' <<<"$many")"
equal comparisons 2 "$(grep -c '"p_value": ' <<<"$many")"
grep -q '"p_value": 1, ' <<<"$many" || fail "a system differs from itself: $many"
grep -q 'nrefs:1|bs:100|seed:5|case:mixed' <<<"$many" || fail "signature: $many"
equal again "$many" "$($GANZ score --ref "$GOLD/text.ref" --hyp "$GOLD/text.swap" 'odd "name".txt' "$GOLD/text.swap" \
  --json --bootstrap 100 --seed 5)"
$GANZ score --ref "$GOLD/text.ref" --hyp "$GOLD/text.swap" --confidence | grep -q ' mean = .* 95% = \[' ||
  fail "no interval"

# seeds.tsv: numbers of tests/golden/make_seeds.py.
while IFS=$'\t' read -r resamples seed score mean low high p files; do
  runs=$(($(wc -w <<<"$files") - 1))
  mapfile -t hyps < <(tr '\t' '\n' <<<"$files" | sed "s|^|$GOLD/|")
  seeds=(score --ref "$GOLD/text.ref" --hyp "${hyps[@]}" --tok t2t --bootstrap "$resamples" --seed "$seed")
  equal "mean of $runs" "$(printf 'mean of %d = %.8f mean = %.8f 95%% = [%.8f, %.8f] p = %.4f' \
    $runs "$score" "$mean" "$low" "$high" "$p")" "$($GANZ "${seeds[@]}" --seeds --digits 8 | tail -1)"
  equal "other lines" "$($GANZ "${seeds[@]}")" "$($GANZ "${seeds[@]}" --seeds | head -n -1)"
  json=$($GANZ "${seeds[@]}" --seeds --json | tail -2)
  [[ $json == '{"name": "mean of '$runs'", "metric": "BLEU", "score": '${score:0:12}*', "mean": '${mean:0:12}*', "interval": ['* ]] ||
    fail "JSON of the mean: $json"
  [[ $json == *", \"interval\": [${low:0:12}"*", ${high:0:12}"*'], "p_value": '*', "signature": "nrefs:1|bs:400|'*'"}'$'\n]' ]] ||
    fail "JSON of the mean: $json"
done <"$GOLD/seeds.tsv"
equal "groups of runs" 3 "$runs"
grep -q '"p_value": 1, ' <<<"$json" || fail "runs equal to the first differ from it: $json"
grep -q 'precisions\|len' <<<"$json" && fail "a mean has no lengths: $json"

refuses 1 'cannot open none: No such file' $GANZ score --ref none --hyp "$GOLD/text.swap"
refuses 1 'cannot open none: No such file' $GANZ score --ref "$GOLD/text.ref" --hyp none
head -100 "$GOLD/text.ref" >short
refuses 1 'text.ref has 120 lines but short has 100' $GANZ score --ref "$GOLD/text.ref" --hyp "$GOLD/text.swap" short
refuses 1 'short has 100 lines but .*text.ref has 120' $GANZ score --ref short --hyp "$GOLD/text.ref"
refuses 1 'text.ref has 120 lines but standard input has 0' $GANZ score --ref "$GOLD/text.ref"
: >empty
refuses 1 'empty has no lines' $GANZ score --ref empty --hyp empty
printf 'good\nbad \377\n' >latin
refuses 1 'latin:2: not valid UTF-8' $GANZ score --ref latin --hyp latin
refuses 2 '--ref is needed' $GANZ score --hyp short
refuses 2 '--tok goes with --metric bleu' $GANZ score --ref short --hyp short --metric chrf --tok intl
refuses 2 '--bootstrap must be over 0' $GANZ score --ref short --hyp short --confidence --bootstrap 0
refuses 2 '--seeds comes from resamples: --bootstrap must be over 0' \
  $GANZ score --ref short --hyp short short --seeds --bootstrap 0
refuses 2 '--seeds needs two hypotheses at least' $GANZ score --ref short --hyp short --seeds
refuses 2 'only one of the texts' $GANZ score --ref -
refuses 2 'unexpected word' $GANZ score short
refuses 2 '--tok is one of' $GANZ score --ref short --hyp short --tok zh
refuses 2 '--digits must be 0 to 15' $GANZ score --ref short --hyp short --digits 99
refuses 1 'cannot read .: it is a folder' $GANZ score --ref . --hyp short
$GANZ score --ref short --hyp short >/dev/full 2>err && fail "a full disk looks like success"
head -c 10000000 /dev/zero | tr '\0' 'a' >long
$GANZ score --ref long --hyp long --metric chrf | grep -q ' = 100.00$' || fail "line of 10 MB"
printf 'a\0b c\n' >nul
$GANZ score --ref nul --hyp nul --tok t2t | grep -q ' = 100.00 ' || fail "NUL"
