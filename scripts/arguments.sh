# For scripts that source it: what every one of them does with its arguments. An option that a script does not have is
# refused before anything is done, instead of being taken for the name of a file or folder.

# help: the comment at the head of the script
help() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; }

# refuse WORDS...: one sentence, and the end
refuse() { echo "$(basename "$0"): $*; --help tells what there is" >&2; exit 2; }

# unknown WORD: ends with the help if it asks for it, refuses it if it looks like an option; to go on with otherwise
unknown() {
  case $1 in
  --help | -h) help; exit 0 ;;
  -?*) refuse "there is no option $1" ;;
  esac
}

# needs OPTION COUNT: COUNT arguments are left, the option among them
needs() { [ "$2" -ge 2 ] || refuse "$1 needs a value"; }

# arguments LEAST MOST "$@": as many as the script takes (MOST "any": no end), none of them an option; where there are none
# at all and should be, the help. A script whose last arguments belong to another program gives the first ones alone.
arguments() {
  local least=$1 most=$2 word
  shift 2
  for word; do unknown "$word"; done
  [ $# -gt 0 ] || [ "$least" = 0 ] || { help >&2; exit 2; }
  [ $# -ge "$least" ] || refuse "$# arguments are too few, it takes $least"
  [ "$most" = any ] || [ $# -le "$most" ] || refuse "$# arguments are too many, it takes ${most/#0/none}"
}
