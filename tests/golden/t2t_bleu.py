"""t2t-bleu (Tensor2Tensor v1.12) in plain Python, written from its description, to compare `ganz score --tok t2t` with.

    t2t_bleu.py [--lowercase] REF HYP     prints what `ganz score --tok t2t --digits 12` prints after " = "
"""

import collections
import math
import sys
import unicodedata


def is_punct(c):
    return unicodedata.category(c)[0] == "P" and c != "\\"


def is_digit(c):
    return unicodedata.category(c) == "Nd"


def pairs(text, first, second, form):
    out, i = [], 0
    while i < len(text):
        if i + 1 < len(text) and first(text[i]) and second(text[i + 1]):
            out.append(form.format(text[i], text[i + 1]))
            i += 2
        else:
            out.append(text[i])
            i += 1
    return "".join(out)


def words(text):
    text = pairs(text, lambda c: not is_digit(c), is_punct, "{} {} ")
    text = pairs(text, is_punct, lambda c: not is_digit(c), " {} {}")
    text = "".join(f" {c} " if unicodedata.category(c)[0] == "S" else c for c in text)
    return text.split()


def grams(tokens, n):
    return collections.Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def bleu(hyps, refs, lowercase=False):
    """Score and precisions are fractions."""
    match, total, hyp_len, ref_len = [0] * 4, [0] * 4, 0, 0
    for hyp, ref in zip(hyps, refs):
        h, r = (words(x.lower() if lowercase else x) for x in (hyp, ref))
        hyp_len += len(h)
        ref_len += len(r)
        for n in range(4):
            hg, rg = grams(h, n + 1), grams(r, n + 1)
            match[n] += sum((hg & rg).values())
            total[n] += sum(hg.values())
    smooth, precisions = 1.0, [0.0] * 4
    for n in range(4):
        if total[n] and match[n]:
            precisions[n] = match[n] / total[n]
        elif total[n]:
            smooth *= 2
            precisions[n] = 1 / (smooth * total[n])
    bp = 1.0
    if ref_len and hyp_len < ref_len:
        bp = math.exp(1 - ref_len / hyp_len) if hyp_len else 0.0
    logs = [math.log(p) for p in precisions if p]
    score = math.exp(sum(logs) / 4) * bp if logs else 0.0
    return score, precisions, bp, hyp_len, ref_len


def read(path):
    with open(path, encoding="utf-8", newline="\n") as f:
        return f.read().removesuffix("\n").split("\n")


def main():
    args = [a for a in sys.argv[1:] if a != "--lowercase"]
    ref, hyp = map(read, args)
    score, precisions, bp, sys_len, ref_len = bleu(hyp, ref, len(args) < len(sys.argv) - 1)
    ratio = sys_len / ref_len if ref_len else 0
    print(f"{100 * score:.12f} {'/'.join(f'{100 * p:.1f}' for p in precisions)} (BP = {bp:.3f} ratio = {ratio:.3f} "
          f"hyp_len = {sys_len} ref_len = {ref_len})")


if __name__ == "__main__":
    main()
