#!/usr/bin/env python3
"""The OPUS-MT model zh-en of an Argos package as a folder of Hugging Face (float32) and as one of Marian (.npz).

    python3 tools/zh_en_folders.py PACKAGE OUT

PACKAGE is the unpacked folder translate-zh_en-1_9. Needs numpy. The formats are written by hand, so that ganz's readers
meet files that no code of ganz has made.
"""
import argparse, json, os, shutil, struct, sys
try:
    import numpy as np
except ImportError as missing:
    sys.exit(f"zh_en_folders: {missing}")


def read_ct2(path):
    d, at = open(path, "rb").read(), 0
    def number(n):
        nonlocal at
        at += n
        return int.from_bytes(d[at - n:at], "little")
    def text():
        nonlocal at
        n = number(2)
        at += n
        return d[at - n:at - 1].decode()
    assert number(4) == 6
    text(), number(4)
    types = [np.float32, np.int8, np.int16, np.int32, np.float16]
    out = {}
    for _ in range(number(4)):
        name, rank = text(), number(1)
        shape = [number(4) for _ in range(rank)]
        kind, size = number(1), number(4)
        out[name] = np.frombuffer(d, types[kind], size // np.dtype(types[kind]).itemsize, at).reshape(shape)
        at += size
    for name in [n for n in out if n.endswith("weight") and n + "_scale" in out]:
        out[name] = out[name].astype(np.float32) / out[name + "_scale"][:, None]
    return out


def huggingface(c):
    out, d = {}, 512
    table = c["decoder/embeddings/weight"]
    out["model.shared.weight"] = np.concatenate([table, np.zeros((1, d), np.float32)])
    out["final_logits_bias"] = np.append(c["decoder/projection/bias"], np.float32(0))[None]
    for side in ("encoder", "decoder"):
        for i in range(6):
            a, b = f"{side}/layer_{i}/", f"model.{side}.layers.{i}."
            def dense(theirs, *ours):
                for kind in ("weight", "bias"):
                    for part, name in zip(np.split(c[a + theirs + "/" + kind], len(ours)), ours): out[b + name + "." + kind] = part
            def norm(theirs, ours):
                out[b + ours + ".weight"], out[b + ours + ".bias"] = c[a + theirs + "/gamma"], c[a + theirs + "/beta"]
            dense("self_attention/linear_0", *(f"self_attn.{x}_proj" for x in "qkv"))
            dense("self_attention/linear_1", "self_attn.out_proj")
            norm("self_attention/layer_norm", "self_attn_layer_norm")
            if side == "decoder":
                dense("attention/linear_0", "encoder_attn.q_proj")
                dense("attention/linear_1", "encoder_attn.k_proj", "encoder_attn.v_proj")
                dense("attention/linear_2", "encoder_attn.out_proj")
                norm("attention/layer_norm", "encoder_attn_layer_norm")
            dense("ffn/linear_0", "fc1")
            dense("ffn/linear_1", "fc2")
            norm("ffn/layer_norm", "final_layer_norm")
    return {k: np.ascontiguousarray(v) for k, v in out.items()}


def marian(h):
    out = {"Wemb": h["model.shared.weight"][:-1], "decoder_ff_logit_out_b": h["final_logits_bias"][:, :-1]}
    words = {"self_attn.q_proj": ("self", "q"), "self_attn.k_proj": ("self", "k"), "self_attn.v_proj": ("self", "v"),
             "self_attn.out_proj": ("self", "o"), "encoder_attn.q_proj": ("context", "q"),
             "encoder_attn.k_proj": ("context", "k"), "encoder_attn.v_proj": ("context", "v"),
             "encoder_attn.out_proj": ("context", "o"), "fc1": ("ffn", "1"), "fc2": ("ffn", "2")}
    norms = {"self_attn_layer_norm": "self_Wo_ln", "encoder_attn_layer_norm": "context_Wo_ln",
             "final_layer_norm": "ffn_ffn_ln"}
    for name, x in h.items():
        p = name.split(".")
        if len(p) < 5: continue
        to, what, kind = f"{p[1]}_l{int(p[3]) + 1}_", ".".join(p[4:-1]), p[-1]
        if what in norms: out[f"{to}{norms[what]}_{'scale' if kind == 'weight' else 'bias'}"] = x[None]
        else:
            group, letter = words[what]
            out[f"{to}{group}_{'W' if kind == 'weight' else 'b'}{letter}"] = x.T.copy() if kind == "weight" else x[None]
    yml = ("type: transformer\ndim-emb: 512\ntransformer-dim-ffn: 2048\ntransformer-heads: 8\nenc-depth: 6\ndec-depth: 6\n"
           "transformer-preprocess: \"\"\ntransformer-postprocess: dan\ntransformer-ffn-activation: swish\n"
           "transformer-decoder-autoreg: self-attention\ntied-embeddings-all: true\n")
    out["special:model.yml"] = np.frombuffer(yml.encode() + b"\0", np.int8)
    return out


def write_safetensors(tensors, path):
    head, at = {"__metadata__": {"format": "pt"}}, 0
    for name, x in tensors.items():
        head[name] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [at, at + x.nbytes]}
        at += x.nbytes
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for x in tensors.values(): f.write(x.astype(np.float32).tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("out")
    options = parser.parse_args()
    package, out = options.package, options.out
    pieces = json.load(open(os.path.join(package, "model", "shared_vocabulary.json")))
    h = huggingface(read_ct2(os.path.join(package, "model", "model.bin")))
    for kind in ("hf", "npz"):
        os.makedirs(os.path.join(out, kind), exist_ok=True)
        shutil.copy(os.path.join(package, "sentencepiece.model"), os.path.join(out, kind, "source.spm"))
    n = len(pieces)
    config = dict(model_type="marian", d_model=512, encoder_layers=6, decoder_layers=6, encoder_attention_heads=8,
                  decoder_attention_heads=8, encoder_ffn_dim=2048, decoder_ffn_dim=2048, activation_function="swish",
                  scale_embedding=True, max_position_embeddings=512, vocab_size=n + 1, pad_token_id=n,
                  eos_token_id=pieces.index("</s>"), decoder_start_token_id=n, num_beams=4)
    json.dump(config, open(os.path.join(out, "hf", "config.json"), "w"))
    json.dump({p: i for i, p in enumerate(pieces + ["<pad>"])}, open(os.path.join(out, "hf", "vocab.json"), "w"))
    write_safetensors(h, os.path.join(out, "hf", "model.safetensors"))
    with open(os.path.join(out, "npz", "opus.vocab.yml"), "w") as f:
        for i, p in enumerate(pieces): f.write(f"{json.dumps(p, ensure_ascii=False)}: {i}\n")
    np.savez(os.path.join(out, "npz", "model.npz"), **marian(h))


main()
