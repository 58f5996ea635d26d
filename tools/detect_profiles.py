#!/usr/bin/env python3
"""detect_profiles.py FOLDER latin|other: writes the profiles of src/text/profiles_latin.c or profiles_other.c.

FOLDER has a text file LANGUAGE.txt for each language. Those of the repository were counted in Debian 12: translated
messages of programs, gnome-user-docs, freeciv's help, package descriptions and fortunes, at most 500 kB of each for
each language, and 600 kB of news for English and German. A profile is the most frequent 800 trigrams of a language,
in lower case, with _ for whatever is no letter, in groups by their share of all trigrams: the number before a group
is -2 ln(share), rounded.
"""
import argparse
import collections
import math
import re
import sys

GROUPS = {
    "latin": "ca cs da de en es et fi fr hr hu id it lt lv nb nl pl pt ro sk sl sv tr vi".split(),
    "other": "ar be bg fa ru sr uk".split(),
}
MOST = 800
WIDTH = 108


def trigrams(line):
    text = "_" + re.sub(r"[\W\d_]+", "_", line.lower()).strip("_") + "_"
    return [text[i:i + 3] for i in range(len(text) - 2)] if len(text) > 2 else []


def profile(path):
    counts = collections.Counter()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            counts.update(g for g in trigrams(line) if max(g) < "\U00010000")
    every = sum(counts.values())
    groups = collections.defaultdict(list)
    for gram, count in sorted(counts.most_common(MOST), key=lambda item: (-item[1], item[0])):
        groups[round(-2 * math.log(count / every))].append(gram)
    return [f"{level}{''.join(grams)}" for level, grams in sorted(groups.items())]


def parts(groups):
    """Two strings, because C compilers need not take more than 4,095 bytes."""
    half = sum(map(len, groups)) / 2
    first = ""
    while len(first) < half:
        first += groups.pop(0)
    return first, "".join(groups)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("group", choices=sorted(GROUPS))
    options = parser.parse_args()
    folder, group = options.folder, options.group
    print(f"/* Profiles of languages in {'Latin' if group == 'latin' else 'other'} letters: trigrams in groups by"
          " frequency, _ for what is no letter.\n * Written by tools/detect_profiles.py, which says what the numbers"
          " are. */")
    print('#include "text/profiles.h"\n\n/* clang-format off */')
    print(f"const ganz_profile ganz_profiles_{group}[] = {{")
    for language in GROUPS[group]:
        texts = parts(profile(f"{folder}/{language}.txt"))
        print(f'    {{"{language}", {{')
        for number, text in enumerate(texts):
            for at in range(0, len(text), WIDTH):
                last = at + WIDTH >= len(text)
                print(f'     "{text[at:at + WIDTH]}"{("," if number == 0 else "}},") if last else ""}')
    print("    {NULL, {NULL, NULL}},\n};\n/* clang-format on */")


main()
