#!/bin/sh
# command_pages.sh MANUAL SOURCES FOLDER: cuts the parts about commands out of ganz.1 into pages of their own, ganz-NAME.1,
# so that "man ganz-translate" works and no text stands twice. The line about a command comes from cli/*.c in SOURCES.
set -eu
manual=$1 sources=$2 folder=$3
mkdir -p "$folder"
# "NAME<tab>SUMMARY" of each command: the first and the third text of its description
cat "$sources"/cmd_*.c | awk '
  /^const cli_command cli_about_/ {on = 1; text = ""; next}
  on {text = text $0; if (text ~ /\.name/ ? text !~ /\.summary = "[^"]*"/ : gsub(/"/, "\"", text) < 6) next
    if (text ~ /\.name/) {sub(/.*\.name = "/, "", text); name = text; sub(/".*/, "", name)
      sub(/.*\.summary = "/, "", text); sub(/".*/, "", text); summary = text
    } else {n = split(text, part, "\""); name = part[2]; summary = part[6]}
    print name "\t" summary; on = 0}' >"$folder/summaries"
for name in $(sed -n 's/^\.Ss ganz \([a-z]*\).*/\1/p' "$manual" | sort -u); do
  summary=$(awk -F '\t' -v name="$name" '$1 == name {print $2}' "$folder/summaries")
  [ -n "$summary" ] || { echo "command_pages: no summary of ganz $name" >&2; exit 1; }
  {
    sed -n 1p "$manual"
    echo ".Dt GANZ-$(echo "$name" | tr a-z A-Z) 1"
    printf '.Os\n.Sh NAME\n.Nm ganz-%s\n.Nd %s\n.Sh DESCRIPTION\n' "$name" "$summary"
    # a name without a word behind it is that of the page, and here that of the program is meant
    case $name in train | quantize) learns=1 ;; *) learns=0 ;; esac
    awk -v head=".Ss ganz $name" -v learns=$learns '
      /^\.S[hs] / {on = $0 == head || index($0, head " ") == 1 || (learns && $0 == ".Ss Settings of a recipe")
        if (on && $0 != head) print; next}
      on {sub(/^\.Nm$/, ".Nm ganz"); sub(/Nm Cm /, "Nm ganz Cm "); sub(/^\.Nm ([.,;:]|Ns)/, ".Nm ganz &")
        sub(/^\.Nm ganz \.Nm /, ".Nm ganz "); print}' "$manual"
    printf '.Sh SEE ALSO\n.Xr ganz 1 ,\nwhich has what all commands share: documents, environment, files, exit status.\n'
  } >"$folder/ganz-$name.1"
done
rm "$folder/summaries"
