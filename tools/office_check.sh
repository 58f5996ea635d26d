#!/bin/bash
# office_check.sh FAKE_TRANSLATE [PO-OR-POT...]: round trips of real files through other programs' hands. LibreOffice makes
# documents of tests/data/office, tests/fake_translate.c "translates" them, LibreOffice opens the results; msgfmt checks PO
# files. FAKE_TRANSLATE is build/release/tests/fake_translate. Exit code 77 where a program is missing.
set -u
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 1 any "$@"
program=$(realpath "$1")
shift
fake() { "$program" "${2##*.}" "$1" "$2" >"$3"; } # TRANSLATOR IN OUT
here=$(cd "$(dirname "$0")/.." && pwd)
for needed in soffice python3 unzip xmllint msgfmt msgattrib msginit; do
  command -v $needed >/dev/null || { echo "office_check: no $needed"; exit 77; }
done
files=()
for file in "$@"; do files+=("$(realpath "$file")"); done
folder=$(mktemp -d /tmp/ganz_office_XXXXXX)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
bad=0
say() { echo "office_check: $*"; bad=1; }

office() { soffice -env:UserInstallation="file://$folder/profile" --headless --convert-to "$1" --outdir "$2" "$3" >/dev/null 2>&1; }

# The document as LibreOffice understands it: names of the elements that matter, and all text.
cat >look.py <<'PY'
import re, sys, xml.etree.ElementTree as tree
kinds = {"p", "h", "list", "list-item", "table", "table-row", "table-cell", "note", "annotation", "frame", "text-box", "a", "page",
         "tab", "line-break", "page-number", "bookmark-start", "bookmark-end", "header", "footer", "notes"}
notes = []  # a note's mark may change places with the full stop beside it, so its text is looked at on its own
def walk(element, names, text):
    name = element.tag.split("}")[-1]
    if name in ("automatic-styles", "styles", "meta", "settings", "scripts", "font-face-decls", "creator", "date", "note-citation"): return
    if name in kinds: names.append(name)
    if name == "note": text = notes
    text.append(element.text or "")
    for child in element:
        walk(child, names, text)
        text.append(child.tail or "")
    if name in ("p", "h", "tab", "line-break", "s"): text.append(" ")
names, text = [], []
walk(tree.parse(sys.argv[1]).getroot(), names, text)
words = " ".join("".join(text + notes).upper().split())
words = re.sub(r"\s+([.,])", r"\1", words)
if sys.argv[2] == "names": print("\n".join(names))
elif sys.argv[2] == "text": print(words)
else: print("\n".join(sorted(re.findall(r"\w+", words))))
PY

make() { # FLAT SUFFIX: name of a document made of a flat file
  local name; name=$(basename "${1%.*}").$2
  office "$2" made "$1" && [ -s "made/$name" ] && echo "made/$name"
}

well_formed() { # every XML member of an archive
  unzip -tqq "$1" || say "$1 is no good archive"
  rm -rf members && mkdir members && unzip -qq "$1" -d members
  find members \( -name '*.xml' -o -name '*.rels' -o -name '*.xhtml' -o -name '*.opf' -o -name '*.ncx' \) -print0 |
    xargs -0 xmllint --noout || say "$1 has a member that is not well-formed"
}

try() { # DOCUMENT FLAT-SUFFIX
  local document=$1 flat=$2 name; name=$(basename "$document")
  fake identity "$document" same && cmp -s "$document" same || say "$name changes without a translation"
  for how in shout turned twice nothing; do
    mkdir -p $how
    fake $how "$document" "$how/$name" || { say "$name: $how fails"; continue; }
    well_formed "$how/$name"
  done
  [ -n "$flat" ] || return
  for from in made shout turned; do
    mkdir -p flat_$from
    office "$flat" flat_$from "$from/$name" || say "LibreOffice does not open $from/$name"
  done
  local base=${name%.*}.$flat
  for how in shout turned; do
    diff <(python3 look.py flat_made/"$base" names) <(python3 look.py flat_$how/"$base" names) >differences || { say "$name: $how changes the structure"; head -20 differences; }
  done
  diff <(python3 look.py flat_made/"$base" text) <(python3 look.py flat_shout/"$base" text) >differences || { say "$name: shouting changes the text"; head differences; }
  diff <(python3 look.py flat_made/"$base" words) <(python3 look.py flat_turned/"$base" words) >differences || { say "$name: turning words around changes them"; head differences; }
}

for suffix in odt docx epub; do
  document=$(make "$here/tests/data/office/sample.fodt" $suffix) || { say "LibreOffice makes no $suffix"; continue; }
  try "$document" "$([ $suffix = epub ] || echo fodt)"
done
for suffix in odp pptx; do
  document=$(make "$here/tests/data/office/sample.fodp" $suffix) || { say "LibreOffice makes no $suffix"; continue; }
  try "$document" fodp
done
[ -s shout/sample.epub ] && { [ "$(head -c 58 shout/sample.epub | tail -c 20)" = application/epub+zip ] || say "the book does not begin with its type"; }

messages=0
for file in "${files[@]}"; do
  case $file in
    *.pot) msginit --no-translator -l de_DE.UTF-8 -i "$file" -o empty.po 2>/dev/null ;;
    *) msgattrib --no-obsolete "$file" -o empty.po ;;
  esac
  for how in identity shout turned twice; do
    fake $how empty.po full.po && msgattrib --clear-fuzzy full.po -o clear.po && msgfmt -c -o /dev/null clear.po || say "$file: msgfmt does not like what $how makes"
    grep -q 'msgstr ""$' full.po || say "$file: no message"
  done
  messages=$((messages + $(grep -c '^msgid ' full.po)))
done
[ ${#files[@]} = 0 ] || echo "office_check: $messages messages of ${#files[@]} PO files"
[ $bad = 0 ] && echo "office_check: all good"
exit $bad
