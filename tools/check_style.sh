#!/bin/bash
# Prints the sizes we watch: lines of files and functions. Fails when a limit of CONTRIBUTING.md is broken.
set -u
cd "$(dirname "$0")/.." || exit 1
files=$(find src include cli tests bench examples -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' | sort)

# A function of ours opens with "{" in the first column and closes with "}" there.
awk '
  FNR == 1 { files++; open = 0 }
  { lines++; length_of[FILENAME] = FNR }
  /^[ ]*(\/\*|\*|\/\/)/ { comments++ }
  /^\{/ { open = FNR }
  /^\}/ && open {
    size = FNR - open + 1
    n++; sizes[n] = size
    if (size > (FILENAME ~ /\/kernel\/|cuda_/ ? 200 : 100)) {
      print "style: " FILENAME ":" open ": function of " size " lines"; bad = 1
    }
    open = 0
  }
  END {
    for (f in length_of) {
      if (length_of[f] > longest) { longest = length_of[f]; name = f }
      if (length_of[f] > 700) { print "style: " f ": " length_of[f] " lines"; bad = 1 }
    }
    for (i = 2; i <= n; i++) {
      v = sizes[i]
      for (j = i - 1; j > 0 && sizes[j] > v; j--) sizes[j + 1] = sizes[j]
      sizes[j + 1] = v
    }
    printf "style: %d files, %d lines (%d%% comments), longest %d (%s)\n",
      files, lines, 100 * comments / lines, longest, name
    printf "style: %d functions, median %d, p95 %d, longest %d lines\n",
      n, sizes[int((n + 1) / 2)], sizes[int(n * 0.95)], sizes[n]
    if (sizes[int(n * 0.95)] > 60) { print "style: more than one function in twenty is over 60 lines"; bad = 1 }
    exit bad
  }' $files
