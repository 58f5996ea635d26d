#!/usr/bin/env python3
"""links_check.py DATA [--model MODEL] [--links FILE]: how many links between words are wrong, judged by eflomal.

DATA is a folder as for tools/models.sh: newstest2013.en, and train/NAME.en.xz and train/NAME.de.xz for tatoeba and
europarl-news. Of the first the beginning, of Tatoeba a line here and there are translated (586 in all) with MODEL (en-de: the
default), and eflomal aligns them with their translations, in both directions, together with 36,000 pairs of the other texts.
What both directions say is sure, what one says is possible. Errors of 100: 100 - 100 (sure links that are made + links made
that are possible) / (links made + sure links), the alignment error rate. Weak links do not count. eflomal draws random
numbers, so the last digit moves. --links writes the sentences and all links as JSON.

Needs the modules ganz (PYTHONPATH=build/release/python) and eflomal (pip install eflomal); ends with 77 where one is missing.
"""
import argparse
import itertools
import json
import lzma
import os
import re
import sys
import tempfile

try:
    import eflomal
    import ganz
except ImportError as missing:
    print(f"links_check: skipped, there is no module {missing.name}", file=sys.stderr)
    raise SystemExit(77)

NEWS_LINES, TATOEBA_EVERY, TATOEBA_PAIRS, OTHER_PAIRS, TRAIN_EVERY = 300, 701, 120000, 60000, 5


def lines_of(data, name):
    path = os.path.join(data, name)
    with (lzma.open if name.endswith(".xz") else open)(path, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in lines]


class Words:
    """The words and signs of a text, and which of them a character belongs to."""

    def __init__(self, text):
        found = list(re.finditer(r"\w+|[^\w\s]", text))
        self.words = [m.group().lower() for m in found]
        self.at = {place: i for i, m in enumerate(found) for place in range(*m.span())}

    def line(self):
        return " ".join(self.words)


def training_pairs(data):
    pairs = []
    for name, most in (("tatoeba", TATOEBA_PAIRS), ("europarl-news", OTHER_PAIRS)):
        sides = [lines_of(data, f"train/{name}.{side}.xz")[:most] for side in ("en", "de")]
        pairs += zip(*sides)
    pairs = [tuple(Words(text).line() for text in pair) for pair in pairs[::TRAIN_EVERY]]
    return [pair for pair in pairs if all(pair)]


def statistical_links(pairs, count):
    """Both directions of eflomal, of the first `count` pairs."""
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, name) for name in ("forward", "reverse")]
        eflomal.Aligner().align([a + "\n" for a, _ in pairs], [b + "\n" for _, b in pairs], *files)
        return [[{tuple(map(int, link.split("-"))) for link in line.split()}
                 for line in itertools.islice(open(name, encoding="ascii"), count)] for name in files]


def own_links(result, source, target):
    pairs = ((source.at.get(link.source[0]), target.at.get(link.target[0])) for link in result.links if not link.weak)
    return {pair for pair in pairs if None not in pair}


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split(":")[0], description=__doc__.split("\n\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--model", default="en-de")
    parser.add_argument("--links")
    options = parser.parse_args()
    try:
        texts = lines_of(options.data, "newstest2013.en")[:NEWS_LINES]
        texts += lines_of(options.data, "train/tatoeba.en.xz")[TATOEBA_EVERY - 1::TATOEBA_EVERY]
        train = training_pairs(options.data)
    except OSError as error:
        raise SystemExit(f"links_check: {error.filename}: {error.strerror}")
    results = ganz.Translator(options.model).translate_batch(texts, alignment=True)
    sides = [(Words(text), Words(result.text)) for text, result in zip(texts, results)]
    sides, results = zip(*[(s, r) for s, r in zip(sides, results) if s[0].words and s[1].words])
    forward, reverse = statistical_links([(a.line(), b.line()) for a, b in sides] + train, len(sides))
    own = [own_links(result, *side) for result, side in zip(results, sides)]
    sure = [f & r for f, r in zip(forward, reverse)]
    possible = [f | r for f, r in zip(forward, reverse)]
    made, wanted = sum(map(len, own)), sum(map(len, sure))
    hits = sum(len(o & s) for o, s in zip(own, sure))
    allowed = sum(len(o & p) for o, p in zip(own, possible))
    print(f"{len(own)} sentences, {made} links made, {wanted} sure: precision {100 * allowed / made:.1f}, "
          f"recall {100 * hits / wanted:.1f}, errors {100 - 100 * (hits + allowed) / (made + wanted):.1f} of 100")
    if options.links:
        with open(options.links, "w", encoding="utf-8") as out:
            for (a, b), o, f, r in zip(sides, own, forward, reverse):
                json.dump({"source": a.words, "target": b.words, "own": sorted(o), "forward": sorted(f),
                           "reverse": sorted(r)}, out, ensure_ascii=False)
                out.write("\n")


main()
