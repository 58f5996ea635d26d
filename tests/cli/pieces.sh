# ganz encode, decode and prepare with SentencePiece models: ids of the library, by the golden files.
golden=$HERE/../golden/pieces
# unigram.spm: unknown 0, begin 1, end 2; ganz: padding 0, end 1, then the others
awk '{ for (i = 1; i <= NF; i++) $i = $i < 2 ? $i + 2 : $i == 2 ? 1 : $i + 1; print }' "$golden/unigram.ids" >expected
$GANZ encode --vocab "$golden/unigram.spm" "$golden/lines.txt" >ids
cmp ids expected || fail "ids differ"
$GANZ encode --side target --vocab "$golden/unigram.spm" "$golden/lines.txt" | cmp - expected || fail "sides differ"
$GANZ decode --vocab "$golden/unigram.spm" ids | sed 's/^ *//; s/ *$//' >text
sed 's/^ *//; s/ *$//' "$golden/unigram.txt" | cmp - text || fail "text differs"
printf 'the train leaves\nlow\n' >a
$GANZ prepare --quiet --vocab "$golden/bpe.spm" --source a --target a --out corpus || fail "prepare"
head -c 100 "$golden/bpe.spm" >cut.spm
! $GANZ encode --vocab cut.spm a 2>message || fail "a damaged model is taken"
[ "$(wc -l <message)" = 1 ] && grep -q "SentencePiece" message || fail "no sentence: $(cat message)"
