#!/usr/bin/env python3
"""Expected results of the beam search: Tensor2Tensor's algorithm in its own form, on a toy model.

Everything is done the long way, as the original does it: all beams exist from the start with dummies at -1e7, scores of
all beams and tokens are flattened and sorted, finished and unfinished lists are joined and sorted again.
Writes tests/golden/search.tsv: seed vocab beam alpha limit n_best, then "score(hex bits):tokens" of each result.
"""
import math
import os

import numpy as np

INF = np.float32(1e7)
F = np.float32


def mix(*words):
    h = 2166136261
    for w in words:
        for shift in (0, 8, 16, 24):
            h = ((h ^ (w >> shift & 255)) * 16777619) & 0xFFFFFFFF
    return h


def logits(seed, step, last, vocab):
    """Multiples of 1/8, so that equal scores do happen."""
    return [((mix(seed, step, last, t) >> 7) % 65 - 32) / 8.0 for t in range(vocab)]


def penalty(length, alpha):
    return F(math.pow((5.0 + length) / 6.0, alpha))


def top(scores, k):
    return np.argsort(-np.asarray(scores, dtype=F), kind="stable")[:k]


def greedy(seed, vocab, alpha, limit):
    seq, lp = [0], F(0)
    for i in range(limit):
        row = logits(seed, i, seq[-1], vocab)
        best = int(top(row, 1)[0])
        lse = F(math.log(sum(math.exp(x) for x in row)))
        score = F(F(F(F(row[best]) - lse) + lp) / penalty(i + 1, alpha))
        lp = F(score * penalty(i + 1, alpha))
        seq.append(best)
        if best == 1:
            break
    return [(score, seq)]


def beam_search(seed, vocab, beam, alpha, limit, n_best):
    alive = [[0] for _ in range(beam)]
    alive_lp = [F(0)] + [-INF] * (beam - 1)
    done = [([0], -INF, False) for _ in range(beam)]
    i = 0
    while i < limit:
        bound = F(alive_lp[0] / penalty(limit, alpha))
        reached = min(s for _, s, _ in done) if n_best > 1 else max(s for _, s, _ in done)
        if reached > bound:
            break
        pen = penalty(i + 1, alpha)
        flat = []
        for seq, lp in zip(alive, alive_lp):
            row = logits(seed, i, seq[-1], vocab)
            lse = F(math.log(sum(math.exp(x) for x in row)))
            flat += [F(F(F(F(x) - lse) + lp) / pen) for x in row]
        picks = top(flat, 2 * beam)
        cand = [(alive[p // vocab] + [int(p % vocab)], flat[p], int(p % vocab) == 1) for p in picks]
        order = top([s - (INF if f else F(0)) for _, s, f in cand], beam)
        new_alive = [cand[o][0] for o in order]
        new_lp = [F(cand[o][1] * pen) for o in order]
        joined = [(s + [0], v, f) for s, v, f in done] + [(s, v if f else F(v - INF), f) for s, v, f in cand]
        done = [joined[o] for o in top([v for _, v, _ in joined], beam)]
        alive_score = [cand[o][1] for o in order]
        alive, alive_lp, i = new_alive, new_lp, i + 1
    if any(f for _, _, f in done):
        return [(v, s) for s, v, f in done if f][:n_best]
    return list(zip(alive_score, alive))[:n_best]


def clean(seq):
    seq = seq[1:]
    return seq[: seq.index(1)] if 1 in seq else seq


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "search.tsv"), "w") as out:
        out.write("# made by make_search.py\n")
        for seed in range(120):
            beam = (1, 2, 4, 4, 6)[seed % 5]
            vocab = (16, 13, 40)[seed % 3]
            alpha = (0.6, 0.0, 1.0, 0.3)[seed % 4]
            limit = (1, 3, 9, 17, 30, 6)[seed % 6]
            n_best = beam if seed % 2 else 1
            if beam == 1:
                found = greedy(seed, vocab, alpha, limit)
            else:
                found = beam_search(seed, vocab, beam, alpha, limit, n_best)
            cells = [f"{int(np.asarray(s, dtype=F).view(np.uint32)):08x}:" + ",".join(map(str, clean(q)))
                     for s, q in found]
            out.write(f"{seed} {vocab} {beam} {alpha} {limit} {n_best} " + " ".join(cells) + "\n")


if __name__ == "__main__":
    main()
