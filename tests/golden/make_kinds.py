#!/usr/bin/env python3
"""Logits of networks of other kinds (tests/nn_case.c, nn_kind), written from their formulas alone: one sentence at a time,
plain lists, in double. Makes kinds.tsv: the kind, then the logits of every target token of three sentences. Parameters
and token ids follow formulas that tests/test_net.c repeats.

    python3 tests/golden/make_kinds.py tests/golden
"""
import math
import sys

D, FFN, HEADS, LAYERS, VOCAB, EOS = 16, 24, 4, 2, 40, 1
SENTENCES = [(5, 4), (3, 6), (2, 2)]  # source and target length, the end mark counted
PLAIN = dict(norm="pre", eps=1e-6, act="relu", biases="", timing="t2t", first=0, scale=math.sqrt(D), source_table=False,
             own_output=False, logits_bias=False, start=False, target_space=True, recurrent=False)
KINDS = {
    "t2t": {},
    "post": dict(norm="post"),
    "marian": dict(norm="post", eps=1e-5, act="swish", biases="qkvo", logits_bias=True, target_space=False, timing="half"),
    "gelu": dict(act="gelu", biases="qo", own_output=True, first=2, scale=1.0),
    "tables": dict(norm="post", act="gelu_sigmoid", biases="v", start=True, own_output=True, logits_bias=True,
                   source_table=True),
    "swish": dict(act="swish", eps=1e-3, biases="kv", start=True, logits_bias=True, first=1, timing="half"),
    "ssru": dict(norm="post", biases="qkvo", logits_bias=True, target_space=False, recurrent=True),
    "ssru_pre": dict(recurrent=True),
}


def token(segment, place, side):
    return 2 + (7 * segment + 3 * place * place + 5 * side * place + side) % (VOCAB - 2)


def tensor(name, rows, cols):
    """value[i] = center + size * sin(1.7 i + 0.3 (sum of the name's characters)), i in row-major order"""
    center, size = 0.0, 0.15
    if name.startswith("embedding"):
        size = 0.25
    elif name.endswith("norm.scale"):
        center, size = 1.0, 0.1
    elif name.endswith("bias"):
        size = 0.05
    phase = 0.3 * sum(name.encode())
    return [[center + size * math.sin(1.7 * (r * cols + c) + phase) for c in range(cols)] for r in range(rows)]


def vector(name, cols):
    return tensor(name, 1, cols)[0]


def add(a, b):
    return [x + y for x, y in zip(a, b)]


def dense(name, out, x, biased):
    w = tensor(name + ".weight", out, len(x))
    b = vector(name + ".bias", out) if biased else [0.0] * out
    return [sum(p * q for p, q in zip(row, x)) + bias for row, bias in zip(w, b)]


def norm(k, where, x):
    mean = sum(x) / D
    spread = math.sqrt(sum((v - mean) ** 2 for v in x) / D + k["eps"])
    gain, bias = vector(where + ".norm.scale", D), vector(where + ".norm.bias", D)
    return [(v - mean) / spread * g + b for v, g, b in zip(x, gain, bias)]


def activate(kind, x):
    def sigmoid(v):
        return 1 / (1 + math.exp(-v))

    return {"relu": max(x, 0.0), "swish": x * sigmoid(x), "gelu": x * (1 + math.erf(x / math.sqrt(2))) / 2,
            "gelu_sigmoid": x * sigmoid(1.702 * x)}[kind]


def position(k, place):
    half = D // 2
    angles = [(place + k["first"]) * 10000.0 ** (-i / (half - 1 if k["timing"] == "t2t" else half)) for i in range(half)]
    return [math.sin(a) for a in angles] + [math.cos(a) for a in angles]


def attention(k, where, xs, sources, causal):
    q = [dense(where + ".q", D, x, "q" in k["biases"]) for x in xs]
    keys = [dense(where + ".k", D, x, "k" in k["biases"]) for x in sources]
    values = [dense(where + ".v", D, x, "v" in k["biases"]) for x in sources]
    size, out = D // HEADS, []
    for i in range(len(xs)):
        mixed = []
        for h in range(HEADS):
            part = slice(h * size, (h + 1) * size)
            seen = range(i + 1 if causal else len(sources))
            scores = [sum(a * b for a, b in zip(q[i][part], keys[j][part])) / math.sqrt(size) for j in seen]
            weights = [math.exp(s - max(scores)) for s in scores]
            mixed += [sum(w * values[j][part][c] for j, w in zip(seen, weights)) / sum(weights) for c in range(size)]
        out.append(dense(where + ".o", D, mixed, "o" in k["biases"]))
    return out


def ffn(k, where, xs):
    hidden = [[activate(k["act"], v) for v in dense(where + ".in", FFN, x, True)] for x in xs]
    return [dense(where + ".out", D, h, True) for h in hidden]


def recurrence(where, xs):
    """c = s c + (1 - s) value, s = sigmoid(gate), from zero; relu(c)"""
    state, out = [0.0] * D, []
    for x in xs:
        value, gate = dense(where + ".value", D, x, False), dense(where + ".gate", D, x, True)
        keep = [1 / (1 + math.exp(-g)) for g in gate]
        state = [s * c + (1 - s) * v for s, c, v in zip(keep, state, value)]
        out.append([max(c, 0.0) for c in state])
    return out


def sublayer(k, where, xs, f):
    """Pre-norm: x + f(norm(x)); post-norm: norm(x + f(x))."""
    if k["norm"] == "pre":
        return [add(x, y) for x, y in zip(xs, f([norm(k, where, x) for x in xs]))]
    return [norm(k, where, add(x, y)) for x, y in zip(xs, f(xs))]


def finish(k, where, xs):
    return [norm(k, where, x) for x in xs] if k["norm"] == "pre" else xs


def logits(k, source, target):
    table = tensor("embedding", VOCAB, D)
    sources = tensor("embedding.source", VOCAB + 3, D) if k["source_table"] else table
    space = vector("target_space", D) if k["target_space"] else [0.0] * D
    xs = [add(add([v * k["scale"] for v in sources[t]], space), position(k, i)) for i, t in enumerate(source)]
    for layer in range(LAYERS):
        where = f"enc.{layer}"
        xs = sublayer(k, where + ".self", xs, lambda y: attention(k, where + ".self", y, y, False))
        xs = sublayer(k, where + ".ffn", xs, lambda y: ffn(k, where + ".ffn", y))
    memory = finish(k, "enc", xs)
    begin = vector("start", D) if k["start"] else [0.0] * D
    inputs = [begin] + [table[t] for t in target[:-1]]
    xs = [add([v * k["scale"] for v in e], position(k, i)) for i, e in enumerate(inputs)]
    for layer in range(LAYERS):
        where = f"dec.{layer}"
        if k["recurrent"]:
            xs = sublayer(k, where + ".rnn", xs, lambda y: recurrence(where + ".rnn", y))
        else:
            xs = sublayer(k, where + ".self", xs, lambda y: attention(k, where + ".self", y, y, True))
        xs = sublayer(k, where + ".cross", xs, lambda y: attention(k, where + ".cross", y, memory, False))
        xs = sublayer(k, where + ".ffn", xs, lambda y: ffn(k, where + ".ffn", y))
    output = tensor("embedding.output", VOCAB, D) if k["own_output"] else table
    bias = vector("logits.bias", VOCAB) if k["logits_bias"] else [0.0] * VOCAB
    return [[sum(a * b for a, b in zip(row, x)) + c for row, c in zip(output, bias)] for x in finish(k, "dec", xs)]


def main(folder):
    with open(f"{folder}/kinds.tsv", "w") as out:
        for name, switches in KINDS.items():
            k = {**PLAIN, **switches}
            for number, (long_source, long_target) in enumerate(SENTENCES):
                source = [token(number, i, 0) for i in range(long_source - 1)] + [EOS]
                target = [token(number, i, 1) for i in range(long_target - 1)] + [EOS]
                for row in logits(k, source, target):
                    out.write(name + "\t" + "\t".join(f"{x:.9f}" for x in row) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
