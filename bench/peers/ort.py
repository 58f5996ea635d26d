"""ONNX Runtime: two graphs, the encoder and one step of the decoder with keys and values kept, int8 products by
DynamicQuantizeMatMul (what its own dynamic quantization comes to). The search picks in the graph, so that no logits
leave it."""
import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from peers import SHAPES, VOCABULARY, by_length

NAME = "ONNX Runtime int8"
BATCHES, UNIT = [16, 48], "sentences"
REPLICAS = True
AVX2 = {}
START = 1
FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64


class Graph:
    """Nodes and weights of a graph; every method returns the name of what it computes."""

    def __init__(self, width, heads):
        self.width, self.heads, self.head = width, heads, width // heads
        self.nodes, self.weights, self.rng = [], {}, np.random.default_rng(1)

    def node(self, kind, *inputs, outputs=1, domain="", **attributes):
        names = ["%s_%d_%d" % (kind, len(self.nodes), i) for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value, dtype):
        name = "constant_%d" % len(self.weights)
        self.weights[name] = np.asarray(value, dtype=dtype)
        return name

    def codes(self, rows, columns):
        normal = self.rng.standard_normal((rows, columns), dtype=np.float32)
        return self.constant(np.clip(np.rint(normal * (127 / 5)), -127, 127), np.int8)

    def dense(self, x, rows, columns):
        scale, bias = self.constant(5 / 127 * rows ** -0.5, np.float32), self.constant(np.zeros(columns), np.float32)
        return self.node("DynamicQuantizeMatMul", x, self.codes(rows, columns), scale, "", bias, domain="com.microsoft")

    def norm(self, x):
        ones, zeros = self.constant(np.ones(self.width), np.float32), self.constant(np.zeros(self.width), np.float32)
        return self.node("LayerNormalization", x, ones, zeros, axis=-1)

    def shaped(self, x, *dims):
        return self.node("Reshape", x, self.constant(dims, np.int64))

    def split(self, x, parts):
        """(rows, length, parts * width) to `parts` of (rows, heads, length, head width)."""
        x = self.node("Split", x, axis=2, num_outputs=parts, outputs=parts) if parts > 1 else [x]
        return [self.node("Transpose", self.shaped(part, 0, 0, self.heads, self.head), perm=[0, 2, 1, 3]) for part in x]

    def attention(self, q, k, v, mask=None):
        q = self.node("Mul", q, self.constant(self.head ** -0.5, np.float32))
        scores = self.node("MatMul", q, self.node("Transpose", k, perm=[0, 1, 3, 2]))
        if mask:
            scores = self.node("Add", scores, mask)
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), v)
        return self.shaped(self.node("Transpose", mixed, perm=[0, 2, 1, 3]), 0, 0, self.width)

    def embed(self, words, positions):
        x = self.node("Cast", self.node("Gather", self.codes(VOCABULARY, self.width), words), to=FLOAT)
        return self.node("Add", self.node("Mul", x, self.constant(0.04, np.float32)), positions)

    def feed_forward(self, x, inner):
        hidden = self.node("Relu", self.dense(self.norm(x), self.width, inner))
        return self.node("Add", x, self.dense(hidden, inner, self.width))

    def save(self, path, inputs, outputs):
        """`outputs`: (name in the graph, name outside, type)."""
        for inside, outside, _ in outputs:
            self.nodes.append(helper.make_node("Identity", [inside], [outside]))
        graph = helper.make_graph(
            self.nodes, "graph", [helper.make_tensor_value_info(*value) for value in inputs],
            [helper.make_tensor_value_info(outside, kind, None) for _, outside, kind in outputs],
            [numpy_helper.from_array(value, name) for name, value in self.weights.items()])
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def build_encoder(shape, path):
    layers, width, inner, heads = SHAPES[shape]
    g = Graph(width, heads)
    x = g.embed("words", "positions")
    for _ in range(layers):
        q, k, v = g.split(g.dense(g.norm(x), width, 3 * width), 3)
        x = g.node("Add", x, g.dense(g.attention(q, k, v, "mask"), width, width))
        x = g.feed_forward(x, inner)
    x = g.norm(x)
    memory = []
    for layer in range(layers):
        for kind, part in zip("kv", g.split(g.dense(x, width, 2 * width), 2)):
            memory.append((part, "memory_%s%d" % (kind, layer), FLOAT))
    g.save(path, [("words", INT, ["rows", "length"]), ("positions", FLOAT, ["length", width]),
                  ("mask", FLOAT, ["rows", 1, 1, "length"])], memory)


def build_step(shape, path, beam):
    layers, width, inner, heads = SHAPES[shape]
    g = Graph(width, heads)
    kept = ["rows", heads, "past", width // heads]
    inputs = [("words", INT, ["rows", 1]), ("positions", FLOAT, [1, width]), ("mask", FLOAT, ["sentences", 1, 1,
                                                                                              "length"])]
    if beam > 1:
        inputs += [("order", INT, ["rows"]), ("scores", FLOAT, ["rows", 1])]
    outputs = []
    x = g.embed("words", "positions")
    for layer in range(layers):
        q, *fresh = g.split(g.dense(g.norm(x), width, 3 * width), 3)
        for i, kind in enumerate("kv"):
            past = "past_%s%d" % (kind, layer)
            inputs.append((past, FLOAT, kept))
            inputs.append(("memory_%s%d" % (kind, layer), FLOAT, ["sentences", heads, "length", width // heads]))
            if beam > 1:
                past = g.node("Gather", past, "order", axis=0)
            fresh[i] = g.node("Concat", past, fresh[i], axis=2)
            outputs.append((fresh[i], "present_%s%d" % (kind, layer), FLOAT))
        x = g.node("Add", x, g.dense(g.attention(q, *fresh), width, width))
        # The hypotheses of a sentence are rows that look at the same keys.
        query = g.shaped(g.dense(g.norm(x), width, width), -1, beam, width)
        seen = g.attention(g.split(query, 1)[0], "memory_k%d" % layer, "memory_v%d" % layer, "mask")
        x = g.node("Add", x, g.shaped(g.dense(seen, width, width), -1, 1, width))
        x = g.feed_forward(x, inner)
    logits = g.shaped(g.dense(g.norm(x), width, VOCABULARY), -1, VOCABULARY)
    if beam == 1:
        outputs.insert(0, (g.node("ArgMax", logits, axis=1, keepdims=1), "chosen", INT))
    else:
        sums = g.shaped(g.node("Add", g.node("LogSoftmax", logits, axis=1), "scores"), -1, beam * VOCABULARY)
        best, chosen = g.node("TopK", sums, g.constant([beam], np.int64), outputs=2)
        outputs[:0] = [(chosen, "chosen", INT), (best, "best", FLOAT)]
    g.save(path, inputs, outputs)


def build(shape, folder):
    build_encoder(shape, os.path.join(folder, "encoder.onnx"))
    for beam in (1, 4):
        build_step(shape, os.path.join(folder, "step%d.onnx" % beam), beam)


class Translator:
    def __init__(self, folder, shape, threads, beam, target):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.layers, self.width, _, self.heads = SHAPES[shape]
        self.beam, self.target = beam, target
        open_session = lambda name: onnxruntime.InferenceSession(
            os.path.join(folder, name), options, providers=["CPUExecutionProvider"])
        self.encoder, self.step = open_session("encoder.onnx"), open_session("step%d.onnx" % beam)
        self.memory_names = [output.name for output in self.encoder.get_outputs()]
        self.step_names = [output.name for output in self.step.get_outputs()]
        angles = np.arange(256)[:, None] * np.exp(np.arange(self.width // 2) * (-9.21 / (self.width // 2)))
        self.positions = np.concatenate([np.sin(angles), np.cos(angles)], 1).astype(np.float32)

    def search(self, batch):
        value = onnxruntime.OrtValue.ortvalue_from_numpy
        longest, rows, beam = max(map(len, batch)), len(batch) * self.beam, self.beam
        words = np.array([source + [0] * (longest - len(source)) for source in batch])
        mask = np.where(np.arange(longest) < np.array([[len(s)] for s in batch]), 0, -1e9).astype(np.float32)
        mask = value(mask.reshape(len(batch), 1, 1, longest))
        feed = {"words": value(words), "positions": value(self.positions[:longest]), "mask": mask}
        feed = dict(zip(self.memory_names, self.encoder.run_with_ort_values(self.memory_names, feed)), mask=mask)
        empty = value(np.empty((rows, self.heads, 0, self.width // self.heads), dtype=np.float32))
        kept = {"past_%s%d" % (kind, layer): empty for layer in range(self.layers) for kind in "kv"}
        words, said = np.full((rows, 1), START), np.empty((rows, self.target), dtype=np.int64)
        scores = np.tile(np.array([0.0] + [-1e9] * (beam - 1), dtype=np.float32), len(batch))[:, None]
        order = np.arange(rows)
        first = np.arange(len(batch))[:, None] * beam
        for step in range(self.target):
            feed.update(kept, words=value(words), positions=value(self.positions[step:step + 1]))
            if beam > 1:
                feed.update(order=value(order), scores=value(scores))
            results = dict(zip(self.step_names, self.step.run_with_ort_values(self.step_names, feed)))
            chosen = results["chosen"].numpy()
            if beam > 1:
                scores = results["best"].numpy().reshape(-1, 1)
                order = (first + chosen // VOCABULARY).reshape(-1)
                chosen, said = (chosen % VOCABULARY).reshape(-1, 1), said[order]
            words = chosen
            said[:, step] = words[:, 0]
            kept = {name.replace("present", "past"): results[name] for name in results if name.startswith("present")}
        return said.reshape(len(batch), beam, -1)[:, 0]

    def translate(self, sources, batch):
        return sum(self.search(part).size for part in by_length(sources, batch))
