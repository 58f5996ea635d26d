#!/usr/bin/env python3
"""Expected results of the beam search with length^alpha, in the form that Hugging Face's beam search has: candidates of
all beams in one list, of which the first `beam` may end a hypothesis and the rest only fill up; a list of the best
ended ones; the end when it is full and its worst is at least the best live sum over the present length^alpha.
Writes tests/golden/search_length.tsv, in the form of search.tsv."""
import math
import os

import numpy as np

from make_search import F, clean, logits


def power(length, alpha):
    return F(math.pow(length, alpha))


class Ended:
    def __init__(self, room):
        self.room, self.items = room, []

    def add(self, total, sequence, length, alpha):
        self.items.append((F(total / power(length, alpha)), sequence))
        self.items.sort(key=lambda item: -item[0])  # stable: of equals the older one first
        del self.items[self.room:]

    def is_done(self, best_live, length, alpha):
        return len(self.items) == self.room and self.items[-1][0] >= F(best_live / power(length, alpha))


def search(seed, vocab, beam, alpha, limit, n_best):
    ended, live = Ended(beam), [([0], F(0))]
    for step in range(limit):
        candidates = []
        for sequence, total in live:
            row = logits(seed, step, sequence[-1], vocab)
            lse = F(math.log(sum(math.exp(x) for x in row)))
            candidates += [(F(F(F(x) - lse) + total), sequence + [t]) for t, x in enumerate(row)]
        scores = np.array([F(total / power(step + 1, alpha)) for total, _ in candidates], dtype=F)
        room = 1 if beam == 1 else 2 * beam
        live = []
        for rank, place in enumerate(np.argsort(-scores, kind="stable")[:room]):
            total, sequence = candidates[place]
            if sequence[-1] == 1:
                if rank < beam:
                    ended.add(total, sequence, step + 1, alpha)
            elif len(live) < beam:
                live.append((sequence, total))
        if not live or (beam == 1 and ended.items):
            break
        if beam > 1 and ended.is_done(live[0][1], step + 1, alpha):
            break
    if ended.items:
        return ended.items[:n_best]
    return [(F(total / power(step + 1, alpha)), sequence) for sequence, total in live][:n_best]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "search_length.tsv"), "w") as out:
        out.write("# made by make_search_length.py\n")
        for seed in range(120):
            beam = (1, 2, 4, 4, 6)[seed % 5]
            vocab = (16, 13, 40)[seed % 3]
            alpha = (1.0, 0.2, 0.0, 0.7)[seed % 4]
            limit = (1, 3, 9, 17, 30, 6)[seed % 6]
            n_best = beam if seed % 2 else 1
            cells = [f"{int(np.asarray(s, dtype=F).view(np.uint32)):08x}:" + ",".join(map(str, clean(q)))
                     for s, q in search(seed, vocab, beam, alpha, limit, n_best)]
            out.write(f"{seed} {vocab} {beam} {alpha} {limit} {n_best} " + " ".join(cells) + "\n")


if __name__ == "__main__":
    main()
