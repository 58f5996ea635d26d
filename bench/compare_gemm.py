#!/usr/bin/env python3
"""Integer products of ganz beside those of oneDNN and FBGEMM, as PyTorch calls them, on one core in one run.

    bench/compare_gemm.py --bench-kernel build/release/bench/bench_kernel [--avx2]

GOP/s (2 m n k) in CPU time. Weights are packed beforehand everywhere and the same in every call. ganz scales its sums
to floats; the libraries round theirs to codes of 8 bits, four times fewer bytes to write. --avx2 holds ganz and oneDNN
to AVX2; FBGEMM has no switch and is left out then. Needs pip install torch.
"""
import argparse
import os
import subprocess
import sys
import time

from peers.kernels import products

SHAPES = [(512, 512), (512, 2048), (2048, 512), (512, 32000), (1024, 1024), (1024, 4096), (4096, 1024)]
ROWS = [1, 8, 32, 128, 512]


def library(engine, seconds):
    """Prints rows, shape and GOP/s of one engine of PyTorch's; a process of its own, so that its ISA is its own."""
    import torch
    torch.set_num_threads(1)
    torch.backends.quantized.engine = engine
    for k, n in SHAPES:
        weight = torch.quantize_per_tensor(torch.randn(n, k).clamp(-4, 4), 4 / 127, 0, torch.qint8)
        packed = torch.ops.quantized.linear_prepack(weight, torch.zeros(n))
        for m in ROWS:
            x = torch.quantize_per_tensor(torch.randn(m, k), 0.05, 128, torch.quint8)
            best, spent = 0, 0
            torch.ops.quantized.linear(x, packed, 0.5, 128)
            while spent < seconds:
                calls, start = 0, time.process_time()
                while time.process_time() - start < seconds / 4:
                    torch.ops.quantized.linear(x, packed, 0.5, 128)
                    calls += 1
                took = time.process_time() - start
                best, spent = max(best, 2e-9 * m * n * k * calls / took), spent + took
            print(m, "%dx%d" % (k, n), best, flush=True)


def measured(engine, args):
    env = dict(os.environ, OMP_NUM_THREADS="1")
    if args.avx2:
        env["ONEDNN_MAX_CPU_ISA"] = "AVX2"
    run = subprocess.run([sys.executable, os.path.abspath(__file__), "--library", engine, "--seconds",
                          str(args.seconds)],
                         text=True, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if run.returncode:
        last = run.stderr.strip().splitlines()[-1:] or ["it says nothing"]
        sys.exit("compare_gemm: %s cannot be measured (pip install torch): %s" % (engine, last[0]))
    return {(int(m), shape): float(rate) for m, shape, rate in (line.split() for line in run.stdout.splitlines())}


def ours(args):
    cells = products(args.bench_kernel, "avx2" if args.avx2 else None)
    if isinstance(cells, str):
        sys.exit("compare_gemm: %s" % cells)
    return {(c["rows"], c["shape"]): c["rate"] for c in cells}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench-kernel", help="the program bench_kernel")
    parser.add_argument("--avx2", action="store_true", help="hold ganz and oneDNN to AVX2")
    parser.add_argument("--seconds", type=float, default=0.1, help="for each measurement [0.1]")
    parser.add_argument("--library", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.library:
        return library(args.library, args.seconds)
    if not args.bench_kernel or not os.access(args.bench_kernel, os.X_OK):
        parser.error("--bench-kernel names no program")
    tables = [("ganz", ours(args)), ("oneDNN", measured("onednn", args))]
    if not args.avx2:
        tables.append(("FBGEMM", measured("fbgemm", args)))
    shapes = ["%dx%d" % s for s in SHAPES]
    print("| rows | | " + " | ".join(shapes) + " |\n|---|---|" + "---|" * len(shapes))
    for m in ROWS:
        for name, table in tables:
            print("| %d | %s | %s |" % (m, name, " | ".join("%.0f" % table[m, s] if (m, s) in table else ""
                                                            for s in shapes)))


if __name__ == "__main__":
    main()
