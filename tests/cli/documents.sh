# ganz translate and documents: what is kept byte for byte, formats, folders, glossaries, caches. The default model speaks.
MODEL=$HERE/../../models/en-de.safetensors
T="$GANZ translate --model $MODEL -q"

# white space, tabs, blank lines and line ends stay; a sentence is never translated together with the next
printf '  Hello.  Good evening!\t\r\n\n\n\tGood morning!\n\nThe end' >in.txt
$T in.txt >out.txt || fail "it fails"
equal "what is no word" "$(tr -d 'a-zA-Z\303\244\266\274\237\204\226\234' <in.txt | od -c)" "$(tr -d 'a-zA-Z\303\244\266\274\237\204\226\234' <out.txt | od -c)"
printf 'This is the first. This is the second. This is the third.\n' | $T >three
equal "three sentences" "$(for w in first second third; do echo "This is the $w."; done | $T | paste -sd ' ')" "$(cat three)"

# what must not be translated
printf 'Send {name} to https://www.example.org/a?b=1 or jane@example.org, not C:\\Users\\x \360\237\230\200!\n' | $T >kept
for word in '{name}' 'https://www.example.org/a?b=1' 'jane@example.org' 'C:\Users\x' $'\360\237\230\200'; do
  equal "$word" 1 "$(grep -oF -- "$word" kept | wc -l)"
done
equal "tags" 'Das <b>rote</b> Haus.' "$(echo 'The <b>red</b> house.' | $T)"

# below the opening of a letter, and where it is asked for, du is du in what a mark alone leaves at Sie
printf 'Hi Tom,\n\nPlease sign pages 3 and 9 and send it back.\nFeel free to contact me.\n' >tom.txt
grep -q 'Sie\|Ihnen\|Ihre' <($T tom.txt; $T --formality informal tom.txt) && fail "no du: $($T tom.txt)"
# a text is read in parts, the first of which ends behind 4 KB: the opening of a letter and the close above a name count
# for all of them, and no first line of a part opens a letter
numbers() { for i in $(seq "$1"); do printf '7777777777 7777777777 7777777777 7777777777 777\n\n'; done; }
{ printf 'Hi Tom,\n\n' && numbers 90 && printf 'Please sign pages 3 and 9 and send it back.\n'; } >long.txt
equal "below an opening far above" "$(tail -n 1 long.txt | $T --formality informal)" "$($T long.txt | tail -n 1)"
{ numbers 82 && printf '77777\n\nHi Tom,\n\nPlease sign pages 3 and 9 and send it back.\n'; } >long.txt
equal "no letter" "$(tail -n 1 long.txt | $T)" "$($T long.txt | tail -n 1)"
{ numbers 83 && printf 'Best regards,\n\nMark\n'; } >long.txt
equal "a name in the next part" "Mark" "$($T long.txt | tail -n 1)"

# pages and Markdown
printf '<p title="The red house.">The <b>red</b> house.</p><script>a < b</script>\n' >page.html
equal "a page" '<p title="Das rote Haus.">Das <b>rote</b> Haus.</p><script>a < b</script>' "$($T page.html)"
printf '<html>\n<p>The green house.\n' >page
equal "a page without a name, which does not say that it is UTF-8" "$(printf '<html>\n<p>Das gr&#252;ne Haus.')" "$($T page)"
equal "a piece of a page" '<p>Das <b>rote</b> Haus.</p><ul><li>das grüne Haus</ul>' \
  "$(printf '<p>The <b>red</b> house.</p><ul><li>the green house</ul>' | $T)"
printf '> The **red** house\n> is [here](x_y).\n\n    code\n' >file.md
$T file.md >file.de.md || fail "Markdown"
grep -q '^> Das \*\*rote\*\* Haus .*\[hier\](x_y)' file.de.md || fail "Markdown became $(cat file.de.md)"
equal "code" '    code' "$(tail -n 1 file.de.md)"

# text in another language is translated all the same, but there is a warning, once; not with -q
yes 'Nous allons à la gare, parce que nos amis arrivent à sept heures.' | head -n 3 >french
$GANZ translate --model $MODEL french >/dev/null 2>warned || fail "French"
equal "the warning" 'ganz translate: the text looks like fr, but the model translates from en (--from fr or --model takes another)' "$(cat warned)"
$T french >/dev/null 2>warned || fail "French, quietly"
equal "no warning" '' "$(cat warned)"
echo 'We are going to the station, because our friends arrive at seven.' | $GANZ translate --model $MODEL >/dev/null 2>warned
equal "no warning about English" '' "$(cat warned)"

# capitals
equal "capitals" "$(echo 'Close the door!' | $T | tr a-z A-Z | sed 's/ü/Ü/g; s/ß/SS/g')" "$(echo 'CLOSE THE DOOR!' | $T)"

# lines are counted, whatever is in them
yes 'One. Two. Three.' | head -n 20 >lines
equal "lines" 20 "$($T --format lines lines | wc -l)"
$T --format lines --bilingual lines | awk -F'\t' 'NF != 2 || $1 != "One. Two. Three." {exit 1}' || fail "--bilingual of lines"
refuses 2 'there is no format nonsense' $T --format nonsense lines
head -c 3000 /dev/zero >binary
refuses 1 'binary: the format is not known, and it is no text' $T binary
printf '\377\376H\0i\0.\0\n\0' >notepad.txt # as Windows writes it
refuses 1 'notepad.txt: this is UTF-16; iconv' $T notepad.txt
refuses 1 'standard input: this is UTF-16; iconv' sh -c "$T <notepad.txt"
refuses 1 'standard input: this is UTF-16; iconv' sh -c "printf 'H\0i\0.\0\n\0' | $T"

# newlines
printf 'The red\nhouse is old.\n' >broken
equal "newlines end sentences" "$(printf 'The red\nhouse is old.\n' | sed -n 1p | $T)" "$($T broken | sed -n 1p)"
equal "newlines are white space" "$(echo 'The red house is old.' | $T)" "$($T --newlines space broken)"

# code stays, between fences also where it is longer than what is read at a time
for fence in '```' '~~~'; do
    { echo 'This is the code:'; echo "$fence"; for i in $(seq 250); do printf 'call the function %d\n\n' $i; done; echo "$fence"; echo 'Good morning!'; } >fenced
    $T fenced >fenced.out
    equal "code between $fence" "$(sed '1d;$d' fenced | md5sum)" "$(sed '1d;$d' fenced.out | md5sum)"
    equal "text behind $fence" "$(echo 'Good morning!' | $T)" "$(tail -n 1 fenced.out)"
done
equal "a line of code" 'for (int i = 0; i < 10; i++) printf("%d\n", i);' "$(echo 'for (int i = 0; i < 10; i++) printf("%d\n", i);' | $T)"

# what was wrapped and quoted is one sentence, wrapped and quoted again
printf '> The committee met on Thursday to discuss the budget for the coming\n> year and decided to wait.\n' >quoted
equal "quoted lines" "$(sed 's/^> //' quoted | paste -sd ' ' | $T)" "$($T quoted | sed 's/^> //' | paste -sd ' ')"
equal "quote signs" "$($T quoted | wc -l)" "$($T quoted | grep -c '^> ')"

# a dialogue keeps its dashes
printf '1\n00:00:01,000 --> 00:00:02,000\n- Who is there?\n- It is me.\n' >talk.srt
equal "dashes of speakers" 2 "$($T talk.srt | grep -c '^- ')"

# a format stays what it is
refuses 1 'lines: text stays text, it does not become docx' $T lines -o lines.docx
refuses 1 '\-\-text: text stays text' $T --text Hello -o lines.docx
[ -e lines.docx ] && fail "text is in a file named .docx"
refuses 1 'standard input: this is no zip archive' $T --format docx

# glossaries
printf '# terms\nhouse\tGeb\303\244ude\nCastle\n' >terms
echo 'The Castle and the houses are old.' | $T --glossary terms >with || fail "--glossary"
grep -q 'Gebäude' with && grep -q 'Castle' with || fail "the glossary does not hold: $(cat with)"
printf '# House\n\nCastle\n' >heading.md
equal "terms alone" "# Gebäude Castle" "$($T --glossary terms heading.md | xargs)"
printf 'a\tb\n\377\n' >bad
refuses 1 'bad:2: not UTF-8' $T --glossary bad lines
refuses 1 'nothing: ' $T --glossary nothing lines

# several files and folders
mkdir -p tree/a/b tree/empty
echo 'The first file.' >tree/one.txt
echo 'The second file.' >tree/a/two.txt
echo 'The third file.' >tree/a/b/three.txt
: >tree/a/none.txt
echo 'x' >tree/a/thing.unknown
$GANZ translate --model $MODEL -o made tree 2>notes
equal "exit code after a skipped file" 1 $?
equal "the note" 'ganz translate: tree/a/thing.unknown: skipped, the format is not known' "$(cat notes)"
equal "the tree" "$(cd tree && find . -type f -name '*.txt' | sort)" "$(cd made && find . -type f | sort)"
[ -d made/empty ] || fail "an empty folder is lost"
equal "a file of the tree" "$(echo 'The second file.' | $T)" "$(cat made/a/two.txt)"
$T -o made/ tree/one.txt tree/a/two.txt || fail "files into a folder"
equal "a file beside another" "$(echo 'The second file.' | $T)" "$(cat made/two.txt)"
$T -o tree/out tree && fail "a skipped file is no failure"
$T -o tree/out tree
[ -e tree/out/out ] && fail "the output was translated, too"
refuses 1 'an input is a folder: --out FOLDER says where' $T tree
[ -e - ] && fail "a folder has the name of standard output"
refuses 1 'lines: a folder is needed here, and this is a file' $T -o lines tree
# a file that cannot be read, the last one too: what stands in its place stays, and the others are translated
mkdir spoilt stay
echo 'The second file.' >spoilt/b.txt
{ for i in $(seq 200); do echo "Line $i."; done; printf 'caf\351\n'; } >spoilt/a.txt
printf '\377\376H\0i\0\n\0' >spoilt/c.txt
echo '{' >spoilt/z.json
echo kept | tee stay/a.txt >stay/z.json
$GANZ translate --model $MODEL -o stay spoilt 2>notes && fail "files that cannot be read are no failure"
equal "a file among those that cannot be read" "$(echo 'The second file.' | $T)" "$(cat stay/b.txt)"
equal "what stood in their place" "kept kept" "$(cat stay/a.txt stay/z.json | xargs)"
equal "the folder" "a.txt b.txt z.json" "$(ls stay | xargs)"
grep -q 'a.txt:201: not UTF-8: skipped' notes && grep -q 'c.txt: this is UTF-16; .*: skipped' notes || fail "notes: $(cat notes)"
$T --invalid replace -o stay/ spoilt/a.txt || fail "--invalid replace"
equal "its lines" 201 "$(wc -l <stay/a.txt)"
# nothing is lost without a word: texts without a name, two inputs for one output, documents that do not make one
mkdir -p twice/a twice/b
echo 'The first file.' | tee twice/a/x.txt >twice/b/x.txt
refuses 1 'new/: this is a folder, and a text without a name' $T -o new/ -t Hello
refuses 1 'new/: this is a folder, and a text without a name' $T -o new/ <lines
refuses 1 'new/: this is a folder, and a text without a name' $T -o new/ twice/a/x.txt - <lines
refuses 1 'new/x.txt: two inputs would be written here' $T -o new/ twice/a/x.txt twice/b/x.txt
[ -e new ] && fail "a folder for what was refused"
refuses 1 'new/x.txt: two inputs would be written here' $T -o new twice/a twice/b
echo '{"a": "Good night"}' >one.json
refuses 1 'one.json: several documents of format json do not make one: give --out FOLDER/' $T -o both.json one.json one.json
[ -e both.json ] && fail "two documents of JSON in one file"
$T -o new/ one.json || fail "one of them"
printf '# Good morning' >one.md
equal "two texts of Markdown" 2 "$($T one.md one.md | grep -c '^# ')"

# a job that was stopped goes on where it was
for i in $(seq 60); do echo "This is sentence number $i of a long text."; done >long
$T long >whole || fail "no long text"
( $T --cache cache -o half -j 1 --batch-tokens 200 long & job=$!
  for i in $(seq 2400); do [ "$(wc -c <cache 2>/dev/null || echo 0)" -gt 300 ] && break; sleep 0.05; done
  kill -9 $job; wait $job ) 2>/dev/null
[ -e half ] && [ "$(wc -c <half)" != "$(wc -c <whole)" ] && fail "a killed job left half a file"
[ "$(wc -c <cache)" -gt 300 ] || fail "nothing in the cache"
before=$(wc -c <cache)
head -c $((before - 3)) cache >torn # as if killed in the middle of a write
cp torn cache
$T --cache cache -o half long || fail "it does not go on"
cmp half whole || fail "a job that went on gives something else"
after=$(wc -c <cache)
$T --cache cache long | cmp - whole || fail "all from the cache gives something else"
equal "nothing new in the cache" "$after" "$(wc -c <cache)"
$T --cache cache --beam 1 long >/dev/null
[ "$(wc -c <cache)" -gt "$after" ] || fail "other options find the same translations"
refuses 1 'lines is not a cache of translations' $T --cache lines long

exit 0
