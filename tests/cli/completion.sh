# ganz completion: what the shells themselves make of it, where they are there; every option of --help is in it.
refuses 2 'name one shell' $GANZ completion
refuses 2 'the shell is bash, zsh or fish, not tcsh' $GANZ completion tcsh
for shell in bash zsh fish; do
  $GANZ completion $shell >$shell.out || fail "completion $shell"
  command -v $shell >/dev/null || continue
  $shell -n $shell.out || fail "$shell does not read its completions"
done
for command in $($GANZ --help | grep -E '^  [a-z]+ ' | awk '{print $1}'); do
  grep -q -- " -a $command -d " fish.out || fail "fish is not told of $command"
  [ $command = bench ] && continue
  for option in $($GANZ $command --help | grep -E '^ +(-., )?--[a-z]' | sed -E 's/^ +(-., )?--([a-z0-9-]+).*/\2/'); do
    grep -qE -- "from $command' -l $option( |\$)" fish.out || fail "fish is not told of $command --$option"
  done
done

# ask WORD...: what bash offers for the last word
ask() {
  bash -c 'source bash.out; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ganz; echo "${COMPREPLY[*]}"' _ ganz "$@"
}
equal "commands" "translate" "$(ask transl)"
equal "options" "--newlines" "$(ask translate --newl)"
equal "choices" "end space never" "$(ask translate --newlines '')"
equal "choices behind =" "end space never" "$(ask translate --newlines =)" # as bash cuts words
equal "choices behind = and a letter" "never" "$(ask translate --newlines = n)"
equal "commands to have help for" "translate" "$(ask help transl)"
equal "choices behind a letter" "bleu" "$(ask score -m b)"
equal "parts of bench" "train translate" "$(ask bench t)"
equal "options of bench" "--vocab-size" "$(ask bench train --vocab-s)"
equal "shells" "bash zsh fish" "$(ask completion '')"
if command -v fish >/dev/null; then
  equal "fish, help" "translate" "$(HOME=$PWD fish -c 'source fish.out; complete -C "ganz help transl"' 2>/dev/null | cut -f1)"
  equal "fish" "never" "$(HOME=$PWD fish -c 'source fish.out; complete -C "ganz translate --newlines n"' 2>/dev/null | cut -f1)"
fi
exit 0
