#!/usr/bin/env python3
"""Makes tests/golden/pieces: small SentencePiece models, lines of text, and their ids and texts as Python's sentencepiece
0.2.1 has them, by piece numbers of the model. The lines are of our own; the character maps are small.

    make_pieces.py FOLDER"""
import io
import os
import random
import sys
import tempfile

import sentencepiece

WORDS = """the a train leaves at half past seven she has been learning german for three years new law will come into
force next year i would like to cancel my order water weather river bridge market winter summer letter number teacher
low lower lowest newest wider ähnlich größer straße über für früh zug wir sind heute nicht dort morgen wieder 2026 777""".split()
RULES = "\n".join(["FB01\t66 69", "A0\t20", "3000\t20", "200B\t", "FF21\t41", "BD\t31 2044 32", "41 308\tC4", "9\t20",
                   "2003 2003\t20", "FF21 FF21\t41 41 20"]) + "\n"
# One character that becomes 18, as in NFKC, of which each falls back to two bytes.
LONG = "FDFA\t635 644 649 20 627 644 644 647 20 639 644 64A 647 20 648 633 644 645\n"
ODD = "äÄßﬁ½ＡＡ\u3000\u200b\u2581\u00a0\t ,.-“…中文字ไทย😀\u0308<>u"


def sentences(count, rng):
    for _ in range(count):
        yield " ".join(rng.choice(WORDS) + rng.choice(["", "", "", ",", ".", "s"]) for _ in range(rng.randint(3, 12)))


def lines(rng):
    out = ["", " ", "a", "777", "7777777", "Hello <sep> wo<sep>rld  ", "  two  spaces ", "x\u3000\u3000y", "A\u0308 ﬁ ½ ＡＡＡ",
           "\u2003\u2003\u2003z", "中文字", "\u2581\u2581a", "<unk> <s> </s> <pad> <0x41>", "<sep><sep>", "lowest newest"]
    out += list(sentences(60, rng))
    for _ in range(60):
        pieces = []
        for _ in range(rng.randint(1, 25)):
            pieces.append(rng.choice([rng.choice(ODD), rng.choice(WORDS), " ", rng.choice("abcdefg")]))
        out.append("".join(pieces))
    return [line.replace("\n", " ").replace("\r", " ") for line in out]


def train(folder, name, text, rules=RULES, **options):
    """In a folder of its own, so that no path gets into the file."""
    made, home = io.BytesIO(), os.getcwd()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        with open("rules", "w", encoding="utf-8") as out:
            out.write(rules)
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(text), model_writer=made, normalization_rule_tsv="rules", num_threads=1, minloglevel=2,
            hard_vocab_limit=False, **options)
        os.chdir(home)
    with open(os.path.join(folder, name + ".spm"), "wb") as out:
        out.write(made.getvalue())


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    rng = random.Random(17)
    text = list(sentences(2000, rng))
    train(folder, "unigram", text, vocab_size=200)
    train(folder, "marian", text, vocab_size=400, byte_fallback=True, user_defined_symbols=["<sep>", "ow"],
          eos_id=0, unk_id=1, bos_id=-1)
    train(folder, "bpe", text, vocab_size=180, model_type="bpe", user_defined_symbols=["<sep>", "ow"], pad_id=3)
    train(folder, "char", text, vocab_size=80, model_type="char")
    train(folder, "bare", text, vocab_size=150, add_dummy_prefix=False, remove_extra_whitespaces=False)
    train(folder, "suffix", text, vocab_size=150, model_type="bpe", treat_whitespace_as_suffix=True)
    train(folder, "fallback", text, rules=LONG, vocab_size=340, byte_fallback=True, eos_id=0, unk_id=1, bos_id=-1)
    tests = lines(rng)
    with open(os.path.join(folder, "lines.txt"), "w", encoding="utf-8", newline="\n") as out:
        out.write("".join(line + "\n" for line in tests))
    for name in ["unigram", "marian", "bpe", "char", "bare", "suffix"]:
        model = sentencepiece.SentencePieceProcessor(model_file=os.path.join(folder, name + ".spm"))
        with open(os.path.join(folder, name + ".ids"), "w", encoding="utf-8", newline="\n") as out:
            for line in tests:
                ids = model.EncodeAsIds(line)
                out.write(" ".join(map(str, ids)) + "\n")
        with open(os.path.join(folder, name + ".txt"), "w", encoding="utf-8", newline="\n") as out:
            for line in tests:  # unknown pieces have no text in ganz
                ids = [i for i in model.EncodeAsIds(line) if i != model.unk_id()]
                out.write(model.DecodeIds(ids) + "\n")


main()
