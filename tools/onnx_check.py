#!/usr/bin/env python3
"""Runs the graphs of `ganz export --to onnx` with ONNX Runtime and compares them with the engine, line by line.

usage: onnx_check.py ONNX_DIR GOLDEN_DIR     (both of the same model; GOLDEN_DIR by `ganz export --to golden`)

The encoder's output is compared as the codes that the first cross attention makes of it, the decoder's as logits. ONNX
Runtime adds floats in another order, so that now and then a value just between two codes becomes the other one, and what
is made of it differs a little too. Lines where that does not happen must be the same to the fourth digit, and there must
be one; all others must stay near. Exit code 1 if more differs, 77 without the packages onnxruntime and numpy.
"""
import json
import sys
from pathlib import Path

try:
    import numpy as np
    import onnxruntime
except ImportError as missing:
    print(f"onnx_check: skipped, there is no {missing.name}")
    sys.exit(77)

SAME = 0.001  # largest difference of logits where no code became another one
NEAR = 0.05  # mean difference of a line's logits, in units of their deviation


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    # Fused integer kernels of some processors saturate sums of 16 bits: the graph as it is written is what counts.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def compare_line(encoder, decoder, folder, line, run):
    load = lambda name: np.load(folder / name, allow_pickle=False)  # noqa: E731
    source, target = (load(f"line-{line:05d}/{side}.ids.npy").astype(np.int64) for side in ("source", "target"))
    memory = encoder.run(None, {"source": source})[0]
    keys = run["dec.0.cross.k"]
    codes = load(keys["x"]).astype(int)
    again = np.rint(memory / np.float32(keys["x_step"]))
    off = np.abs(np.clip(again, codes.min(), codes.max()) - codes)
    logits = decoder.run(None, {"memory": memory, "target": target})[0]
    there = load(run["logits"]["y"])
    allowed = np.isfinite(there)
    apart = np.abs(logits - there)[allowed]
    same = int((logits.argmax(1) == there.argmax(1)).sum())
    print(f"line {line}: memory {100 * (off > 0).mean():.3f}% of codes differ, by {int(off.max())} at most; "
          f"logits by {apart.mean():.5f} in the mean, {apart.max():.4f} at most; best token {same} of {len(there)}")
    near = apart.mean() <= NEAR * there[allowed].std() and same >= len(there) - 1
    return "same" if apart.max() <= SAME else "near" if near else "wrong"


def main(graphs, folder):
    index = json.loads((folder / "index.json").read_text())
    encoder, decoder = session(graphs / "encoder.onnx"), session(graphs / "decoder.onnx")
    lines = []
    for line in range(1, index["lines"] + 1):
        run = {r["name"]: r for r in index["runs"] if r["line"] == line}
        if run:
            lines.append(compare_line(encoder, decoder, folder, line, run))
    print(", ".join(f"{lines.count(kind)} lines {kind}" for kind in ("same", "near", "wrong")))
    return 0 if "same" in lines and "wrong" not in lines else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])) if len(sys.argv) == 3 else __doc__)
