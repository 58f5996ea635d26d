#!/usr/bin/env python3
"""Makes tests/import: random MarianMT models in every format that ganz reads, and what transformers says of them.

Needs transformers, torch, ctranslate2 and numpy (PyPI). The references are computed by transformers in double; the
models are so small that all files together stay below 400 KiB.

    python3 tools/import_goldens.py tests/import [PART...]
"""
import argparse, io, json, os, struct, sys, zipfile
try:
    import numpy as np
    import torch
    from transformers import MarianConfig, MarianMTModel
except ImportError as missing:
    sys.exit(f"import_goldens: {missing}")

torch.set_num_threads(1)
D, HEADS, FFN, V, VS = 8, 2, 12, 17, 13
EOS, UNK = 3, 5
LONGEST = 12  # tokens of a translation, end mark included


def make(name, seed, **change):
    torch.manual_seed(seed)
    shared = change.get("share_encoder_decoder_embeddings", True)
    pad = V - 1 if shared else VS - 1  # one number for both sides
    keys = dict(vocab_size=V if shared else VS, decoder_vocab_size=V, d_model=D, encoder_layers=1, decoder_layers=2,
                encoder_attention_heads=HEADS, decoder_attention_heads=HEADS, encoder_ffn_dim=FFN, decoder_ffn_dim=FFN,
                activation_function="swish", scale_embedding=True, max_position_embeddings=128, pad_token_id=pad,
                eos_token_id=EOS, decoder_start_token_id=pad, forced_eos_token_id=EOS, num_beams=4,
                share_encoder_decoder_embeddings=True, tie_word_embeddings=True, bad_words_ids=[[pad]])
    keys.update(change)
    model = MarianMTModel(MarianConfig(**keys)).eval()
    with torch.no_grad():
        for key, p in model.named_parameters():
            if "layer_norm.weight" in key: p.normal_(1, 0.2)
            elif key.endswith("bias"): p.normal_(0, 0.3)
            elif "embed_positions" not in key: p.normal_(0, 0.45)
        model.final_logits_bias.normal_(0, 0.5)
        model.final_logits_bias[0, EOS] = 2
        if not change.get("pad_row"):
            for side in (model.model.encoder, model.model.decoder): side.embed_tokens.weight[pad] = 0
            if shared: model.model.shared.weight[pad] = 0
        model.final_logits_bias[0, pad] = 0
    return model


def words(size, pad):
    texts = [f"w{i}" for i in range(size)]
    texts[EOS], texts[UNK], texts[pad] = "</s>", "<unk>", "<pad>"
    return texts


def references(model, path):
    """Greedy translations and their log-probabilities, padding banned before the log-softmax."""
    model = model.double()
    pad, rng, lines = model.config.pad_token_id, np.random.default_rng(7), []
    usable = [i for i in range(model.config.vocab_size) if i not in (EOS, UNK, pad)]
    target = words(V, pad)
    while len(lines) < 8:
        ids = [int(i) for i in rng.choice(usable, rng.integers(1, 9))]
        said, total = [], 0.0
        with torch.no_grad():
            memory = model.get_encoder()(torch.tensor([ids + [EOS]]))
            while len(said) < LONGEST and EOS not in said:
                decoder = torch.tensor([[model.config.decoder_start_token_id] + said])
                logits = model(encoder_outputs=memory, decoder_input_ids=decoder).logits[0, -1]
                logits[pad] = -torch.inf
                logp = torch.log_softmax(logits, -1)
                said.append(int(logp.argmax()))
                total += float(logp[said[-1]])
        text = " ".join(target[i] for i in said if i not in (EOS, UNK))
        lines.append("%.6f\t%s\t%s" % (total, " ".join(f"w{i}" for i in ids), text))
    with open(os.path.join(path, "expected.tsv"), "w") as f: f.write("\n".join(lines) + "\n")
    model.float()


def write_texts(model, path):
    config = model.config.to_dict()
    keep = ["model_type", "d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads",
            "decoder_attention_heads", "encoder_ffn_dim", "decoder_ffn_dim", "activation_function", "scale_embedding",
            "max_position_embeddings", "vocab_size", "decoder_vocab_size", "share_encoder_decoder_embeddings",
            "tie_word_embeddings", "pad_token_id", "eos_token_id", "decoder_start_token_id", "num_beams"]
    config = {k: config[k] for k in keep if k in config}
    config.setdefault("num_beams", 4)
    with open(os.path.join(path, "config.json"), "w") as f: json.dump(config, f, indent=1)
    pad = model.config.pad_token_id
    def save(name, size):
        with open(os.path.join(path, name), "w") as f:
            json.dump({w: i for i, w in enumerate(words(size, pad))}, f)
    if model.config.share_encoder_decoder_embeddings: return save("vocab.json", V)
    save("vocab.json", VS)
    save("target_vocab.json", V)


def hf(root, name, seed, **change):
    path = os.path.join(root, name)
    os.makedirs(path, exist_ok=True)
    model = make(name, seed, **change)
    references(model, path)
    write_texts(model, path)
    model.save_pretrained(os.path.join(path, "tmp"))
    os.replace(os.path.join(path, "tmp", "model.safetensors"), os.path.join(path, "model.safetensors"))
    for f in os.listdir(os.path.join(path, "tmp")): os.remove(os.path.join(path, "tmp", f))
    os.rmdir(os.path.join(path, "tmp"))
    return model


def narrow(root, name, dtype):
    """The numbers of hf in 16 bits; transformers says in double what the rounded numbers give."""
    path = os.path.join(root, name)
    os.makedirs(path, exist_ok=True)
    from safetensors.torch import save_file
    model = make("hf", 1)
    tensors = {k: v.detach().to(dtype) for k, v in model.state_dict().items()
               if k in ("model.shared.weight", "final_logits_bias") or "layers" in k}
    model.load_state_dict({k: v.float() for k, v in tensors.items()}, strict=False)  # positions are computed, not rounded
    save_file(tensors, os.path.join(path, "model.safetensors"), {"format": "pt"})
    references(model, path)
    write_texts(model, path)


def numbers(model):
    return {k: v.detach().numpy() for k, v in model.state_dict().items()}


def marian(n):
    """The tensors of Marian, (in, out)."""
    out = {"Wemb": n["model.shared.weight"][:-1], "decoder_ff_logit_out_b": n["final_logits_bias"][:, :-1]}
    for side, layers in (("encoder", 1), ("decoder", 2)):
        for layer in range(layers):
            at = f"model.{side}.layers.{layer}."
            to = f"{side}_l{layer + 1}_"
            for ours, theirs in (("self_attn", "self"), ("encoder_attn", "context")):
                if at + ours + ".q_proj.weight" not in n: continue
                for p, q in (("q_proj", "q"), ("k_proj", "k"), ("v_proj", "v"), ("out_proj", "o")):
                    out[f"{to}{theirs}_W{q}"] = n[f"{at}{ours}.{p}.weight"].T
                    out[f"{to}{theirs}_b{q}"] = n[f"{at}{ours}.{p}.bias"][None]
                out[f"{to}{theirs}_Wo_ln_scale"] = n[f"{at}{ours}_layer_norm.weight"][None]
                out[f"{to}{theirs}_Wo_ln_bias"] = n[f"{at}{ours}_layer_norm.bias"][None]
            for i in (1, 2):
                out[f"{to}ffn_W{i}"] = n[f"{at}fc{i}.weight"].T
                out[f"{to}ffn_b{i}"] = n[f"{at}fc{i}.bias"][None]
            out[f"{to}ffn_ffn_ln_scale"] = n[f"{at}final_layer_norm.weight"][None]
            out[f"{to}ffn_ffn_ln_bias"] = n[f"{at}final_layer_norm.bias"][None]
    yml = ("type: transformer\ndim-emb: %d\ntransformer-dim-ffn: %d\ntransformer-heads: %d\nenc-depth: 1\ndec-depth: 2\n"
           "transformer-preprocess: \"\"\ntransformer-postprocess: dan\ntransformer-ffn-activation: swish\n"
           "transformer-decoder-autoreg: self-attention\ntransformer-tied-layers:\n  []\ntied-embeddings-all: true\n"
           "dim-vocabs:\n  - %d\n  - %d\n" % (D, FFN, HEADS, V - 1, V - 1))
    out["special:model.yml"] = np.frombuffer(yml.encode() + b"\0", dtype=np.int8)
    return {k: np.ascontiguousarray(v) for k, v in out.items()}


def write_marian_bin(tensors, path, codes):
    """Marian's .bin; codes: matrices as int8 with their multiplier, transposed, as in Firefox's files."""
    items = []
    for name, x in tensors.items():
        if x.dtype == np.int8: items.append((name, 0x101, x.shape, x.tobytes()))
        elif codes and x.ndim == 2 and x.shape[0] > 1:
            m = np.float32(127 / np.abs(x).max())
            y = x if name.endswith("Wemb") else x.T
            items.append((name, 0x4101, x.shape, np.rint(y * m).astype(np.int8).tobytes() + m.tobytes()))
        else: items.append((name, 0x404, x.shape, x.astype(np.float32).tobytes()))
    with open(path, "wb") as f:
        f.write(struct.pack("<QQ", 1, len(items)))
        for name, kind, shape, data in items: f.write(struct.pack("<QQQQ", len(name) + 1, kind, len(shape), len(data)))
        for name, *_ in items: f.write(name.encode() + b"\0")
        for _, _, shape, _ in items: f.write(struct.pack("<%di" % len(shape), *shape))
        f.write(struct.pack("<Q", 3) + b"\0\0\0")
        for *_, data in items: f.write(data)


def formats(root, model):
    """One model in all formats; what transformers says of it is in hf/expected.tsv."""
    n, home = numbers(model), os.path.join(root, "hf")
    state = {k: v for k, v in model.state_dict().items() if "embed_positions" not in k}
    os.makedirs(os.path.join(root, "torch"), exist_ok=True)
    os.makedirs(os.path.join(root, "torch-legacy"), exist_ok=True)
    torch.save(state, os.path.join(root, "torch", "pytorch_model.bin"))
    torch.save(state, os.path.join(root, "torch-legacy", "pytorch_model.bin"), _use_new_zipfile_serialization=False)
    for name in ("torch", "torch-legacy"):
        for f in ("config.json", "vocab.json"):
            with open(os.path.join(home, f)) as a, open(os.path.join(root, name, f), "w") as b: b.write(a.read())
    tensors = marian(n)
    vocab = "".join(f"{json.dumps(w)}: {i}\n" for i, w in enumerate(words(V, V - 1)[:-1]))
    for name in ("npz", "npz-packed", "bin", "bin-codes"):
        os.makedirs(os.path.join(root, name), exist_ok=True)
        with open(os.path.join(root, name, "opus.vocab.yml"), "w") as f: f.write(vocab)
    np.savez(os.path.join(root, "npz", "model.npz"), **tensors)
    np.savez_compressed(os.path.join(root, "npz-packed", "model.npz"), **tensors)
    write_marian_bin(tensors, os.path.join(root, "bin", "model.intgemm8.bin"), False)
    write_marian_bin(tensors, os.path.join(root, "bin-codes", "model.intgemm8.bin"), True)
    ctranslate2_kinds(root, n, ("float32", "float16", "int8"))


def ctranslate2_kinds(root, n, kinds):
    from ctranslate2.specs import transformer_spec, common_spec
    for kind in kinds:
        spec = ct2_spec(n, transformer_spec, common_spec)
        spec.register_source_vocabulary(words(V, V - 1)[:-1])
        spec.register_target_vocabulary(words(V, V - 1)[:-1])
        spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = "</s>", "</s>", "<unk>"
        spec.config.add_source_eos = False
        spec.validate()
        spec.optimize(quantization=kind)
        path = os.path.join(root, "ct2-" + kind)
        os.makedirs(path, exist_ok=True)
        spec.save(path)


def ct2_spec(n, transformer_spec, common_spec):
    spec = transformer_spec.TransformerSpec.from_config(
        (1, 2), HEADS, pre_norm=False, activation=common_spec.Activation.SWISH)
    spec.decoder.start_from_zero_embedding = True
    half = np.arange(D // 2)
    angle = np.arange(64)[:, None] * 10000 ** (-half / (D // 2))
    table = np.concatenate([np.sin(angle), np.cos(angle)], 1).astype(np.float32)
    for side, stack in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        stack.position_encodings.encodings = table
        stack.scale_embeddings = True
        where = stack.embeddings[0] if side == "encoder" else stack.embeddings
        where.weight = n["model.shared.weight"][:-1]
        for i, layer in enumerate(stack.layer):
            at = f"model.{side}.layers.{i}."
            def dense(to, *names):
                to.weight = np.concatenate([n[at + x + ".weight"] for x in names])
                to.bias = np.concatenate([n[at + x + ".bias"] for x in names])
            def norm(to, name):
                to.gamma, to.beta = n[at + name + ".weight"], n[at + name + ".bias"]
            dense(layer.self_attention.linear[0], *(f"self_attn.{x}_proj" for x in "qkv"))
            dense(layer.self_attention.linear[1], "self_attn.out_proj")
            norm(layer.self_attention.layer_norm, "self_attn_layer_norm")
            if side == "decoder":
                dense(layer.attention.linear[0], "encoder_attn.q_proj")
                dense(layer.attention.linear[1], "encoder_attn.k_proj", "encoder_attn.v_proj")
                dense(layer.attention.linear[2], "encoder_attn.out_proj")
                norm(layer.attention.layer_norm, "encoder_attn_layer_norm")
            dense(layer.ffn.linear_0, "fc1")
            dense(layer.ffn.linear_1, "fc2")
            norm(layer.ffn.layer_norm, "final_layer_norm")
    spec.decoder.projection.weight = n["model.shared.weight"][:-1]
    spec.decoder.projection.bias = n["final_logits_bias"][0, :-1]
    return spec


def alternating(root, name, bare):
    """Positions as OpenNMT has them, sines and cosines in turn; CTranslate2 says what comes out. bare: as OpenNMT-py's
    models are, whose sources have no end mark, and whose decoder begins with an entry."""
    import ctranslate2
    from ctranslate2.specs import transformer_spec, common_spec
    spec = ct2_spec(numbers(make("alternating", 11)), transformer_spec, common_spec)
    for stack in (spec.encoder, spec.decoder):
        halves = stack.position_encodings.encodings
        table = np.empty_like(halves)
        table[:, 0::2], table[:, 1::2] = halves[:, :D // 2], halves[:, D // 2:]
        stack.position_encodings.encodings = table
    texts = words(V, V - 1)[:-1]
    if bare: texts[1], spec.decoder.start_from_zero_embedding = "<s>", False
    spec.register_source_vocabulary(texts)
    spec.register_target_vocabulary(texts)
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = "</s>", "</s>", "<unk>"
    spec.config.add_source_eos = not bare
    if bare: spec.config.bos_token = spec.config.decoder_start_token = "<s>"
    spec.validate()
    spec.optimize()
    path = os.path.join(root, name)
    os.makedirs(path, exist_ok=True)
    spec.save(path)
    translator = ctranslate2.Translator(path, intra_threads=1)
    rng, usable, lines = np.random.default_rng(5), [w for w in texts if w not in ("<s>", "</s>", "<unk>")], []
    for i in range(8):
        source = [str(w) for w in rng.choice(usable, 1 + i if bare else 5)]
        r = translator.translate_batch([source], beam_size=1, max_decoding_length=LONGEST, min_decoding_length=0,
                                       return_scores=True, length_penalty=0)[0]
        said = " ".join(w for w in r.hypotheses[0] if w != "<unk>")
        lines.append("%.6f\t%s\t%s" % (r.scores[0], " ".join(source), said))
    with open(os.path.join(path, "expected.tsv"), "w") as f: f.write("\n".join(lines) + "\n")


# ---- Tensor2Tensor ------------------------------------------------------------------------------


def varint(n):
    out = b""
    while n > 127: out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def crc32c(data):
    c = 0xFFFFFFFF
    for byte in data:
        c ^= byte
        for _ in range(8): c = (c >> 1) ^ (0x82F63B78 if c & 1 else 0)
    c ^= 0xFFFFFFFF
    return ((c >> 15 | c << 17) + 0xA282EAD8) & 0xFFFFFFFF


def table_block(pairs):
    """A block of leveldb's tables: keys share their beginnings with the one before, but for every sixteenth."""
    out, before, restarts = b"", b"", []
    for i, (key, value) in enumerate(pairs):
        shared = len(os.path.commonprefix([before, key])) if i % 16 else 0
        if i % 16 == 0: restarts.append(len(out))
        out += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        before = key
    restarts = restarts or [0]
    return out + b"".join(struct.pack("<I", r) for r in restarts) + struct.pack("<I", len(restarts))


def write_bundle(prefix, tensors):
    """A checkpoint of TensorFlow with one file of data and two blocks of entries."""
    data, entries = b"", [(b"", b"\x08\x01\x1a\x02\x08\x01")]
    for name in sorted(tensors):
        raw, x = tensors[name].tobytes(), tensors[name]
        shape = b"".join(b"\x12" + varint(len(varint(n)) + 1) + b"\x08" + varint(n) for n in x.shape)
        value = b"\x08\x01\x12" + varint(len(shape)) + shape
        if data: value += b"\x20" + varint(len(data))
        entries.append((name.encode(), value + b"\x28" + varint(len(raw)) + b"\x35" + struct.pack("<I", crc32c(raw))))
        data += raw
    with open(prefix + ".data-00000-of-00001", "wb") as f: f.write(data)
    out, places = b"", []

    def put(block):
        nonlocal out
        place = varint(len(out)) + varint(len(block))
        out += block + b"\0" + struct.pack("<I", crc32c(block + b"\0"))
        return place

    half = len(entries) // 2
    for part in (entries[:half], entries[half:]): places.append((part[-1][0], put(table_block(part))))
    footer = put(table_block([])) + put(table_block(places))
    with open(prefix + ".index", "wb") as f: f.write(out + footer.ljust(40, b"\0") + bytes.fromhex("57fb808b247547db"))


def tensor2tensor(root):
    """Pegasus is Tensor2Tensor's network: positions and the target space are in its tables. The table is in two parts."""
    from transformers import PegasusConfig, PegasusForConditionalGeneration
    good = list("abcdefghijkl")
    entries = ["<pad>_", "<EOS>_"] + [w + "_" for w in good] + sorted(set("\\_u;0123456789<pad>EOS") | set(good))
    v, path = len(entries), os.path.join(root, "t2t")
    os.makedirs(path, exist_ok=True)
    torch.manual_seed(9)
    model = PegasusForConditionalGeneration(PegasusConfig(
        vocab_size=v, d_model=D, encoder_layers=2, decoder_layers=2, encoder_attention_heads=HEADS, decoder_attention_heads=HEADS,
        encoder_ffn_dim=FFN, decoder_ffn_dim=FFN, activation_function="relu", scale_embedding=True, max_position_embeddings=64,
        pad_token_id=0, eos_token_id=1, decoder_start_token_id=0)).eval()
    half = D // 2
    angle = np.arange(64)[:, None] * 10000.0 ** (-np.arange(half) / (half - 1))
    timing = torch.tensor(np.concatenate([np.sin(angle), np.cos(angle)], 1))
    space = torch.randn(32, D)
    with torch.no_grad():
        for key, p in model.named_parameters():
            if "layer_norm.weight" in key: p.normal_(1, 0.2)
            elif "_proj.bias" in key: p.zero_()
            elif key.endswith("bias"): p.normal_(0, 0.3)
            elif "embed_positions" not in key: p.normal_(0, 0.45)
        model.model.shared.weight[0] = 0
        model.model.shared.weight[2 + len(good):] = 0  # never said: other entries have larger logits
        model = model.double()
        model.model.encoder.embed_positions.weight.copy_(timing + space[0].double())
        model.model.decoder.embed_positions.weight.copy_(timing)
    rng, lines = np.random.default_rng(3), []
    for _ in range(8):
        ids, said, total = [int(i) for i in rng.integers(2, 2 + len(good), rng.integers(1, 9))], [], 0.0
        while len(said) < LONGEST and 1 not in said:
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([ids + [1]]), decoder_input_ids=torch.tensor([[0] + said])).logits[0, -1]
            logp = torch.log_softmax(logits, -1)
            said.append(int(logp.argmax()))
            total += float(logp[said[-1]])
        assert all(0 < i < 2 + len(good) for i in said)
        text = lambda ids: " ".join(entries[i][:-1] for i in ids if i != 1)
        lines.append("%.6f\t%s\t%s" % (total, text(ids), text(said)))
    with open(os.path.join(path, "expected.tsv"), "w") as f: f.write("\n".join(lines) + "\n")
    n = {k: x.detach().float().numpy() for k, x in model.state_dict().items()}
    table, out = n["model.shared.weight"], {"transformer/body/target_space_embedding/kernel": space.numpy()}
    for i, part in enumerate((table[:20], table[20:])): out[f"transformer/symbol_modality_{v}_{D}/shared/weights_{i}"] = part
    groups = {"self_attn": "self_attention", "encoder_attn": "encdec_attention"}
    for key, x in n.items():
        p = key.split(".")
        if len(p) == 4 and p[2] == "layer_norm": where, what = p[1], "norm"
        elif "layers" in p and p[2] == "layers":
            where, what = f"{p[1]}/layer_{p[3]}/", p[4]
            if what in groups:
                if p[-1] == "bias": continue
                where += groups[what] + "/multihead_attention/" + {"out_proj": "output_transform"}.get(p[5], p[5][0])
                what = "dense"
            elif what in ("fc1", "fc2"): where, what = where + "ffn/conv" + what[2], "dense"
            else:
                where += groups.get(what.replace("_layer_norm", ""), "ffn")
                what = "norm"
        else: continue
        name = "transformer/body/" + where
        if what == "norm": out[f"{name}/layer_prepostprocess/layer_norm/layer_norm_{'scale' if p[-1] == 'weight' else 'bias'}"] = x
        else: out[name + ("/kernel" if p[-1] == "weight" else "/bias")] = np.ascontiguousarray(x.T)
    write_bundle(os.path.join(path, "model.ckpt-5"), out)
    with open(os.path.join(path, "checkpoint"), "w") as f: f.write('model_checkpoint_path: "/somewhere/model.ckpt-5"\n')
    with open(os.path.join(path, "hparams.json"), "w") as f:
        json.dump({"hidden_size": D, "filter_size": FFN, "num_heads": HEADS, "num_hidden_layers": 2, "num_encoder_layers": 0,
                   "layer_preprocess_sequence": "n", "layer_postprocess_sequence": "da", "norm_epsilon": 1e-5,
                   "shared_embedding_and_softmax_weights": True, "pos": "timing"}, f)
    with open(os.path.join(path, "vocab.toy.subwords"), "w") as f:
        for entry in ["<pad>", "<EOS>"] + entries[2:]: f.write(f"'{entry}'\n")  # as older versions wrote it


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("part", nargs="*")
    options = parser.parse_args()
    root = options.folder
    parts = {"t2t": lambda: tensor2tensor(root), "bare": lambda: alternating(root, "ct2-bare", True),
             "narrow": lambda: (narrow(root, "hf-half", torch.float16), narrow(root, "hf-bfloat", torch.bfloat16)),
             "int16": lambda: ctranslate2_kinds(root, numbers(make("hf", 1)), ("int16",))}
    if unknown := [part for part in options.part if part not in parts]:
        parser.error(f"there is no part {unknown[0]}: they are {', '.join(parts)}")
    for part in options.part: parts[part]()
    if options.part: return
    formats(root, hf(root, "hf", 1))
    hf(root, "hf-relu", 2, activation_function="relu", scale_embedding=False)
    hf(root, "hf-two-tables", 3, share_encoder_decoder_embeddings=False)
    hf(root, "hf-untied", 4, share_encoder_decoder_embeddings=False, tie_word_embeddings=False)
    hf(root, "hf-shared-untied", 5, tie_word_embeddings=False)
    hf(root, "hf-start", 6, activation_function="gelu", pad_row=True)
    alternating(root, "ct2-alternating", False)
    for part in parts.values(): part()


main()
