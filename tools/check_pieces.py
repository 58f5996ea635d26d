#!/usr/bin/env python3
"""Compares `ganz encode` and `ganz decode` with Python's sentencepiece (pinned: 0.2.1), line by line, for SentencePiece
models and text files, and for 1,000 lines of odd Unicode made here.

    check_pieces.py --ganz build/release/bin/ganz MODEL.spm... [--text FILE...]

ganz numbers padding 0 and the end mark 1, then the other pieces in their order."""
import argparse
import random
import subprocess
import sys

try:
    import sentencepiece
except ImportError as missing:
    sys.exit(f"check_pieces: {missing}")


def odd_lines(count, seed):
    """Lines of all planes, combining marks, spaces of all kinds, controls; invalid characters are left out, as `ganz`
    replaces them before any tokenizer sees them."""
    rng = random.Random(seed)
    special = " \t\u00a0\u3000\u200b\u00ad\u2581\ufeff\ufffd\u0301\u0308\u200d\ufe0f\u2028\u0000\u0001"
    special += "“”’…—ﬁ½①Ⅷ㎏㍿ﷺ가각힣ﾊﾞｶﾞÅäÄß777000"
    ranges = [(0x20, 0x7E)] * 4 + [(0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0x97F)]
    ranges += [(0xE00, 0xE7F), (0x1100, 0x11FF), (0x2000, 0x2BFF), (0x3000, 0x33FF), (0x4E00, 0x9FFF)]
    ranges += [(0xAC00, 0xD7A3), (0xF900, 0xFFFF), (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF), (0x20000, 0x2A6DF)]
    for _ in range(count):
        line = []
        for _ in range(rng.randint(0, 60)):
            kind = rng.random()
            if kind < 0.2:
                line.append(rng.choice(special))
            elif kind < 0.3:
                line.append(" " * rng.randint(1, 3))
            else:
                low, high = rng.choice(ranges)
                line.append(chr(rng.randint(low, high)))
        yield "".join(line).replace("\n", " ").replace("\r", " ")


def order(model):
    """The number that ganz gives to each piece."""
    end = [i for i in range(len(model)) if model.IsControl(i) and model.IdToPiece(i) == "</s>"]
    pad = [i for i in range(len(model)) if model.IsControl(i) and model.IdToPiece(i) == "<pad>"]
    numbers, following = {}, 2
    for i in range(len(model)):
        if i in end[-1:]:
            numbers[i] = 1
        elif i in pad:
            numbers[i] = 0
        else:
            numbers[i] = following
            following += 1
    return numbers


def run(ganz, command, model, lines):
    text = "".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass")
    out = subprocess.run([ganz, command, "--vocab", model], input=text, stdout=subprocess.PIPE, check=True).stdout
    return out.decode().split("\n")[:-1]


def check(ganz, path, lines):
    model = sentencepiece.SentencePieceProcessor(model_file=path)
    numbers = order(model)
    expected = [[numbers[i] for i in ids] for ids in model.EncodeAsIds(lines)]
    found = [[int(i) for i in line.split()] for line in run(ganz, "encode", path, lines)]
    wrong = [i for i, pair in enumerate(zip(expected, found)) if pair[0] != pair[1]]
    known = [i for i, ids in enumerate(model.EncodeAsIds(lines)) if model.unk_id() not in ids]
    texts = run(ganz, "decode", path, [" ".join(map(str, expected[i])) for i in known])
    decoded = [model.DecodeIds(model.EncodeAsIds(lines[i])) for i in known]
    spoiled = [i for i, pair in enumerate(zip(decoded, texts)) if pair[1] not in (pair[0], pair[0].strip(" "))]
    print(f"{path}: {len(lines)} lines, {len(wrong)} with other ids, {len(spoiled)} of {len(known)} with other text")
    for i in wrong[:3]:
        print("  line", repr(lines[i]), "\n  expected", expected[i], "\n  found   ", found[i])
    for i in spoiled[:3]:
        print("  text", repr(decoded[i]), "\n  found", repr(texts[i]))
    return len(found) == len(lines) and not wrong and not spoiled


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ganz", required=True)
    parser.add_argument("--text", nargs="*", default=[])
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    lines = list(odd_lines(1000, 17))
    for path in options.text:
        with open(path, encoding="utf-8", newline="\n") as file:
            lines += [line.rstrip("\n") for line in file]
    results = [check(options.ganz, model, lines) for model in options.models]
    sys.exit(0 if all(results) else 1)


main()
