"""A Transformer for translation in PyTorch, as one would write it for speed: q, k and v of one product, keys and values
kept in place, cross attention shared by the hypotheses of a sentence, sources padded to their batch only."""
import os

import torch
from torch import nn
from torch.nn import functional as F

from peers import SHAPES, VOCABULARY, by_length

START = 1


class Attention(nn.Module):
    def __init__(self, width, heads, cross):
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(width)
        if cross:
            self.query, self.memory = nn.Linear(width, width), nn.Linear(width, 2 * width)
        else:
            self.query_key_value = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def split(self, x, parts):
        """(rows, length, parts * width) to `parts` of (rows, heads, length, head width)."""
        rows, length, _ = x.shape
        return x.view(rows, length, parts, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)

    def join(self, x):
        return self.out(x.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.norm, self.into, self.out = nn.LayerNorm(width), nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x):
        return x + self.out(F.relu(self.into(self.norm(x)), inplace=True))


class EncoderLayer(nn.Module):
    def __init__(self, width, inner, heads):
        super().__init__()
        self.self_attention, self.feed_forward = Attention(width, heads, False), FeedForward(width, inner)

    def forward(self, x, mask):
        part = self.self_attention
        q, k, v = part.split(part.query_key_value(part.norm(x)), 3)
        return self.feed_forward(x + part.join(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)))


class DecoderLayer(nn.Module):
    def __init__(self, width, inner, heads):
        super().__init__()
        self.self_attention, self.cross_attention = Attention(width, heads, False), Attention(width, heads, True)
        self.feed_forward = FeedForward(width, inner)

    def forward(self, x, store, step, memory, mask, beam):
        """x (sentences * beam, 1, width); store (2, sentences * beam, heads, steps, head width)."""
        part = self.self_attention
        q, k, v = part.split(part.query_key_value(part.norm(x)), 3)
        store[0, :, :, step], store[1, :, :, step] = k[:, :, 0], v[:, :, 0]
        x = x + part.join(F.scaled_dot_product_attention(q, store[0, :, :, :step + 1], store[1, :, :, :step + 1]))
        part = self.cross_attention
        q, = part.split(part.query(part.norm(x)).view(-1, beam, x.shape[2]), 1)  # hypotheses are rows of one sentence
        x = x + part.join(F.scaled_dot_product_attention(q, *memory, attn_mask=mask)).view_as(x)
        return self.feed_forward(x)


class Model(nn.Module):
    def __init__(self, shape):
        super().__init__()
        layers, width, inner, heads = SHAPES[shape]
        self.width, self.heads = width, heads
        self.table = nn.Embedding(VOCABULARY, width)
        self.encoder = nn.ModuleList(EncoderLayer(width, inner, heads) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderLayer(width, inner, heads) for _ in range(layers))
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.logits = nn.Linear(width, VOCABULARY)
        rates = torch.exp(torch.arange(width // 2) * (-9.21 / (width // 2)))
        angles = torch.arange(256)[:, None] * rates
        self.register_buffer("positions", torch.cat([angles.sin(), angles.cos()], 1))

    def embed(self, words, start):
        return self.table(words) * self.width ** 0.5 + self.positions[start:start + words.shape[1]]

    def encode(self, words, mask):
        x = self.embed(words, 0)
        for layer in self.encoder:
            x = layer(x, mask)
        x = self.encoder_norm(x)
        return [layer.cross_attention.split(layer.cross_attention.memory(x), 2) for layer in self.decoder]

    def step(self, words, step, stores, memory, mask, beam):
        x = self.embed(words, step)
        for layer, store, kept in zip(self.decoder, stores, memory):
            x = layer(x, store, step, kept, mask, beam)
        return self.logits(self.decoder_norm(x))[:, 0]


def search(model, batch, beam, target):
    """Translations of one batch, each of `target` tokens: (sentences, target)."""
    longest, rows = max(map(len, batch)), len(batch) * beam
    words = torch.tensor([source + [0] * (longest - len(source)) for source in batch])
    mask = (torch.arange(longest) < torch.tensor([[len(source)] for source in batch]))[:, None, None]
    memory = model.encode(words, mask)
    stores = [memory[0][0].new_empty(2, rows, model.heads, target, model.width // model.heads) for _ in model.decoder]
    words, said = torch.full((rows, 1), START), torch.empty(rows, target, dtype=torch.long)
    scores = torch.tensor([0.0] + [-1e9] * (beam - 1)).repeat(len(batch))[:, None]
    first = torch.arange(len(batch))[:, None] * beam
    for step in range(target):
        logits = model.step(words, step, stores, memory, mask, beam)
        if beam == 1:
            words = logits.argmax(1, keepdim=True)
        else:
            sums = (F.log_softmax(logits.float(), 1) + scores).view(len(batch), -1)
            scores, chosen = sums.topk(beam)
            order, scores = (first + chosen // VOCABULARY).flatten(), scores.view(-1, 1)
            words, said = (chosen % VOCABULARY).view(-1, 1), said[order]
            for store in stores:
                store[:, :, :, :step + 1] = store[:, order, :, :step + 1]
        said[:, step] = words[:, 0]
    return said.view(len(batch), beam, target)[:, 0]


def build(shape, folder, convert):
    """Saves the model as it will run, so that loading needs no more memory than running."""
    torch.manual_seed(1)
    torch.save(convert(Model(shape).eval()), os.path.join(folder, "torch.pt"))


class Translator:
    def __init__(self, folder, shape, threads, beam, target):
        torch.set_num_threads(threads)
        self.model = torch.load(os.path.join(folder, "torch.pt"), weights_only=False)
        self.beam, self.target = beam, target

    def translate(self, sources, batch):
        with torch.inference_mode():
            return sum(search(self.model, part, self.beam, self.target).numel() for part in by_length(sources, batch))
