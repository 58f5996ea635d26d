#!/bin/bash
# Prints the sizes we watch (CONTRIBUTING.md): lengths of files and functions, parameters, head comments. Fails when one
# has become worse than its limit. LIST=1 names the functions with more than six parameters.
set -u
cd "$(dirname "$0")/.." || exit 1
every() { find "$@" \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) | LC_ALL=C sort; }

# A function of ours opens with "{" in the first column and closes with "}" there, or is one line that begins in it.
# Names of types and macros are told from functions by the "(" and the body.
read -r -d '' measure <<'AWK'
  function note(parameters) {
    if (parameters > 6) { wide++; if (list) print "style: " FILENAME ":" FNR ": " parameters " parameters" }
  }
  # Commas of the last parenthesis that opens at depth 0 of a definition's head.
  function count_parameters(text,    i, c, depth, n) {
    n = 0
    for (i = 1; i <= length(text); i++) {
      c = substr(text, i, 1)
      if (c == "(") { if (depth++ == 0) n = 1 }
      else if (c == ")") depth--
      else if (c == "," && depth == 1) n++
    }
    return n
  }
  FNR == 1 {
    files++
    open = 0
    head = ""
    if ($0 !~ /^\/\*|^\/\//) { headless++; print "style: " FILENAME ": no head comment" }
  }
  { lines++; length_of[FILENAME] = FNR }
  /^[ ]*(\/\*|\*|\/\/)/ { comments++ }
  /^[a-z_].*[(]/ && !/;$/ {
    head = $0
    if ($0 ~ /\) \{.*\}$/) { sub(/\) \{.*/, ")", head); note(count_parameters(head)); head = ""; sizes[++n] = 1 }
    next
  }
  head != "" && !/^\{/ { head = head $0; if ($0 ~ /;$|=/) head = "" }
  /^\{/ { open = FNR; if (head != "") note(count_parameters(head)); head = "" }
  /^\}/ && open {
    size = FNR - open + 1
    sizes[++n] = size
    if (size > (FILENAME ~ /kernel|cuda_/ ? 200 : 100)) {
      print "style: " FILENAME ":" open ": function of " size " lines"
      bad = 1
    }
    open = 0
  }
  function sift(i, most,    j, v) { # of a heap
    v = sizes[i]
    for (; (j = 2 * i) <= most; i = j) {
      if (j < most && sizes[j + 1] > sizes[j]) j++
      if (sizes[j] <= v) break
      sizes[i] = sizes[j]
    }
    sizes[i] = v
  }
  function at_most(what, value, limit) {
    if (value > limit) { printf "style: %s of %s is %d, more than %d\n", what, where, value, limit; bad = 1 }
  }
  END {
    for (f in length_of) {
      if (length_of[f] > 700) { print "style: " f ": " length_of[f] " lines"; bad = 1 }
    }
    for (i = int(n / 2); i > 0; i--) sift(i, n)
    for (m = n; m > 1; m--) { v = sizes[1]; sizes[1] = sizes[m]; sizes[m] = v; sift(1, m - 1) }
    median = sizes[int((n + 1) / 2)]; p95 = sizes[int(n * 0.95)]
    printf "style: %s: %d files, %d lines (%d%% comments); the longest:", where, files, lines, 100 * comments / lines
    for (i = 0; i < 3; i++) {
      longest = 0
      for (f in length_of) if (length_of[f] > longest) { longest = length_of[f]; name = f }
      printf "%s %s %d", i ? "," : "", name, longest
      delete length_of[name]
    }
    print ""
    printf "style: %s: %d functions, median %d, p95 %d, longest %d lines; %d with more than six parameters\n", where, n,
      median, p95, sizes[n], wide
    at_most("the median of functions", median, median_limit)
    at_most("the 95th percentile of functions", p95, p95_limit)
    at_most("the number of functions with more than six parameters", wide, wide_limit)
    at_most("the number of files without a head comment", headless, 0)
    exit bad
  }
AWK

# check WHERE MEDIAN P95 WIDE FOLDERS...
check() {
  local where=$1 median=$2 p95=$3 wide=$4
  shift 4
  # shellcheck disable=SC2046
  awk -v where="$where" -v median_limit="$median" -v p95_limit="$p95" -v wide_limit="$wide" -v list="${LIST:-}" \
    "$measure" $(every "$@")
}

status=0
check src 8 23 22 src || status=1
check server 9 23 2 server || status=1
check "the rest" 13 36 5 include cli python tests bench fuzz examples || status=1
wide=$(every src server include cli python tests bench fuzz examples | \
  LC_ALL=C.UTF-8 xargs awk 'length($0) > 120 && !/"|\\$/ {print FILENAME ":" FNR}') # texts and macros are set otherwise
[ -z "$wide" ] || { echo "$wide" | sed 's/^/style: more than 120 columns: /'; status=1; }
# A file that names its interpreter is run by its name, by people and by other scripts.
idle=$(find .ci bench debian docs examples fuzz python scripts tests tools -type f ! -name '*.[ch]' ! -path '*/corpus/*' \
  ! -executable -exec awk 'FNR == 1 && /^#!/ { print FILENAME } { nextfile }' {} +)
[ -z "$idle" ] || { echo "$idle" | sed 's/^/style: not executable: /'; status=1; }
exit $status
