#!/bin/bash
# fuzz_table.sh COUNTS...: the table of docs/RELIABILITY.md from the counts of fuzz_campaign.sh, two targets a line, and below
# how many there are in all and which have not had ten million.
set -eu
. "$(dirname "$0")/../scripts/arguments.sh"
arguments 1 any "$@"
sort "$@" | awk '
  function grouped(n,   text) {
    for (; n >= 1000; n = int(n / 1000)) text = sprintf(",%03d%s", n % 1000, text)
    return n + 0 text
  }
  function cells(t) { return t == "" ? "| |" : substr(t, 6) " | " grouped(asan[t]) " | " grouped(fast[t]) }
  !($1 in seen) { seen[$1] = 1; name[++n] = $1 }
  $5 == "fast" { fast[$1] += $2; all_fast += $2 }
  $5 != "fast" { asan[$1] += $2; all_asan += $2 }
  END {
    half = int((n + 1) / 2)
    print "| target | with ASan | fast | target | with ASan | fast |\n| --- | ---: | ---: | --- | ---: | ---: |"
    for (i = 1; i <= half; i++) print "| " cells(name[i]) " | " cells(name[i + half]) " |"
    for (i = 1; i <= n; i++) if (asan[name[i]] + fast[name[i]] < 10000000) few = few " " substr(name[i], 6)
    print "\nAll: " grouped(all_asan) " with ASan, " grouped(all_fast) " fast. Below ten million:" (few == "" ? " none" : few)
  }'
