"""CTranslate2, int8, one worker a thread."""
import ctranslate2
import numpy as np

from peers import FIRST_WORD, SHAPES, VOCABULARY

NAME = "CTranslate2"
BATCHES, UNIT = [1024, 4096], "tokens"
REPLICAS = False
AVX2 = {"CT2_FORCE_CPU_ISA": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}


def build(shape, folder):
    layers, width, inner, heads = SHAPES[shape]
    spec = ctranslate2.specs.TransformerSpec.from_config(
        (layers, layers), heads, pre_norm=True, activation=ctranslate2.specs.Activation.RELU)
    rng = np.random.default_rng(1)

    def normal(*dims):
        return rng.standard_normal(dims, dtype=np.float32) * np.float32(dims[-1] ** -0.5)

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
    tokens = ["<unk>", "<s>", "</s>"] + ["t%d" % i for i in range(FIRST_WORD, VOCABULARY)]
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.validate()
    spec.optimize(quantization="int8")
    spec.save(folder)


class Translator:
    def __init__(self, folder, shape, threads, beam, target):
        self.model = ctranslate2.Translator(folder, inter_threads=threads, intra_threads=1, compute_type="int8")
        self.options = dict(beam_size=beam, min_decoding_length=target, max_decoding_length=target, length_penalty=0.6)

    def translate(self, sources, batch):
        words = [["t%d" % word for word in source] + ["</s>"] for source in sources]
        results = self.model.translate_batch(words, max_batch_size=batch, batch_type="tokens", **self.options)
        return sum(len(result.hypotheses[0]) for result in results)
