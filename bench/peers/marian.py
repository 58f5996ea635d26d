"""Marian (browsermt's, as the PyPI package bergamot has it, with wheels up to Python 3.10), int8shiftAlphaAll: 8-bit
weights packed by intgemm, fixed activation scales. It cannot force a length: the end of sentence is biased away, so
that every translation of a batch is as long as the batch's longest source, its end of sentence included; the tokens
made are counted."""
import glob
import importlib.util
import itertools
import os
import string
import struct

import numpy as np
from sentencepiece import sentencepiece_model_pb2 as sentencepiece

from peers import SHAPES, VOCABULARY

NAME = "Marian"
BATCHES, UNIT = [384, 768], "tokens"
REPLICAS = False
AVX2 = {"INTGEMM_CPUID": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}

FLOAT32, INT8, INTGEMM8 = 0x404, 0x101, 0x4101  # types in Marian's binary file
ALIGN = 256
NEVER = -1e4  # bias of a token that is not to be chosen
ALPHA = 127 / 8  # activation scale; which one it is changes no speed
SETTINGS = """\
type: transformer
version: v1.9.56
dim-emb: {width}
dim-vocabs: [{vocabulary}, {vocabulary}]
enc-depth: {layers}
dec-depth: {layers}
input-types: []
lemma-dim-emb: 0
skip: false
tied-embeddings: false
tied-embeddings-all: true
tied-embeddings-src: false
transformer-decoder-autoreg: self-attention
transformer-decoder-dim-ffn: 0
transformer-decoder-ffn-depth: 0
transformer-depth-scaling: false
transformer-dim-ffn: {inner}
transformer-ffn-activation: relu
transformer-ffn-depth: 2
transformer-guided-alignment-layer: last
transformer-heads: {heads}
transformer-no-projection: false
transformer-pool: false
transformer-preprocess: n
transformer-postprocess: da
transformer-postprocess-emb: d
transformer-postprocess-top: n
transformer-tied-layers: []
transformer-train-position-embeddings: false
ulr: false
"""
OPTIONS = """\
models: [{folder}/model.bin]
vocabs: [{folder}/vocab.spm, {folder}/vocab.spm]
beam-size: {beam}
normalize: 0.6
max-length-break: 64
max-length-factor: 1.0
mini-batch-words: {batch}
workspace: 128
skip-cost: true
cpu-threads: {threads}
quiet: true
quiet-translation: true
gemm-precision: int8shiftAlphaAll
ssplit-mode: sentence
"""


def bindings():
    """The package's extension alone: the package itself asks the web for a list of models when imported."""
    package = importlib.util.find_spec("bergamot")
    if not package:
        raise ImportError("No module named 'bergamot'")
    path = glob.glob(os.path.join(package.submodule_search_locations[0], "_bergamot*.so"))[0]
    spec = importlib.util.spec_from_file_location("_bergamot", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


marian = bindings()


def words():
    """A word for each number: 4 letters, one token each."""
    letters = itertools.product(string.ascii_lowercase, repeat=4)
    return ["".join(word) for word in itertools.islice(letters, VOCABULARY)]


def write_vocabulary(path):
    model = sentencepiece.ModelProto()
    model.trainer_spec.model_type = model.trainer_spec.UNIGRAM
    model.trainer_spec.vocab_size = VOCABULARY
    model.trainer_spec.eos_id, model.trainer_spec.unk_id = 0, 1
    model.trainer_spec.bos_id = model.trainer_spec.pad_id = -1
    model.normalizer_spec.name = "identity"
    piece = model.SentencePiece
    model.pieces.add(piece="</s>", type=piece.CONTROL)
    model.pieces.add(piece="<unk>", type=piece.UNKNOWN)
    for word in words()[2:]:
        model.pieces.add(piece="\u2581" + word, type=piece.NORMAL, score=-8.0)
    with open(path, "wb") as out:
        out.write(model.SerializeToString())


class Items:
    """The tensors of a model in the order of the file: (name, type, shape, bytes)."""

    def __init__(self, width, inner):
        self.list, self.width, self.inner = [], width, inner
        self.rng = np.random.default_rng(1)

    def floats(self, name, values):
        values = np.asarray(values, dtype="<f4").reshape(1, -1)
        self.list.append((name, FLOAT32, values.shape, values.tobytes()))

    def matrix(self, name, rows, columns):
        codes = self.rng.standard_normal((rows, columns), dtype=np.float32) * (127 / 5)
        codes = np.clip(np.rint(codes), -127, 127).astype(np.int8)
        scale = np.float32(127 / 5 * columns ** 0.5)
        self.list.append((name, INTGEMM8, (rows, columns), codes.tobytes() + struct.pack("<f", scale)))
        self.floats(name + "_QuantMultA", [ALPHA])

    def norm(self, name, when=""):
        self.floats(name + "_ln_scale" + when, np.ones(self.width))
        self.floats(name + "_ln_bias" + when, np.zeros(self.width))

    def attention(self, name):
        self.norm(name + "_Wo", "_pre")
        for part in "qkvo":
            self.matrix(name + "_W" + part, self.width, self.width)
            self.floats(name + "_b" + part, np.zeros(self.width))

    def feed_forward(self, name):
        self.norm(name + "_ffn", "_pre")
        self.matrix(name + "_W1", self.width, self.inner)
        self.floats(name + "_b1", np.zeros(self.inner))
        self.matrix(name + "_W2", self.inner, self.width)
        self.floats(name + "_b2", np.zeros(self.width))

    def write(self, path):
        items = [(name, kind, dims, data + bytes(-len(data) % ALIGN)) for name, kind, dims, data in self.list]
        head = struct.pack("<QQ", 1, len(items))
        head += b"".join(struct.pack("<4Q", len(name) + 1, kind, len(dims), len(data)) for name, kind, dims,
                         data in items)
        head += b"".join(name.encode() + b"\0" for name, *_ in items)
        head += b"".join(struct.pack("<%di" % len(dims), *dims) for _, _, dims, _ in items)
        gap = -(len(head) + 8) % ALIGN
        with open(path, "wb") as out:
            out.write(head + struct.pack("<Q", gap) + bytes(gap))
            for *_, data in items:
                out.write(data)


def build(shape, folder):
    layers, width, inner, heads = SHAPES[shape]
    items = Items(width, inner)
    items.matrix("Wemb", VOCABULARY, width)
    bias = np.zeros(VOCABULARY)
    bias[:2] = NEVER
    items.floats("decoder_ff_logit_out_b", bias)
    for side in ("encoder", "decoder"):
        for layer in range(1, layers + 1):
            items.attention("%s_l%d_self" % (side, layer))
            if side == "decoder":
                items.attention("%s_l%d_context" % (side, layer))
            items.feed_forward("%s_l%d_ffn" % (side, layer))
        items.norm(side + "_top")
    text = SETTINGS.format(layers=layers, width=width, inner=inner, heads=heads, vocabulary=VOCABULARY).encode() + b"\0"
    items.list.append(("special:model.yml", INT8, (len(text),), text))
    items.write(os.path.join(folder, "model.bin"))
    write_vocabulary(os.path.join(folder, "vocab.spm"))


class Translator:
    def __init__(self, folder, shape, threads, beam, target):
        self.settings = dict(folder=folder, threads=threads, beam=beam)
        self.service = marian.Service(marian.ServiceConfig(numWorkers=threads))
        self.options = marian.ResponseOptions(qualityScores=False, alignment=False, sentenceMappings=False)
        self.words, self.models = words(), {}

    def model(self, batch):
        if batch not in self.models:  # the batch size belongs to the model
            self.models = {batch: self.service.modelFromConfig(OPTIONS.format(batch=batch, **self.settings))}
        return self.models[batch]

    def translate(self, sources, batch):
        text = "\n".join(" ".join(self.words[word] for word in source) for source in sources)
        target = self.service.translate(self.model(batch), marian.VectorString([text]), self.options)[0].target
        assert target.numSentences() == len(sources)
        return sum(target.numWords(i) for i in range(len(sources)))
