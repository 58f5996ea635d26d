# Arguments of scripts/ and tools/*.sh, in a copy where nothing can be built: a word that looks like an option and is none is
# refused before anything is done, --help shows the head of the script, and scripts/release takes its options in any order.
root=$HERE/../..
mkdir -p copy/tests others made
cp -r "$root/scripts" "$root/tools" "$root/CMakeLists.txt" copy
cp -r "$root/tests/serve" copy/tests # which tools/serve_load.py is made of
export PATH=$PWD/others:$PATH PYTHON=$PWD/others/python
for name in git cmake abidiff python; do
  printf '#!/bin/bash\n%s\n' 'exec 1>&2; echo "$0 was called"; exit 3' >others/$name
  chmod +x others/$name
done

takes_arguments() {
  find copy/scripts copy/tools -type f \( -name '*.sh' -o ! -name '*.*' \) | LC_ALL=C sort |
    grep -vE '/(progress|arguments|bare_system|model_texts|check_layers|check_style)\.sh$' # to be sourced, or without arguments
}
[ "$(takes_arguments | wc -l)" -ge 35 ] || fail "only these scripts are looked at: $(takes_arguments)"
find copy -type f | LC_ALL=C sort >before
for script in $(takes_arguments); do
  refuses 2 "^$(basename "$script"): there is no option --no-such-option;" "$script" --no-such-option
  refuses 2 'there is no option -x' "$script" -x a b c
  "$script" --help >help 2>err || fail "$script --help ends with $?: $(cat err)"
  [ -s err ] && fail "$script --help says $(cat err)"
  equal "first line of $script --help" "$(sed -n '2s/^# //p' "$script")" "$(head -n 1 help)"
done
find copy -type f | LC_ALL=C sort | cmp - before || fail "a script that refuses its arguments made a file"
refuses 2 'there is no option --fixed' copy/tools/check_format.sh --fixed
refuses 2 'there is no option --user' copy/tools/packages_check.sh bookworm made --user
refuses 2 '1 arguments are too few, it takes 2' copy/tools/findings.sh a
refuses 2 '3 arguments are too many, it takes 2' copy/tools/paper.sh a b c
# tools/*.py without arguments, or without the packages that they need: one sentence or the usage
for tool in $(command -v python3 >/dev/null && ls copy/tools/*.py); do
  timeout 60 python3 -E -S "$tool" </dev/null >said 2>&1
  grep -q Traceback said && fail "$tool: $(tail -n 1 said)"
done

refuses 2 'it is run or test, not tests' copy/scripts/packages tests
refuses 2 '1 arguments are too many, it takes none' copy/scripts/test all
refuses 2 'it is bookworm or trixie, not sid' copy/tools/bare_debian.sh sid demo
refuses 2 '--root needs a value' copy/tools/bare_debian.sh bookworm demo --root
refuses 2 '--abi needs a value' copy/scripts/release --abi
refuses 2 'there is no library nothing.so' copy/scripts/release --packages made --abi nothing.so
refuses 2 'there is no folder nowhere' copy/scripts/release made --packages nowhere
refuses 2 '2 arguments are too many, it takes 1' copy/scripts/release made more

# A release with other programs in the places of those that build.
version=$(sed -nE 's/^project\(ganz VERSION ([0-9.]+).*/\1/p' copy/CMakeLists.txt)
cat >others/git <<'END'
#!/bin/bash
[ "$1" = clone ] || exit 0 # archive: nothing
mkdir -p "${@: -1}/build/release/src" "${@: -1}/tools" "${@: -1}"/build/static{,-models}/cli
cd "${@: -1}" && touch build/release/src/libganz.so build/static{,-models}/cli/ganz
printf '#!/bin/bash\n' >tools/static_check.sh
chmod +x tools/static_check.sh
END
printf '#!/bin/bash\n' >others/cmake
printf '#!/bin/bash\necho "compared with $2"\n' >others/abidiff
printf '#!/bin/bash\n[ "$1" != -m ] && echo "{}"\n' >others/python
mkdir built
touch old.so "built/libganz_$version-1_amd64.deb"
release() { # FOLDER ARGUMENTS...: that FOLDER has the package, and that the library was compared
  local folder=$1
  shift
  copy/scripts/release "$@" >log 2>&1 || fail "release $*: $(cat log)"
  grep -qF "compared with $PWD/old.so" log || fail "release $* compares nothing: $(cat log)"
  [ -e "$folder/libganz_$version-1_amd64.deb" ] || fail "release $* leaves the packages out: $(cat log)"
  grep -q "libganz_$version-1_amd64.deb" "$folder/SHA256SUMS" || fail "release $*: $(cat "$folder/SHA256SUMS")"
}
release made/1 --abi old.so --packages built made/1
release made/2 --packages built --abi old.so made/2
release made/3 made/3 --packages built --abi old.so
release made/4 --packages built made/4 --abi old.so
release copy/dist --packages built --abi old.so
