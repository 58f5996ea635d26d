#!/usr/bin/env python3
"""Computes every product of a folder of `ganz export --to golden` again, with NumPy, and compares bit for bit.

usage: replay_golden.py DIR
docs/GOLDEN.md has the arithmetic. Exit code 1, and the names, if anything differs.
"""
import json
import sys
from pathlib import Path

import numpy as np

f32 = np.float32
np.seterr(over="ignore")  # far below the largest score e^x is 0 anyway


def exact_exp(x):
    """e^x by additions and products of float32 alone, as the engine does it."""
    x = np.minimum(x, f32(88))
    shifted = x * f32(1.44269504) + f32(12582912)
    n = shifted - f32(12582912)
    r = (x - n * f32(0.693359375)) - n * f32(-2.12194440e-4)
    q = np.full_like(r, f32(0.00138145394))
    for c in (0.00836874545, 0.041668389, 0.166665211, 0.49999994):
        q = q * r + f32(c)
    y = ((q * r) * r + r) + f32(1)
    power = ((shifted.view(np.uint32) - np.uint32(0x4B400000) + np.uint32(127)) << np.uint32(23)).view(f32)
    return np.where(x >= f32(-87), y * power, f32(0))


def row_sum(x):
    """Sums of rows in eight lanes, as the engine adds them."""
    lanes = np.zeros(x.shape[:-1] + (8,), f32)
    for i in range(x.shape[-1]):
        lanes[..., i % 8] += x[..., i]
    a, b, c, d, e, f, g, h = np.moveaxis(lanes, -1, 0)
    return ((a + e) + (c + g)) + ((b + f) + (d + h))


def rounded(y, step, low, most):
    return np.rint(np.clip(y * (f32(1) / f32(step)), f32(low), f32(most)))


def activate(name, y):
    if name == "relu":
        return np.where(y > 0, y, f32(0))
    if name in ("swish", "gelu-sigmoid"):
        return y / (f32(1) + exact_exp(y * f32(-1 if name == "swish" else -1.702)))
    if name == "gelu":
        size = np.abs(y)
        t = f32(1) / (f32(1) + size * f32(0.2316419))
        q = np.full_like(y, f32(0.530702714))
        for c in (-0.726576013, 0.710706871, -0.142248368, 0.127414796):
            q = q * t + f32(c)
        part = y * ((q * t) * exact_exp((size * size) * f32(-0.5)))
        return np.where(y < 0, part, y - part)
    return y


def results(run, y):
    """What a product hands on: values, codes for the product that reads them, or both."""
    return {"y": y, "codes": rounded(y, run["codes_step"], -run["codes_most"], run["codes_most"]) if "codes" in run else 0}


def dense(run, load, weight):
    codes = load(weight["codes"]).astype(np.float64)  # sums of codes are far below 2^53: exact, and faster than int64
    step = load(weight["step"])
    sums = load(run["x"]).astype(np.float64) @ codes.T
    y = sums.astype(np.int32).astype(f32) * (f32(run["x_step"]) * step)
    if weight["bias"]:
        y = y + load(weight["bias"])
    y = activate(run["activation"], y)
    if "add" in run:
        y = load(run["add"]) + y
    return {"sums": sums, **results(run, y)}


def attention(run, load, _):
    heads = run["heads"]
    q, k, v = (np.moveaxis(load(run[s]).astype(np.int64).reshape(-1, heads, load(run[s]).shape[1] // heads), 1, 0)
               for s in "qkv")
    scores = q @ k.transpose(0, 2, 1)
    u = np.zeros(scores.shape, np.int64)
    factor = (f32(run["q_step"]) * f32(run["k_step"])) * f32(run["inv_root"])
    for i in range(scores.shape[1]):
        n = min(i + 1, scores.shape[2]) if run["causal"] else scores.shape[2]
        scores[:, i, n:] = 0  # keys that the query does not see
        x = scores[:, i, :n].astype(f32) * factor
        e = exact_exp(x - x.max(axis=1, keepdims=True))
        u[:, i, :n] = rounded(e * (f32(1) / row_sum(e))[:, None], run["u_step"], 0, run["u_most"])
    sums = np.moveaxis(u @ v, 0, 1).reshape(scores.shape[1], -1)
    y = sums.astype(f32) * (f32(run["u_step"]) * f32(run["v_step"]))
    return {"scores": scores, "u": u, "sums": sums, **results(run, y)}


def main(folder):
    index = json.loads((folder / "index.json").read_text())
    load = lambda name: np.load(folder / name, allow_pickle=False)  # noqa: E731
    wrong = 0
    for run in index["runs"]:
        again = (dense if run["kind"] == "dense" else attention)(run, load, index["weights"].get(run["name"]))
        for what in ("scores", "u", "sums", "y", "codes"):
            if what in run:
                there = load(run[what])
                if there.tobytes() != np.ascontiguousarray(again[what].astype(there.dtype)).tobytes():
                    print(f"line {run['line']}: {run['name']}: {what} differ")
                    wrong += 1
    print(f"{len(index['runs'])} products of {index['lines']} lines, {wrong} arrays that differ")
    return 1 if wrong or not index["runs"] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])) if len(sys.argv) == 2 else __doc__)
