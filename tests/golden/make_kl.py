#!/usr/bin/env python3
"""Thresholds of least Kullback-Leibler divergence, for tests/test_quantize.c, written from the description alone.

Data: n magnitudes -log(1 - (i + 1/2) / n) (exponential), and some outliers. Counted in 2,048 bins over a range that is
a power of two times the first magnitude."""
import numpy as np

BINS = 2048


def histogram(values):
    width = values[0]
    while width < values.max():
        width *= 2
    at = np.minimum((values / width * BINS).astype(int), BINS - 1)
    return np.bincount(at, minlength=BINS).astype(float), width


def threshold(values, levels):
    counts, width = histogram(values)
    best = (np.inf, None)
    for used in range(levels, BINS + 1):
        inside = counts[:used]
        if inside.sum() == 0:
            continue
        p = inside.copy()
        p[-1] += counts[used:].sum()
        q = np.zeros(used)
        for level in range(levels):
            part = slice(level * used // levels, (level + 1) * used // levels)
            here = inside[part]
            if here.any():
                q[part] = np.where(here > 0, here.sum() / np.count_nonzero(here), 0)
        q /= inside.sum()
        q[(inside == 0)] = 1e-4 / used
        p /= p.sum()
        some = p > 0
        divergence = float((p[some] * np.log(p[some] / q[some])).sum())
        if divergence < best[0]:
            best = (divergence, used)
    return min(width * best[1] / BINS, values.max()), best[1]


for n, outliers in ((20000, []), (20000, [40.0] * 3), (3000, [25.0])):
    i = np.arange(n)
    values = -np.log(1 - (i + 0.5) / n)
    values = np.concatenate([[1.0], values, outliers])
    for levels in (128, 32):
        t, used = threshold(values, levels)
        print(f"{{{n}, {len(outliers)}, {outliers[0] if outliers else 0}, {levels}, {t:.9g}}},  /* {used} bins */")
