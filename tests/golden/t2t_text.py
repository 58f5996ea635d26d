#!/usr/bin/env python3
"""Tensor2Tensor's subword text rules, written plainly with dictionaries and strings, to compare ganz with.

Nothing here is shared with the C code, and speed was no aim. Python's unicodedata decides the categories: Python 3.11
has Unicode 14.0, utf8proc 2.8 has Unicode 15.0. The two differ only in characters that Unicode 15 added.

  t2t_text.py learn SIZE SAMPLE_CHARS OUT FILE...   learn a vocabulary (SAMPLE_CHARS 0: all text)
  t2t_text.py encode VOCAB  < text > ids
  t2t_text.py decode VOCAB  < ids > text
"""
import os
import re
import sys
import unicodedata
from collections import Counter

RESERVED = ["<pad>", "<EOS>"]
ESCAPE_CHARACTERS = set("\\_u;0123456789")


def is_alnum(c):
    return unicodedata.category(c)[0] in "LN"


def tokenize(text):
    tokens = []
    start = 0
    for i in range(1, len(text) + 1):
        if i < len(text) and is_alnum(text[i]) == is_alnum(text[i - 1]):
            continue
        token = text[start:i]
        if token != " " or start == 0 or i == len(text):
            tokens.append(token)
        start = i
    return tokens if text else []


def join(tokens):
    out = ""
    for i, token in enumerate(tokens):
        if i > 0 and is_alnum(tokens[i - 1][0]) and is_alnum(token[0]):
            out += " "
        out += token
    return out


def escape(token, alphabet):
    token = token.replace("\\", "\\\\").replace("_", "\\u")
    return "".join(c if c in alphabet and c != "\n" else "\\%d;" % ord(c) for c in token) + "_"


def unescape(token):
    def character(match):
        if match.group(0) == "\\u":
            return "_"
        if match.group(0) == "\\\\":
            return "\\"
        try:
            return chr(int(match.group(1)))
        except (ValueError, OverflowError):
            return "\u3013"

    if token.endswith("_"):
        token = token[:-1]
    return re.sub(r"\\u|\\\\|\\([0-9]+);", character, token)


class Vocabulary:
    def __init__(self, entries):
        self.entries = entries
        self.ids = {entry: i for i, entry in enumerate(entries)}
        self.longest = max(len(entry) for entry in entries)
        self.alphabet = set("".join(entries)) | ESCAPE_CHARACTERS

    def segment(self, escaped):
        pieces = []
        at = 0
        while at < len(escaped):
            end = min(len(escaped), at + self.longest)
            while escaped[at:end] not in self.ids:
                end -= 1
                assert end > at, escaped
            pieces.append(escaped[at:end])
            at = end
        return pieces

    def encode(self, text):
        return [self.ids[p] for token in tokenize(text) for p in self.segment(escape(token, self.alphabet))]

    def decode(self, ids):
        joined = "".join(self.entries[i] if 0 <= i < len(self.entries) else "" for i in ids)
        return join([unescape(piece) for piece in joined.split("_") if piece])


def read_vocabulary(path):
    entries = []
    for line in open(path, encoding="utf-8", newline="\n"):
        line = line.strip()
        if line[0] in "'\"" and line[0] == line[-1]:
            line = line[1:-1]
        entries.append(line)
    return Vocabulary(entries)


def write_vocabulary(vocabulary, path):
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        for entry in vocabulary.entries:
            f.write("'" + entry + "'\n")


def build(counts, min_count, iterations=4, max_length=200):
    alphabet = set("".join(counts)) | set("".join(RESERVED)) | ESCAPE_CHARACTERS
    reserved = [escape(r, alphabet) for r in RESERVED]
    vocabulary = Vocabulary(reserved + sorted(alphabet))
    escaped = [(escape(token, alphabet), count) for token, count in counts.items()]
    for _ in range(iterations):
        found = Counter()
        for token, count in escaped:
            start = 0
            for piece in vocabulary.segment(token):
                for end in range(start + 1, min(len(token) + 1, start + max_length)):
                    found[token[start:end]] += count
                start += len(piece)
        kept = []
        candidates = sorted((c for c in found if found[c] >= min_count), key=len, reverse=True)
        for candidate in candidates:
            count = found[candidate]
            if count < min_count:
                continue
            if candidate not in alphabet:
                kept.append((count, candidate))
            for length in range(1, len(candidate)):
                found[candidate[:length]] -= count
        kept += [(found[c], c) for c in alphabet]
        kept.sort(reverse=True)
        vocabulary = Vocabulary(reserved + [entry for _, entry in kept])
    return vocabulary


def search(counts, target, low=1, high=1000):
    middle = (low + high) // 2
    this = build(counts, middle)
    size = len(this.entries)
    print("min_count %d: %d entries" % (middle, size), file=sys.stderr)
    if abs(size - target) * 100 < target or low >= high or middle < 2:
        return this
    other = search(counts, target, middle + 1, high) if size > target else search(counts, target, low, middle - 1)
    return other if abs(len(other.entries) - target) < abs(size - target) else this


def sample(path, chars):
    skip = int(os.path.getsize(path) / chars / 2) if chars else 0
    budget = chars
    skipped = 0
    for line in open(path, encoding="utf-8", newline="\n"):
        if skipped < skip:
            skipped += 1
            continue
        if chars and budget <= 0:
            return
        line = line.strip()
        budget -= len(line)
        skipped = 0
        yield line


def learn(paths, target, chars):
    counts = Counter()
    for path in paths:
        for line in sample(path, chars):
            counts.update(tokenize(line))
    return search(counts, target)


def lines_in():
    return (line.rstrip("\n") for line in open(0, encoding="utf-8", newline="\n"))


def main(argv):
    out = open(1, "w", encoding="utf-8", newline="\n")
    if argv[0] == "learn":
        write_vocabulary(learn(argv[4:], int(argv[1]), int(argv[2])), argv[3])
    elif argv[0] == "encode":
        vocabulary = read_vocabulary(argv[1])
        for line in lines_in():
            print(*vocabulary.encode(line), file=out)
    elif argv[0] == "decode":
        vocabulary = read_vocabulary(argv[1])
        for line in lines_in():
            print(vocabulary.decode([int(i) for i in line.split()]), file=out)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
