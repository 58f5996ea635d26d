"""The systems that compare_peers.py measures beside ganz. Each module here has

    NAME             what it is called
    BATCHES, UNIT    batch sizes that are tried, and in what they count
    REPLICAS         whether several threads may also be as many processes (False: the system has workers of its own)
    AVX2             environment that holds it to AVX2
    build(shape, folder)                               writes a random model
    Translator(folder, shape, threads, beam, target)   loads it
        .translate(sources, batch)                     returns how many target tokens were made

A source is a list of numbers from FIRST_WORD to VOCABULARY - 1. All models are pre-norm Transformers with ReLU.
"""
import importlib
import random

VOCABULARY = 32000
FIRST_WORD = 3  # below: what a system needs for itself
SHAPES = {  # layers, width, feed-forward, heads
    "base": (6, 512, 2048, 8),
    "big": (6, 1024, 4096, 16),
    "small": (6, 256, 1024, 4),
}
PEERS = {  # module, packages that it needs
    "ctranslate2": ("ct2", "ctranslate2 numpy"),
    "marian": ("marian", "bergamot numpy sentencepiece protobuf"),
    "torch": ("torch_int8", "torch numpy"),
    "torch-bf16": ("torch_bf16", "torch numpy"),
    "onnxruntime": ("ort", "onnxruntime onnx numpy"),
}


def load(peer):
    return importlib.import_module("peers." + PEERS[peer][0])


def lengths(count, seed=1):
    """Source lengths, about those of news."""
    rng = random.Random(seed)
    return [min(60, max(5, round(rng.lognormvariate(3.15, 0.5)))) for _ in range(count)]


def sources(source_lengths):
    rng = random.Random(2)
    return [[rng.randrange(FIRST_WORD, VOCABULARY) for _ in range(n)] for n in source_lengths]


def by_length(items, batch):
    """Batches of `batch` sources of about the same length, the longest first."""
    items = sorted(items, key=len, reverse=True)
    return [items[i:i + batch] for i in range(0, len(items), batch)]
