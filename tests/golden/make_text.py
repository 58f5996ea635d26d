#!/usr/bin/env python3
"""Makes the golden files text/* of the text tests with t2t_text.py: run in this folder, commit what changes."""
import hashlib
import tempfile

import t2t_text as t2t

TEXTS = ["../data/tatoeba.en", "../data/tatoeba.de"]

ODDITIES = [
    "",
    " ",
    "  two  spaces ",
    "tab\tand\u00a0no-break\u3000ideographic\u2028line\u2029paragraph\u0085next",
    "_under_score__ \\back\\\\slash \\u \\228; \\_;",
    "<pad> <EOS> <pad>_ '<EOS>_'",
    "²³¹ ½ Ⅷ ① ٣٤٥ 〇 १२३",
    "e\u0301 n\u0303 a\u0308o\u0308 (combining) é ñ äö (composed)",
    "Straße GROẞ ﬁn ǅungla ʰ ª º",
    "Ελληνικά Русский עברית العربية हिन्दी ไทย",
    "中文和日本語テキスト 한국어 ｆｕｌｌｗｉｄｔｈ",
    "😀👩‍👩‍👧🇩🇪 emoji, \u200bzero\u200dwidth\ufeff",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟘𝟙𝟚 𐐀𐐨 \U0010ffff\U000e0001",
    "\x00nul \x01\x1f\x7f control\x9b",
    "\ufffd \ufffe \ue000 private",
    "3.5 €/kg ±10% £5 «quoted» „deutsch“ 'it''s' \"x\"",
    "don't—stop…now",
    "a\rb\x0bc\x0cd",
    "\u0345\u0600\u06dd\u070f\u180e\u2060",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
]


def save(name, text):
    with open("text/" + name, "w", encoding="utf-8", newline="\n") as f:
        f.write(text)


def file_text(vocabulary):
    with tempfile.NamedTemporaryFile("r", encoding="utf-8", newline="\n") as f:
        t2t.write_vocabulary(vocabulary, f.name)
        return f.read()


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def ids_text(vocabulary, lines):
    return "".join(" ".join(map(str, vocabulary.encode(line))) + "\n" for line in lines)


def main():
    sums = []
    vocabulary = t2t.learn(TEXTS, 2000, 0)
    save("tatoeba.vocab", file_text(vocabulary))
    save("oddities.txt", "".join(line + "\n" for line in ODDITIES))
    save("oddities.ids", ids_text(vocabulary, ODDITIES))
    assert [vocabulary.decode(vocabulary.encode(line)) for line in ODDITIES] == ODDITIES
    for path in TEXTS:
        lines = open(path, encoding="utf-8", newline="\n").read().split("\n")[:-1]
        sums.append((sha256(ids_text(vocabulary, lines)), path.split("/")[-1] + ".ids"))
    for size, chars in (500, 10000), (1000, 3000), (4000, 1000000):
        sums.append((sha256(file_text(t2t.learn(TEXTS, size, chars))), "tatoeba.%d.%d.vocab" % (size, chars)))
    # Tokens longer than the longest entry, and characters that need escapes.
    save("long.txt", "".join(("ab" * 150 + "c" + "xyz" * 90 + " \\_\\__u 12;\u00e4" * (i + 1) + "\n")
                             for i in range(12)))
    save("long.vocab", file_text(t2t.learn(["text/long.txt"], 150, 0)))
    save("text.sha256", "".join("%s  %s\n" % pair for pair in sums))


if __name__ == "__main__":
    main()
