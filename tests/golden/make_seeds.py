"""Expected values for the mean of several runs against a first system, in plain Python: Philox 4x32-10 draws whole lines,
t2t_bleu.py scores them.

    make_seeds.py DIR     writes seeds.tsv from the texts of DIR (tests/golden/score)
"""

import os
import statistics
import sys

import t2t_bleu

RESAMPLES, SEED = 400, 7
FIRST = "text.drop"
GROUPS = (["text.swap"], ["text.swap", "text.marks"], ["text.swap", "text.marks", "text.repeat"], [FIRST, FIRST, FIRST])


def philox(seed, stream, counter):
    mask = 0xFFFFFFFF
    c = [counter & mask, counter >> 32, stream & mask, stream >> 32]
    k = [seed & mask, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & mask, a >> 32 ^ c[3] ^ k[1], a & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c


def lines_of_resample(number, count):
    return [philox(SEED, number, i // 4)[i % 4] * count >> 32 for i in range(count)]


def score(hyp, ref, lines):
    return 100 * t2t_bleu.bleu([hyp[i] for i in lines], [ref[i] for i in lines])[0]


def compare(first, runs):
    """first: scores of resamples and last that of the text; runs: the same for each. Mean, interval, p."""
    means = [statistics.mean(column) for column in zip(*runs)]  # exact sums: equal runs have a mean equal to them
    distances = [abs(m - f) for m, f in zip(means[:-1], first)]
    usual, real = statistics.fmean(distances), abs(means[-1] - first[-1])
    p = (1 + sum(d - usual >= real for d in distances)) / (1 + RESAMPLES)
    inner = sorted(means[:-1])
    return means[-1], statistics.fmean(inner), inner[RESAMPLES // 40], inner[-(RESAMPLES // 40) - 1], p


def main():
    folder = sys.argv[1]
    names = sorted({FIRST}.union(*GROUPS))
    texts = {n: t2t_bleu.read(os.path.join(folder, n)) for n in ["text.ref", *names]}
    ref = texts["text.ref"]
    draws = [lines_of_resample(r, len(ref)) for r in range(RESAMPLES)] + [range(len(ref))]
    scores = {n: [score(texts[n], ref, lines) for lines in draws] for n in names}
    with open(os.path.join(folder, "seeds.tsv"), "w", encoding="utf-8") as out:
        for runs in GROUPS:
            numbers = compare(scores[FIRST], [scores[n] for n in runs])
            print(RESAMPLES, SEED, *(f"{x:.12f}" for x in numbers), FIRST, *runs, sep="\t", file=out)


if __name__ == "__main__":
    main()
