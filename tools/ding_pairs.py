#!/usr/bin/env python3
"""ding_pairs.py --from en|de --out STEM [--phrases STEM] [--rank TEXT] [--parallel STEM] DICTIONARY: words and phrases of the dictionary of Ding as
parallel text.

DICTIONARY is the file that Debian's package trans-de-en installs as /usr/share/trans/de-en (GPL-2+): "GERMAN :: ENGLISH" a
line, where | separates forms of an entry and ; words of the same meaning. STEM.en.xz and STEM.de.xz get one pair a line.

--from says which side will be the source: each of its words is paired with one word of the other side, the first of the entry.
A source that stands in several entries is paired once: with the translation whose rarest word is the most frequent in the
texts of --rank (plain or .xz, in the language of the target); notes, which narrow a meaning, and more words than the source
has count against it. With --parallel, texts in both languages (STEM.en, STEM.de, plain or .xz), the translation that stands most often
in the other sentence where the source stands in one comes first, whichever word of its entry it is; and English verbs ("to save") are paired without their "to" too, as
labels have them, if the texts know such a pair. Left out are entries with
placeholders (sth., jdn.), names of species and the like, words marked old, vulgar or regional, and what is longer than
--most words. --phrases writes the entries that are whole sentences (signs, greetings, sayings) once more to files of their own,
each with up to three of its translations, so that they can have a weight of their own."""
import argparse
import collections
import lzma
import math
import os
import re
import sys

PLACEHOLDER = re.compile(r"\b(etw|jd|jdm|jdn|jds|jmd|jmdm|jmdn|sb|sth|so|sb's|sth's|oneself|one's|someone's)\b\.?")
SPECIES = re.compile(r"zoologische|botanische|\((Gattung|Familie|Ordnung)|\([A-Z][a-z]+ [a-z]+\)|\[ornith\.\]")
AVOIDED = re.compile(r"\[(archaic|obs|obs\.|veraltet|altertümlich|dated|rare|selten|slang|vulg|vulg\.|vulgär|pej|pej\.|pej\.?|Ös\.|"
                     r"Schw\.|Süddt\.|Norddt\.|Ostdt\.|Mitteldt\.|Sc\.|Ir\.|Austr\.|NZ|Am\.|humor\.|humor|poet\.|poet|Jägersprache|DDR|"
                     r"South Africa|India|Canada|Westös\.|Ostös\.|Bayr\.|Tirol|Wien|geh\.|euphem\.)\]")
NOTES = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)|<[^<>]*>|/[^/]*/")
NARROWING = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
FINE = re.compile(r"^[\w’'!?.,;:€$%&„“‚‘\"\- –]+$", re.UNICODE)


def split_outside(text, separator):
    """Parts between separators that stand in no bracket."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        if c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth = max(0, depth - 1)
        elif c == separator and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    parts.append(text[begin:])
    return parts


def clean(text):
    """A word or phrase without its notes, or nothing when it is of no use."""
    if AVOIDED.search(text):
        return ""
    for _ in range(3):
        text = NOTES.sub(" ", text)
    text = " ".join(text.split()).replace(" ,", ",").replace(" !", "!").replace(" ?", "?").replace(" .", ".")
    text = text.replace("’", "'")  # as people type it
    text = re.sub(r"^['‘‚„“\"](.*)['’‘“”\"]$", r"\1", text)
    if not text or PLACEHOLDER.search(text) or not FINE.match(text) or "..." in text or text[0] in "-,;.:":
        return ""
    return text if re.search(r"\w", text) and not text.endswith(("-", ",")) else ""


def entries(lines):
    """German words and English words, each with the number of its notes, of each form of each entry that is of use."""
    for line in lines:
        if line.startswith("#") or line.count("::") != 1:
            continue
        german, english = (split_outside(side.strip(), "|") for side in line.split("::"))
        if len(german) != len(english) or SPECIES.search(line):
            continue
        for form in zip(german, english):
            words = [[(c, len(NARROWING.findall(part))) for part in split_outside(side, ";") for c in [clean(part)] if c] for side in form]
            if words[0] and words[1]:
                yield words


def count_words(paths):
    counts = collections.Counter()
    for path in paths:
        with (lzma.open if path.endswith(".xz") else open)(path, "rt", encoding="utf-8") as file:
            for line in file:
                counts.update(re.findall(r"\w+", line))
    return counts


def opened(path):
    return lzma.open(path, "rt", encoding="utf-8") if path.endswith(".xz") else open(path, encoding="utf-8")


def stem(word):
    """A word without the endings of its forms, as far as that is needed to know it again."""
    return word[:-2] if len(word) > 5 else word


def beginnings(words):
    """All that stem() could make of forms of these words."""
    return {word[:n] for word in words for n in range(max(1, min(len(word), 4), len(word) - 3), len(word) + 1)}


def count_pairs(candidates, source, stems):
    """How often a source and each of its candidates stand in two sentences that are translations of each other."""
    index = collections.defaultdict(list)
    for text, targets in candidates.items():
        words = re.findall(r"\w+", text.lower())
        if 0 < len(words) <= 4:
            index[" ".join(words)] += [(text, t, [stem(w) for w in re.findall(r"\w+", t.lower())]) for t in targets]
    target, counts = "de" if source == "en" else "en", collections.Counter()
    for name in stems:
        end = ".xz" if os.path.exists(f"{name}.{source}.xz") else ""
        with opened(f"{name}.{source}{end}") as sources, opened(f"{name}.{target}{end}") as targets:
            for from_line, to_line in zip(sources, targets):
                words = re.findall(r"\w+", from_line.lower())
                if len(words) > 60:
                    continue
                there = beginnings(re.findall(r"\w+", to_line.lower()))
                keys = {" ".join(words[i:i + n]) for n in range(1, 5) for i in range(len(words) - n + 1)}
                for key in keys:
                    for text, t, parts in index.get(key, ()):
                        if parts and all(part in there for part in parts):
                            counts[text, t] += 1
    return counts


def write(stem, source, pairs):
    target = "de" if source == "en" else "en"
    with lzma.open(f"{stem}.{source}.xz", "wt", encoding="utf-8") as from_file, \
            lzma.open(f"{stem}.{target}.xz", "wt", encoding="utf-8") as to_file:
        for from_text, to_text in pairs:
            from_file.write(from_text + "\n")
            to_file.write(to_text + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", choices=["en", "de"], required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--phrases")
    parser.add_argument("--rank", action="append", default=[])
    parser.add_argument("--parallel", action="append", default=[])
    parser.add_argument("--most", type=int, default=12)
    parser.add_argument("dictionary")
    args = parser.parse_args()
    counts = count_words(args.rank)
    found, phrases = collections.defaultdict(dict), collections.defaultdict(dict)
    own = set()  # sources that have an entry of their own
    with open(args.dictionary, encoding="utf-8") as file:
        for german, english in entries(file):
            sources, targets = (english, german) if args.source == "en" else (german, english)
            for place, (target, notes) in enumerate(targets if args.parallel else targets[:1]):
                words = re.findall(r"\w+", target)
                if len(words) > args.most:
                    continue
                known = min((math.log1p(counts[w]) for w in words), default=0.0)
                if counts and known == 0 and notes:
                    continue  # a word of some trade that no text uses
                for source, narrow in sources:
                    have = len(re.findall(r"\w+", source))
                    rank = known - 1.5 * (notes + narrow) - 1.5 * max(0, len(words) - have) - 3 * (place > 0)
                    if have > args.most:
                        continue
                    if place == 0 and source[-1] in ".!?" and target[-1] in ".!?":
                        phrases[source][target] = rank
                    own.add(source)
                    found[source][target] = max(rank, found[source].get(target, rank))
                    if args.parallel and source.startswith("to ") and " " not in source[3:]:
                        found[source[3:]][target] = max(rank - 3, found[source[3:]].get(target, rank - 3))
    together = count_pairs(found, args.source, args.parallel)
    def worth(source, target, rank):
        return 2 * math.log1p(together[source, target]) + rank
    best = {}
    for source, targets in found.items():
        target = max(targets, key=lambda t: (worth(source, t, targets[t]), t))
        if source in own or together[source, target] > 2:
            best[source] = target
    write(args.out, args.source, list(best.items()))
    if args.phrases:
        write(args.phrases, args.source, [(source, target) for source, forms in phrases.items()
                                          for target in sorted(forms, key=lambda t: worth(source, t, forms[t]), reverse=True)[:3]])
    print(f"{len(best)} pairs", file=sys.stderr)


if __name__ == "__main__":
    main()
