#!/usr/bin/env python3
"""Training on the CPU: `ganz bench train` and PyTorch (eager) on the same shapes and cores, in turns.

    python3 bench/bench_train_cpu.py --ganz build/release/cli/ganz --recipe recipes/small.yaml --threads 2

The PyTorch model is the obvious one: packed rows, scaled_dot_product_attention with a mask that keeps sentences apart,
one product for keys and values, Adafactor. All its slots count as real tokens (ganz counts only those that are), so it
is a little flattered. With --precision bf16 it runs under autocast. The best round of each is reported.
"""
import argparse
import math
import re
import subprocess
import time

SENTENCE = 27  # tokens, the average that ganz bench draws


def shape_of(recipe):
    pairs = (line.split("#")[0].split(":") for line in open(recipe) if ":" in line.split("#")[0])
    keys = {pair[0].strip(): pair[1].strip() for pair in pairs}
    names = ("width", "ffn", "heads", "encoder-layers", "decoder-layers", "slots")
    return [int(keys[name]) for name in names]


def run_ganz(args):
    command = [args.ganz, "bench", "train", "--recipe", args.recipe, "--device", "cpu", "--threads", str(args.threads),
               "--precision", args.precision, "--rows", str(args.rows), "--vocab-size", str(args.vocab), "--warm", "1", "--steps", str(args.steps)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(re.search(r"target tokens/s\s+([0-9.]+)", out).group(1))


def torch_model(shape, vocab):
    import torch
    from torch import nn
    from torch.nn import functional as F

    width, ffn, heads, encoder_layers, decoder_layers, slots = shape

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(width, eps=1e-6)
            self.q = nn.Linear(width, width, bias=False)
            self.kv = nn.Linear(width, 2 * width, bias=False)
            self.o = nn.Linear(width, width, bias=False)

        def forward(self, x, memory, mask):
            y = self.norm(x)
            k, v = self.kv(y if memory is None else memory).split(width, -1)

            def split(t):
                return t.view(t.shape[0], t.shape[1], heads, width // heads).transpose(1, 2)

            mixed = F.scaled_dot_product_attention(split(self.q(y)), split(k), split(v), attn_mask=mask, dropout_p=0.1)
            return x + F.dropout(self.o(mixed.transpose(1, 2).reshape(x.shape)), 0.1)

    class Feed(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(width, eps=1e-6)
            self.inner = nn.Linear(width, ffn)
            self.outer = nn.Linear(ffn, width)

        def forward(self, x):
            return x + F.dropout(self.outer(F.dropout(F.relu(self.inner(self.norm(x))), 0.1)), 0.1)

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(vocab, width)
            nn.init.normal_(self.table.weight, std=width**-0.5)
            self.encoder = nn.ModuleList(nn.ModuleList([Attention(), Feed()]) for _ in range(encoder_layers))
            self.decoder = nn.ModuleList(nn.ModuleList([Attention(), Attention(), Feed()])
                                         for _ in range(decoder_layers))
            self.norms = nn.ModuleList([nn.LayerNorm(width, eps=1e-6), nn.LayerNorm(width, eps=1e-6)])
            self.timing = torch.randn(slots, width)

        def embed(self, ids):
            return F.dropout(self.table(ids) * math.sqrt(width) + self.timing, 0.1)

        def forward(self, source, target, same, causal):
            x = self.embed(source)
            for attend, feed in self.encoder:
                x = feed(attend(x, None, same))
            memory = self.norms[0](x)
            x = self.embed(target)
            for attend, cross, feed in self.decoder:
                x = feed(cross(attend(x, None, causal), memory, same))
            return F.linear(self.norms[1](x), self.table.weight)

    return Transformer()


def run_torch(args, shape):
    import torch
    from torch.nn import functional as F

    slots = shape[-1]
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    model = torch_model(shape, args.vocab)
    optimizer = torch.optim.Adafactor(model.parameters(), lr=0.01)
    sentence = torch.arange(slots) // SENTENCE
    same = sentence[:, None] == sentence[None, :]
    causal = same & torch.ones(slots, slots).tril().bool()
    same, causal = (m[None, None].expand(args.rows, 1, slots, slots) for m in (same, causal))
    times = []
    for _ in range(1 + args.steps):
        source, target, labels = (torch.randint(2, args.vocab, (args.rows, slots)) for _ in range(3))
        start = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16, enabled=args.precision == "bf16"):
            scores = model(source, target, same, causal)
            loss = F.cross_entropy(scores.view(-1, args.vocab), labels.view(-1), label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        times.append(time.perf_counter() - start)
    return args.rows * slots * args.steps / sum(times[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ganz", required=True)
    parser.add_argument("--recipe", required=True)
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, default=8, help="packed rows of a step")
    parser.add_argument("--vocab", type=int, default=16384)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    shape = shape_of(args.recipe)
    best = [0.0, 0.0]
    for _ in range(args.rounds):
        for i, speed in enumerate((run_ganz(args), run_torch(args, shape))):
            best[i] = max(best[i], speed)
    print(f"{args.recipe}, {args.precision}, {args.threads} threads: ganz {best[0]:.0f}, PyTorch {best[1]:.0f} target tokens/s, "
          f"ratio {best[0] / best[1]:.2f}")


if __name__ == "__main__":
    main()
