# docs/ganz.1 has every command, and every option that its --help prints, with its letter, its choices and its default.
PAGE=$HERE/../../docs/ganz.1

# section COMMAND: the lines of its part of the page
section() { awk -v head=".Ss $1" '$0 == head {on = 1; next} /^\.S[hs]/ {on = 0} on' "$PAGE"; }
# item OPTION: from the section on standard input, the list entry that names --OPTION
item() { awk \
  -v name="$1" \
    '/^\.It / {on = 0; n = split($0, w, /[ ,]+/); for (i = 1; i <= n; i++) if (w[i] == "-" name && w[i-1] == "Fl") on = 1} on'; }

# check NAME COMMAND...: the help of a command against its section
check() {
  local name=$1 text help line option entry letter default
  shift
  help=$("$@" --help | grep -E '^ +(-., )?--[a-z]')
  text=$(section "ganz $name")
  [ -n "$text" ] || fail "docs/ganz.1 has no section \"ganz $name\""
  while IFS= read -r line; do
    [ -n "$line" ] || continue # a command without options
    option=$(sed -E 's/^ +(-., )?--([a-z0-9-]+).*/\2/' <<<"$line")
    entry=$(item "$option" <<<"$text")
    [ -n "$entry" ] || entry=$(item "$option" <<<"$settings")
    [ -n "$entry" ] || fail "docs/ganz.1: \"ganz $name\" lacks --$option: $line"
    [ "$(grep -c '^\.It ' <<<"$entry")" = 1 ] || fail "docs/ganz.1: \"ganz $name\" explains --$option more than once"
    letter=$(sed -nE 's/^ +-(.), .*/\1/p' <<<"$line")
    [ -z "$letter" ] || grep -qE "^\.It Fl $letter ," <<<"$entry" ||
      fail "docs/ganz.1: \"ganz $name\" lacks -$letter of --$option"
    default=$(sed -nE 's/.* \[([^ ]*)\]$/\1/p' <<<"$line")
    [ -z "$default" ] || grep -qF -- "$default" <<<"$entry" ||
      fail "docs/ganz.1: the default of \"ganz $name --$option\" is $default"
  done <<<"$help"
  for option in $(grep '^\.It ' <<<"$text" | grep -oE 'Fl -[a-z0-9-]+' | cut -c5-); do
    grep -qE -- "^ +(-., )?--$option( |\$)" <<<"$help" || fail "docs/ganz.1: \"ganz $name\" knows no --$option"
  done
}

settings=$(section "Settings of a recipe")
# words that stand in a list of commands
commands() { grep -E '^  [a-z]+ ' | awk '{print $1}'; }
[ "$($GANZ --help | commands | wc -l)" -ge 10 ] || fail "no commands in the help"
for command in $($GANZ --help | commands); do
  about=$($GANZ $command --help)
  if [[ $about == "usage: ganz $command WHAT"* ]]; then
    for what in $(commands <<<"$about"); do check "$command $what" $GANZ $command $what; done
  else
    check $command $GANZ $command
  fi
done

# a page for each command, with the options of its section
sh "$HERE/../../docs/command_pages.sh" "$PAGE" "$HERE/../../cli" pages || fail "no pages"
for command in $($GANZ --help | commands); do
  page=pages/ganz-$command.1
  [ -f $page ] || fail "no page of ganz $command"
  grep -qF ".Nd $($GANZ --help | sed -nE "s/^  $command +//p")" $page || fail "$page: $(grep .Nd $page)"
  grep -qE '^\.Nm( [^g]|$)' <(sed 1,6d $page) && fail "$page names itself where the program is meant"
done
equal "options on pages" "$(section "ganz translate" | grep -c '^\.It ')" "$(grep -c '^\.It ' pages/ganz-translate.1)"

if command -v mandoc >/dev/null; then
  for page in "$PAGE" pages/*.1; do
    mandoc -T lint -W warning "$page" >lint || { cat lint; fail "$page has mistakes"; }
  done
fi
exit 0
