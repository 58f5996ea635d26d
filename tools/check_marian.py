#!/usr/bin/env python3
"""Compares `ganz encode` and `ganz decode` with MarianTokenizer of transformers, line by line: for folders with
source.spm, target.spm, vocab.json and config.json, labels of the list included (>>por<<). ganz gets them as an imported
model whose network is small and of zeros.

    check_marian.py --ganz build/release/cli/ganz FOLDER... --text FILE...

Needs transformers, safetensors and numpy (PyPI)."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from safetensors.numpy import save_file
    from transformers import MarianTokenizer
except ImportError as missing:
    sys.exit(f"check_marian: {missing}")


def write_model(folder, home):
    """The folder's vocabulary with a network of one layer."""
    config = json.load(open(os.path.join(folder, "config.json")))
    d, rows = 8, len(json.load(open(os.path.join(folder, "vocab.json"))))
    rows = max(rows, config["vocab_size"])
    config.update(d_model=d, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
                  encoder_ffn_dim=d, decoder_ffn_dim=d, vocab_size=rows, decoder_vocab_size=rows)
    json.dump(config, open(os.path.join(home, "config.json"), "w"))
    for name in ("source.spm", "target.spm", "vocab.json", "tokenizer_config.json"):
        if os.path.exists(os.path.join(folder, name)): shutil.copy(os.path.join(folder, name), home)
    tensors = {"model.shared.weight": (rows, d), "final_logits_bias": (1, rows)}
    for side in ("encoder", "decoder"):
        layer = f"model.{side}.layers.0."
        for group in ("self_attn", "encoder_attn")[: 1 + (side == "decoder")]:
            for x in "q", "k", "v", "out":
                tensors[f"{layer}{group}.{x}_proj.weight"] = (d, d)
                tensors[f"{layer}{group}.{x}_proj.bias"] = (d,)
            for x in "weight", "bias": tensors[f"{layer}{group}_layer_norm.{x}"] = (d,)
        for x in "fc1", "fc2": tensors[f"{layer}{x}.weight"], tensors[f"{layer}{x}.bias"] = (d, d), (d,)
        for x in "weight", "bias": tensors[f"{layer}final_layer_norm.{x}"] = (d,)
    save_file({k: np.zeros(v, np.float32) for k, v in tensors.items()}, os.path.join(home, "model.safetensors"))
    return config


def run(ganz, command, model, lines, *more):
    text = "".join(line + "\n" for line in lines).encode()
    out = subprocess.run([ganz, command, "--vocab", model, *more], input=text, stdout=subprocess.PIPE, check=True).stdout
    return out.decode().split("\n")[:-1]


def numbers(rows, pad, end):
    """The number that ganz gives to each of theirs: padding, the end mark, the others in their order."""
    ours, following = {pad: 0, end: 1}, 2
    for i in range(rows):
        if i in ours: continue
        ours[i] = following
        following += 1
    return ours


def compare(ganz, folder, lines):
    with tempfile.TemporaryDirectory() as home:
        config = write_model(folder, home)
        model = os.path.join(home, "ganz.safetensors")
        subprocess.run([ganz, "import", "-q", home, "--out", model], check=True)
        theirs = MarianTokenizer.from_pretrained(home)
        vocab = json.load(open(os.path.join(home, "vocab.json")))
        labels = [w for w in vocab if w.startswith(">>") and w.endswith("<<")]
        text = lines + [f"{labels[i % len(labels)]} {line}" for i, line in enumerate(lines)] if labels else lines
        number = numbers(config["vocab_size"], config["pad_token_id"], theirs.eos_token_id)
        wanted = [" ".join(str(number[i]) for i in theirs(line)["input_ids"]) for line in text]
        found = run(ganz, "encode", model, text, "--eos")
        bad = [i for i in range(len(text)) if wanted[i] != found[i]]
        if bad: print(f"  {text[bad[0]]!r}\n  wanted {wanted[bad[0]]}\n  found  {found[bad[0]]}")
        back = [theirs.decode(theirs(line)["input_ids"], skip_special_tokens=True, clean_up_tokenization_spaces=False) for line in lines]
        said = run(ganz, "decode", model, found[: len(lines)], "--side", "source")
        wrong = [i for i in range(len(lines)) if back[i].strip() != said[i].strip()]
        if wrong: print(f"  wanted {back[wrong[0]]!r}\n  found  {said[wrong[0]]!r}")
        print(f"{folder}: {len(text)} lines, {len(labels)} labels: {len(bad)} with other ids; {len(lines)} lines: {len(wrong)} with other text")
        return len(bad) + len(wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ganz", required=True)
    parser.add_argument("--text", nargs="+", default=[])
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    lines = []
    for path in options.text:
        with open(path, encoding="utf-8") as file: lines += [line.strip() for line in file]
    lines = [line for line in lines if line]
    sys.exit(sum(compare(options.ganz, folder, lines) for folder in options.folders) > 0)


main()
