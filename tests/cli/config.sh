# Files of defaults: what they say, which goes before which, and what is refused.
mkdir -p home/.config/ganz other/ganz
MODELS=$HERE/../../models
unset GANZ_CONFIG XDG_CONFIG_HOME GANZ_MODEL
export HOME=$PWD/home
own=home/.config/ganz/config
# default COMMAND OPTION: as the help has it
default() { $GANZ "$1" --help | grep -E -- "--$2( |\$)" | sed -E 's/.*\[(.*)\]$/\1/'; }

printf '# mine\n\n[translate]\nbeam = 3\nscores=true\n[score]\n tok = intl \r\n' >$own
equal "of the user" 3 "$(default translate beam)"
equal "white space" intl "$(default score tok)"
printf '[translate]\nbeam = 2\n' >other/ganz/config
equal "of XDG_CONFIG_HOME" 2 "$(XDG_CONFIG_HOME=$PWD/other default translate beam)"
printf '[translate]\nbeam = 5\n' >named
equal "of GANZ_CONFIG" 5 "$(GANZ_CONFIG=named default translate beam)"
equal "of no file" 0 "$(GANZ_CONFIG='' default translate beam)"

# a text with and without defaults, and the command line before them
echo 'Good morning.' >text
plain=$(GANZ_CONFIG='' $GANZ translate --model "$MODELS/en-de.safetensors" text)
$GANZ translate --model "$MODELS/en-de.safetensors" text >said || fail "with defaults"
grep -qE "^-[0-9.]+	$plain\$" said || fail "no scores: $(cat said)"
equal "the command line goes before" "$plain" "$($GANZ translate --no-scores --model "$MODELS/en-de.safetensors" text)"
printf '[translate]\nmodel = nothing.safetensors\n' >named
refuses 1 'nothing.safetensors' env GANZ_CONFIG=named $GANZ translate text
equal "GANZ_MODEL goes before" "$plain" "$(GANZ_MODEL=$MODELS/en-de.safetensors GANZ_CONFIG=named $GANZ translate text)"

# refusals name the file and the line
wrong() { # PATTERN LINE...
  local pattern=$1
  shift
  printf '%s\n' "$@" >named
  refuses 2 "$pattern" env GANZ_CONFIG=named $GANZ translate text
}
wrong 'named:2: --beam needs a whole number, not many' '[translate]' 'beam = many'
wrong 'named:2: --beam needs a value' '[translate]' 'beam ='
wrong 'named:3: unknown option --beem: did you mean --beam' '' '[translate]' 'beem = 2'
wrong 'named:1: no command is named translat' '[translat]'
wrong 'named:1: an option stands below' 'beam = 2'
wrong 'named:2: a line is OPTION = VALUE' '[translate]' 'two words'
wrong 'named:2: --scores is true or false, not yes' '[translate]' 'scores = yes'
refuses 1 'cannot read missing' env GANZ_CONFIG=missing $GANZ translate text
head -c 70000 /dev/zero | tr '\0' '#' >large
refuses 1 'large: more than 64 KiB' env GANZ_CONFIG=large $GANZ translate text
printf '[translate]\n\0' >zero
refuses 1 'zero: no text' env GANZ_CONFIG=zero $GANZ translate text
exit 0
