"""Texts and expected values for the tests of scores. Needs sacrebleu 2.x (and its `regex`); the tests do not.

    make_score.py golden DIR         writes DIR (tests/golden/score): texts, scores.tsv, words.tsv
    make_score.py damage REF DIR     writes one damaged copy of REF for each kind of damage into DIR
    make_score.py unicode DIR        writes every.ref: every character that Python knows, in contexts; every.hyp, a
                                     damaged copy; every.low, the copy in lower case (100 points if case is ignored)

Everything is made from fixed seeds. Characters that Python's Unicode version does not know are left out: libraries
differ in theirs.
"""

import os
import random
import sys
import unicodedata

import t2t_bleu

HERE = os.path.dirname(os.path.abspath(__file__))


# ---- damage ------------------------------------------------------------------------------------------------------


def drop(r, line):
    return " ".join(w for w in line.split(" ") if r.random() > 0.15)


def swap(r, line):
    w = line.split(" ")
    for i in range(len(w) - 1):
        if r.random() < 0.2:
            w[i], w[i + 1] = w[i + 1], w[i]
    return " ".join(w)


def marks(r, line):
    """Other quotes, dashes and stops, and spaces around some of them."""
    table = {'"': "„“«»”", ".": "…!。 .", ",": ";،、,", "-": "–—‐", "'": "’ʼ", "!": "?¡",
             "„": '"', "“": '"', "?": ".؟"}
    out = []
    for c in line:
        if c in table and r.random() < 0.5:
            c = table[c][int(r.random() * len(table[c]))]
            c = f" {c} " if r.random() < 0.2 else c
        out.append(c)
    return "".join(out)


def empty(r, line):
    return ["", "   ", "\t"][int(r.random() * 3)] if r.random() < 0.25 else drop(r, line)


def case(r, line):
    x = r.random()
    return line.lower() if x < 0.6 else line.upper() if x < 0.9 else line.title()


def cut(r, line):
    return line[: int(len(line) * (0.3 + 0.7 * r.random()))]


def repeat(r, line):
    return " ".join(w for w in line.split(" ") for _ in range(1 if r.random() < 0.85 else 3))


def strange(r, line):
    """Nothing in common but single words: high orders without a match."""
    w = sorted(line.split(" "), key=lambda word: (word[::-1], word))
    return " xx ".join(w)


DAMAGE = [drop, swap, marks, empty, case, cut, repeat, strange]


def damaged(kind, lines):
    r = random.Random(f"ganz {kind.__name__}")
    return [kind(r, line) for line in lines]


# ---- texts -------------------------------------------------------------------------------------------------------

ODD = [
    "plain words with nothing odd .",
    "It cost 3,500.5 $ (US-style).",
    "U.S.A. 1990-1995, 5.- and 10% of 2014.",
    "a line that ends in 2014. ",
    "trailing tabs and no-break spaces\t\t\u00a0\u00a0",
    " leading space, and a carriage return at the end\r",
    "carriage\rreturn\rinside, form\x0cfeed, vertical\x0btab",
    "file\x1cgroup\x1drecord\x1eunit\x1fseparators",
    "next line\x85inside, line\u2028separator, paragraph\u2029separator",
    "NUL\x00inside and \x01\x02\x7f controls",
    "\ufeffbyte order mark first, zero\u200bwidth\u200dspace\u2060s inside",
    "thin\u2009en\u2002em\u2003ideographic\u3000ogham\u1680narrow\u202fmath\u205fspaces",
    "",
    "   ",
    "\u00a0\u2028",
    "&quot;quoted&quot; &amp;lt; &lt;b&gt; &amp;amp; &apos; & &amp",
    "word<skipped>word <SKIPPED> <<skipped>skipped>",
    "back\\slash a\\b 1\\2 \\ 3\\",
    "3.5-4.5 -5 5- 1-2-3 a-b- x-1 1-x",
    "..., ,,, .,.,. 1.,2 1,.2 .5 5. ,5 5, a.5 5.a",
    "¼½¾ ²x x² ①,② Ⅷ. ⅷ, 一.二 ٣٫٥ ٣.٥ ३.५ 𝟑.𝟓 ௰.௱ ²,³ 5²,3",
    "„Deutsch“ «français» “English” ‚einfach‘ ›so‹ 'ASCII' \"ASCII\" 「日本」『語』",
    "¿Qué? ¡Sí! § 5 † ‡ • … ‰5 5‰ ′ ″ ‹ ›",
    "日本語。テスト、３．５％と３，５００円！（全角）",
    "नमस्ते। यह १,२३४.५ है॥ ไทย๏ ๚๛ မြန်မာ၊ ።፣",
    "السعر ٣٬٥٠٠٫٥ ريال، صحيح؟ עברית־מקף ׳גרש׳ ״גרשיים״",
    "naïve cafe\u0301 cafe\u0301. a\u0308, \u0301. \u20dd! Zalgo\u0335\u0321\u0322.",
    "€5 5€ $5 £5.5 ¥ 5+5=10 a<b>c 5×5÷2 ±3 √2 ∑∏ ←→ ☺☹ ♥5 5♥",
    "👍🏽 👨‍👩‍👧‍👦 🇩🇪 ❤️ x👍x 1👍2 1.👍",
    "ΑΣ ΑΣ. ΑΣΑ Σ ΣΑ ΟΔΟΣ, ΟΔΟΣ'Α ΟΔΟΣ\u0301 ΟΔΟΣ\u0301Α 'Σ Α'Σ' 1Σ aΣ1 ⅠΣ ⓐΣ ªΣ ʰΣ \u00adΣ A\u00adΣ\u00ad AΣ:B AΣ·B AΣ\u2019",
    "İSTANBUL Iğdır İ. I İİ Ḯ ǅ ǈ Ǆ ẞ ß ŒÆ Ⅷ Ⓐ Ꭰ Ა ა Ω K Å Ω K Å",
    "ＦＵＬＬ　ＷＩＤＴＨ，ｔｅｘｔ．１，２ 𝐀𝐁 𐐀𐐨 𞤀𞤢 Ꜳ ꜳ Ⱥ ⱥ Ɐ ꭰ",
    "_under_score_ @home #tag a/b//c http://x.y/z?a=b&c=d ~tilde^caret`tick` {brace} [bracket] |pipe|",
    "\U000e0001\U000e0041 \ue000 \uf8ff \U0010fffd private, \ufffd \ufffe \uffff \U0001fffe noncharacters.",
    "1.000.000,00 12:30 12.30 Uhr 3/4 §1.2 Nr.5 5.Nr z.B. d.h. usw... 100.000-mal 5°C 5'30\" ½-jährig",
    "a", "ab", "abc abc", "。", ".", "1", "1.", ".1", "-", "1-", "\\", "$",
    "same same same same same same same same",
]


def every_character():
    """Each known character beside letters, digits and itself."""
    out, line = [], []
    for code in range(0x110000):
        c = chr(code)
        category = unicodedata.category(c)
        if c == "\n" or category in ("Cs", "Cn"):
            continue
        if category == "Lo" and code % 97:  # tens of thousands of them, all alike
            continue
        line.append(f"a{c}b 1{c}2 {c}x x{c} {c}5 5{c} {c}{c} ({c})5{c}. AΣ{c} AΣ{c}B {c}Σ")
        if len(line) == 16:
            out.append(" ".join(line))
            line = []
    return out + [" ".join(line)]


def write(path, lines):
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        f.writelines(line + "\n" for line in lines)


# ---- expected values ---------------------------------------------------------------------------------------------


def score_rows(name_hyp, name_ref, hyps, refs):
    from sacrebleu.metrics import BLEU, CHRF

    for lowercase in (False, True):
        head = [name_hyp, name_ref]
        mode = "lc" if lowercase else "mixed"
        for tok in ("13a", "intl"):
            s = BLEU(tokenize=tok, lowercase=lowercase, force=True).corpus_score(hyps, [refs])
            yield head + ["bleu", tok, mode, s.score, s.bp, s.sys_len, s.ref_len, *s.precisions]
        score, precisions, bp, sys_len, ref_len = t2t_bleu.bleu(hyps, refs, lowercase)
        yield head + ["bleu", "t2t", mode, 100 * score, bp, sys_len, ref_len, *(100 * p for p in precisions)]
        s = CHRF(lowercase=lowercase).corpus_score(hyps, [refs])
        yield head + ["chrf", "-", mode, s.score, 1.0, -1, -1]


def escape(text):
    """Control characters and the backslash as \\xHH, so that a row is a line."""
    return "".join(f"\\x{ord(c):02x}" if c == "\\" or ord(c) < 0x20 or ord(c) == 0x7F else c for c in text)


def word_rows(lines):
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International

    for line in lines:
        yield ["13a", escape(line), escape(Tokenizer13a()(line.rstrip()))]
        yield ["intl", escape(line), escape(TokenizerV14International()(line.rstrip()))]
        yield ["t2t", escape(line), escape(" ".join(t2t_bleu.words(line)))]
        yield ["lower", escape(line), escape(line.lower())]


def golden(folder):
    with open(os.path.join(HERE, "../data/tatoeba.de"), encoding="utf-8", newline="\n") as f:
        ref = [line.rstrip("\n") for line in f][:120]
    rows = []
    for name, lines in (("text", ref), ("odd", ODD)):
        write(os.path.join(folder, f"{name}.ref"), lines)
        kinds = DAMAGE if name == "text" else [drop, swap, marks, case, cut]
        for kind in kinds:
            hyps = damaged(kind, lines)
            write(os.path.join(folder, f"{name}.{kind.__name__}"), hyps)
            rows += score_rows(f"{name}.{kind.__name__}", f"{name}.ref", hyps, lines)
        rows += score_rows(f"{name}.ref", f"{name}.ref", lines, lines)
    write(os.path.join(folder, "scores.tsv"), ["\t".join(map(str, row)) for row in rows])
    extra = ["-\njoined\nlines-\n", "end\n\n"]
    write(os.path.join(folder, "words.tsv"), ["\t".join(row) for row in word_rows(ODD + extra)])


def main():
    what, *args = sys.argv[1:] or [""]
    if what == "golden" and len(args) == 1:
        golden(args[0])
    elif what == "damage" and len(args) == 2:
        lines = t2t_bleu.read(args[0])
        for kind in DAMAGE:
            write(os.path.join(args[1], kind.__name__), damaged(kind, lines))
    elif what == "unicode" and len(args) == 1:
        lines = every_character()
        write(os.path.join(args[0], "every.ref"), lines)
        write(os.path.join(args[0], "every.hyp"), damaged(drop, damaged(swap, lines)))
        write(os.path.join(args[0], "every.low"), [line.lower() for line in lines])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
