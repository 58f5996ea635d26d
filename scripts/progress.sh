# For scripts that source it: long commands say how far they are, a line for each quarter of their work.

# quarter WHAT DONE TOTAL: says so when DONE reaches another quarter of TOTAL
quarter() {
  if [ "$2" -gt 0 ] && [ "$3" -gt 0 ] && [ $(($2 * 4 / $3)) != $((($2 - 1) * 4 / $3)) ]; then echo "  $1 $2 of $3"; fi
}

# build_progress: from ninja's lines, "[17/120] Building ..."; others, such as a compiler's, stay as they are
build_progress() {
  local line
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]]; then
      quarter built "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
    else
      printf '%s\n' "$line"
    fi
  done
}

# apt_progress: from the lines of apt-get install
apt_progress() {
  local line total=0 fetched=0 unpacked=0 ready=0
  while IFS= read -r line; do
    case $line in
    *" newly installed, "*) [[ $line =~ ([0-9]+)\ newly\ installed ]] && total=${BASH_REMATCH[1]} ;;
    "Need to get "*) echo "  $total packages, ${line#Need to get }" ;;
    Get:*) quarter fetched $((++fetched)) "$total" ;;
    "Unpacking "*) quarter unpacked $((++unpacked)) "$total" ;;
    "Setting up "*) quarter "set up" $((++ready)) "$total" ;;
    esac
  done
}
