#!/usr/bin/env python3
"""The Tensor2Tensor Transformer in PyTorch, written from its description alone: padded rows, additive masks, autograd.

Makes ten_losses.tsv (ten training losses: label smoothing, Adafactor, no dropout) and first_logits.tsv (before the
first step). Parameters and token ids follow formulas that tests/test_net.c repeats. In double.

    python3 tests/golden/torch_transformer.py tests/golden
"""
import math
import sys

import torch

D, FFN, HEADS, LAYERS, VOCAB, SMOOTHING, STEPS = 32, 64, 4, 2, 40, 0.1, 10
# (packed row, source length, target length), the end mark counted
SEGMENTS = [(0, 5, 4), (0, 3, 6), (0, 2, 2), (1, 8, 7), (2, 1, 3), (2, 4, 1)]
ROWS, EOS = 3, 1
torch.set_default_dtype(torch.float64)


def token(step, segment, place, side):
    return 2 + (7 * segment + 3 * place * place + 5 * side * place + 11 * step + side) % (VOCAB - 2)


def parameter(name, shape):
    """value[i] = center + size * sin(1.7 i + 0.3 (sum of the name's characters)), i in row-major order"""
    center, size = 0.0, 0.15
    if name == "embedding":
        size = 0.25
    elif name.endswith("norm.scale"):
        center, size = 1.0, 0.1
    elif name.endswith("bias"):
        size = 0.05
    i = torch.arange(math.prod(shape), dtype=torch.float64)
    value = center + size * torch.sin(1.7 * i + 0.3 * sum(name.encode()))
    return value.reshape(shape).clone().requires_grad_(True)


def parameters():
    shapes = {"embedding": (VOCAB, D), "target_space": (32, D)}

    def norm(where):
        shapes[where + ".norm.scale"] = shapes[where + ".norm.bias"] = (D,)

    def attention(where):
        norm(where)
        for kernel in "qkvo":
            shapes[f"{where}.{kernel}.weight"] = (D, D)  # (out, in)

    def ffn(where):
        norm(where)
        shapes[where + ".in.weight"], shapes[where + ".in.bias"] = (FFN, D), (FFN,)
        shapes[where + ".out.weight"], shapes[where + ".out.bias"] = (D, FFN), (D,)

    for layer in range(LAYERS):
        attention(f"enc.{layer}.self")
        ffn(f"enc.{layer}.ffn")
        attention(f"dec.{layer}.self")
        attention(f"dec.{layer}.cross")
        ffn(f"dec.{layer}.ffn")
    norm("enc")
    norm("dec")
    return {name: parameter(name, shape) for name, shape in shapes.items()}


def packed(step, side):
    """ids, segment numbers and positions of padded rows; 0 is padding."""
    length = max(sum(s[1 + side] for s in SEGMENTS if s[0] == row) for row in range(ROWS))
    ids, segments, positions = (torch.zeros(ROWS, length, dtype=torch.long) for _ in range(3))
    used = [0] * ROWS
    for number, segment in enumerate(SEGMENTS):
        row, count = segment[0], segment[1 + side]
        for place in range(count):
            at = used[row]
            ids[row, at] = EOS if place == count - 1 else token(step, number, place, side)
            segments[row, at] = number + 1
            positions[row, at] = place
            used[row] += 1
    return ids, segments, positions


def timing(positions):
    half = D // 2
    rates = torch.exp(torch.arange(half) * (-math.log(10000.0) / (half - 1)))
    angle = positions[..., None] * rates
    return torch.cat([torch.sin(angle), torch.cos(angle)], dim=-1)


def layer_norm(p, where, x):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + 1e-6) * p[where + ".norm.scale"] + p[where + ".norm.bias"]


def attention(p, where, x, source, mask):
    def heads(y, kernel):
        y = y @ p[f"{where}.{kernel}.weight"].T
        return y.reshape(y.shape[0], y.shape[1], HEADS, D // HEADS).transpose(1, 2)

    q, k, v = heads(x, "q") * (D // HEADS) ** -0.5, heads(source, "k"), heads(source, "v")
    weights = torch.softmax(q @ k.transpose(-1, -2) + mask[:, None], dim=-1)
    y = (weights @ v).transpose(1, 2).reshape(x.shape)
    return y @ p[where + ".o.weight"].T


def ffn(p, where, x):
    hidden = torch.relu(x @ p[where + ".in.weight"].T + p[where + ".in.bias"])
    return hidden @ p[where + ".out.weight"].T + p[where + ".out.bias"]


def apart(query_segments, key_segments):
    return (query_segments[:, :, None] != key_segments[:, None, :]) * -1e9


def logits(p, source, target):
    ids, segments, positions = source
    x = p["embedding"][ids] * math.sqrt(D) * (ids != 0)[..., None]
    x = x + p["target_space"][0] + timing(positions)
    mask = apart(segments, segments)
    for layer in range(LAYERS):
        where = f"enc.{layer}.self"
        y = layer_norm(p, where, x)
        x = x + attention(p, where, y, y, mask)
        x = x + ffn(p, f"enc.{layer}.ffn", layer_norm(p, f"enc.{layer}.ffn", x))
    memory = layer_norm(p, "enc", x)

    labels, own, places = target
    length = labels.shape[1]
    x = p["embedding"][labels] * math.sqrt(D) * (labels != 0)[..., None]
    x = torch.cat([torch.zeros(ROWS, 1, D), x[:, :-1]], dim=1) + timing(places)
    causal = torch.triu(torch.full((length, length), -1e9), diagonal=1)
    for layer in range(LAYERS):
        where = f"dec.{layer}.self"
        y = layer_norm(p, where, x)
        x = x + attention(p, where, y, y, apart(own, own) + causal)
        where = f"dec.{layer}.cross"
        x = x + attention(p, where, layer_norm(p, where, x), memory, apart(own, segments))
        x = x + ffn(p, f"dec.{layer}.ffn", layer_norm(p, f"dec.{layer}.ffn", x))
    return layer_norm(p, "dec", x) @ p["embedding"].T


def loss_of(scores, labels):
    right, other = 1 - SMOOTHING, SMOOTHING / (VOCAB - 1)
    soft = torch.full(scores.shape, other).scatter(-1, labels[..., None], right)
    cross = -(soft * torch.log_softmax(scores, dim=-1)).sum(-1)
    constant = -(right * math.log(right) + (VOCAB - 1) * other * math.log(other + 1e-20))
    weight = (labels != 0).double()
    return ((cross - constant) * weight).sum() / weight.sum()


def adafactor(p, slots, step):
    rate, decay = 1 / math.sqrt(max(step, 10000)), 1 - (step + 1) ** -0.8
    for name, value in p.items():
        grad = value.grad
        square = grad * grad + 1e-30
        if value.dim() == 2:
            old_rows, old_cols = slots.get(name, (0.0, 0.0))
            rows = decay * old_rows + (1 - decay) * square.mean(1)
            cols = decay * old_cols + (1 - decay) * square.mean(0)
            slots[name] = (rows, cols)
            update = grad * torch.rsqrt(rows / rows.mean())[:, None] * torch.rsqrt(cols)[None, :]
        else:
            slots[name] = decay * slots.get(name, 0.0) + (1 - decay) * square
            update = grad * torch.rsqrt(slots[name])
        update = update / max(1.0, update.pow(2).mean().sqrt().item())
        scale = max(value.detach().pow(2).mean().sqrt().item(), 1e-3)
        with torch.no_grad():
            value -= rate * scale * update
            value.grad = None


def main(folder):
    p, slots = parameters(), {}
    with open(f"{folder}/ten_losses.tsv", "w") as losses, open(f"{folder}/first_logits.tsv", "w") as first:
        for step in range(STEPS):
            target = packed(step, 1)
            scores = logits(p, packed(step, 0), target)
            if step == 0:  # real tokens in the order of rows and slots
                for line in scores[target[0] != 0]:
                    first.write("\t".join(f"{x:.9f}" for x in line.tolist()) + "\n")
            loss = loss_of(scores, target[0])
            loss.backward()
            adafactor(p, slots, step)
            losses.write(f"{step}\t{loss.item():.10f}\n")


if __name__ == "__main__":
    main(sys.argv[1])
