#!/usr/bin/env python3
"""ganz against CTranslate2 on this machine, side by side in one run.

    pip install ctranslate2 numpy
    bench/compare_ctranslate2.py --ganz build/release/cli/ganz [--model base] [--beams 1 4] [--threads 1 2]

Both get a random model of the same shape (pre-norm, tied embeddings, vocabulary 32,000), the same source lengths and the
same forced target length, so both decode the same number of tokens. CTranslate2 runs int8 at each batch size given and
its best counts. Rounds alternate between the systems; the median of the rounds is reported.
Quality plays no part here: the weights are random.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

SHAPES = {  # layers, width, feed-forward, heads
    "base": (6, 512, 2048, 8),
    "big": (6, 1024, 4096, 16),
    "small": (6, 256, 1024, 4),
}
VOCABULARY = 32000


def lengths(count, seed=1):
    rng = random.Random(seed)
    return [min(60, max(5, round(rng.lognormvariate(3.15, 0.5)))) for _ in range(count)]


def make_ct2_model(shape, folder):
    import ctranslate2
    import numpy as np

    layers, width, inner, heads = SHAPES[shape]
    spec = ctranslate2.specs.TransformerSpec.from_config(
        (layers, layers), heads, pre_norm=True, activation=ctranslate2.specs.Activation.RELU)
    rng = np.random.default_rng(1)
    normal = lambda *dims: rng.standard_normal(dims, dtype=np.float32) * np.float32(dims[-1] ** -0.5)

    def dense(part, rows, columns):
        part.weight = normal(rows, columns)
        part.bias = np.zeros(rows, dtype=np.float32)

    def norm(part):
        part.gamma = np.ones(width, dtype=np.float32)
        part.beta = np.zeros(width, dtype=np.float32)

    def attention(part, fused):
        norm(part.layer_norm)
        for linear, rows in zip(part.linear, fused):
            dense(linear, rows, width)

    table = normal(VOCABULARY, width)
    for side in (spec.encoder, spec.decoder):
        embeddings = side.embeddings[0] if isinstance(side.embeddings, list) else side.embeddings
        embeddings.weight = table
        side.scale_embeddings = True
        norm(side.layer_norm)
        for layer in side.layer:
            attention(layer.self_attention, (3 * width, width))
            norm(layer.ffn.layer_norm)
            dense(layer.ffn.linear_0, inner, width)
            dense(layer.ffn.linear_1, width, inner)
            if hasattr(layer, "attention"):
                attention(layer.attention, (width, 2 * width, width))
    spec.decoder.projection.weight = table
    spec.decoder.projection.bias = np.zeros(VOCABULARY, dtype=np.float32)
    tokens = ["<unk>", "<s>", "</s>"] + ["t%d" % i for i in range(VOCABULARY - 3)]
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.validate()
    spec.optimize(quantization="int8")
    os.makedirs(folder, exist_ok=True)
    spec.save(folder)


def peak_mib(pid="self"):
    with open("/proc/%s/status" % pid) as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


def ct2_worker(folder, threads, beam, batch, target, source_lengths):
    """Runs in a process of its own, so that its peak memory is its own."""
    import ctranslate2
    started = time.time()
    translator = ctranslate2.Translator(folder, inter_threads=threads, intra_threads=1, compute_type="int8")
    load = time.time() - started
    rng = random.Random(2)
    sources = [["t%d" % rng.randrange(VOCABULARY - 3) for _ in range(n)] + ["</s>"] for n in source_lengths]
    options = dict(beam_size=beam, min_decoding_length=target, max_decoding_length=target, length_penalty=0.6)
    if batch == 1:
        times = []
        for source in sources:
            begun = time.time()
            translator.translate_batch([source], **options)
            times.append(time.time() - begun)
        seconds = sum(times)
        times.sort()
        extra = {"p50_ms": 1000 * times[len(times) // 2], "p99_ms": 1000 * times[int(len(times) * 0.99)]}
    else:
        translator.translate_batch(sources[:8], max_batch_size=batch, batch_type="tokens", **options)
        begun = time.time()
        results = translator.translate_batch(sources, max_batch_size=batch, batch_type="tokens", **options)
        seconds = time.time() - begun
        assert all(len(r.hypotheses[0]) == target for r in results)
        extra = {}
    print(json.dumps(dict(tokens_per_s=len(sources) * target / seconds, load_s=load, peak_mib=peak_mib(), **extra)))


def run_ct2(folder, threads, beam, batch, target, file):
    words = [sys.executable, os.path.abspath(__file__), "--worker", folder, str(threads), str(beam), str(batch), str(target), file]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def run_ganz(ganz, shape, bits, threads, beam, target, file, single):
    words = [ganz, "bench", "translate", "--random", shape, "--vocab-size", str(VOCABULARY), "--bits", str(bits), "--threads", str(threads),
             "--beam", str(beam), "--force-length", str(target), "--lengths", file, "--json"] + (["--single"] if single else [])
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "--worker":
        folder, threads, beam, batch, target, file = sys.argv[2:8]
        return ct2_worker(folder, int(threads), int(beam), int(batch), int(target), [int(n) for n in open(file)])
    parser = argparse.ArgumentParser()
    parser.add_argument("--ganz", required=True)
    parser.add_argument("--model", default="base", choices=SHAPES)
    parser.add_argument("--bits", type=int, nargs="+", default=[8])
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--batches", type=int, nargs="+", default=[512, 1024, 2048, 4096], help="of CTranslate2, in tokens")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--target", type=int, default=27, help="forced length of every translation")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-single", action="store_true", help="leave out one sentence at a time")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        model, file = os.path.join(folder, "ct2"), os.path.join(folder, "lengths")
        make_ct2_model(args.model, model)
        with open(file, "w") as out:
            out.write("".join("%d\n" % n for n in lengths(args.sentences)))
        print("system\tbits\tthreads\tbeam\tbatch\ttokens/s\tpeak MiB\tload s\tp50 ms\tp99 ms")

        def show(system, bits, threads, beam, batch, runs):
            median = lambda key: statistics.median(r[key] for r in runs) if key in runs[0] else float("nan")
            print("%s\t%s\t%d\t%d\t%s\t%.0f\t%.0f\t%.3f\t%.1f\t%.1f" % (
                system, bits, threads, beam, batch, median("tokens_per_s"), median("peak_mib"), median("load_s"),
                median("p50_ms"), median("p99_ms")), flush=True)
            return median("tokens_per_s")

        for threads in args.threads:
            for beam in args.beams:
                # CTranslate2's best batch size by one round each, then rounds that alternate.
                tried = {b: run_ct2(model, threads, beam, b, args.target, file)["tokens_per_s"] for b in args.batches}
                best = max(tried, key=tried.get)
                theirs, ours = [], {bits: [] for bits in args.bits}
                for _ in range(args.rounds):
                    theirs.append(run_ct2(model, threads, beam, best, args.target, file))
                    for bits in args.bits:
                        ours[bits].append(run_ganz(args.ganz, args.model, bits, threads, beam, args.target, file, False))
                base = show("CTranslate2", "8", threads, beam, best, theirs)
                for bits in args.bits:
                    speed = show("ganz", bits, threads, beam, "-", ours[bits])
                    print("# ganz %d bits / CTranslate2 = %.2f (threads %d, beam %d)" % (bits, speed / base, threads, beam))
        if not args.no_single:
            with open(file, "w") as out:
                out.write("".join("%d\n" % n for n in lengths(min(60, args.sentences))))
            for beam in args.beams:
                show("CTranslate2", "8", 1, beam, "1", [run_ct2(model, 1, beam, 1, args.target, file)])
                for bits in args.bits:
                    show("ganz", bits, 1, beam, "1", [run_ganz(args.ganz, args.model, bits, 1, beam, args.target, file, True)])


if __name__ == "__main__":
    main()
