#!/usr/bin/env python3
"""Makes a float model of some layers of another one: where a shorter student begins, or where training goes on from integers.

    tools/cut_layers.py MODEL OUT [--encoder 0,1,2,3,4,5] [--decoder 0,5]

MODEL is a model file of ganz, float or integer (codes are multiplied by their scales; 4-bit weights are not read). Without
a list all layers stay, in order. OUT has no checksums: `ganz train --model OUT` writes its own.
"""
import argparse
import json
import struct
import sys

try:
    import numpy as np
except ImportError as missing:
    sys.exit(f"cut_layers: {missing}")

KINDS = {"F32": np.float32, "I8": np.int8, "U8": np.uint8}
SCALES = ("scale", "step")


def read(path):
    """The metadata and the tensors of a file, in their order."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        size = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8:8 + size])
    except OSError as error:
        sys.exit(f"cut_layers: {error.strerror}: {path}")
    except (ValueError, struct.error):
        sys.exit(f"cut_layers: {path} is no model of ganz")
    notes = header.pop("__metadata__", {})
    body, tensors = memoryview(data)[8 + size:], {}
    for name, at in header.items():
        begin, end = at["data_offsets"]
        if at["dtype"] not in KINDS:
            sys.exit(f"cut_layers: {path}: {name} has the type {at['dtype']}")
        tensors[name] = np.frombuffer(body[begin:end], KINDS[at["dtype"]]).reshape(at["shape"])
    return notes, tensors


def widened(tensors):
    """Float tensors alone: codes times their scales, without the scales of inputs."""
    out = {}
    for name, value in tensors.items():
        stem, _, last = name.rpartition(".")
        if name == "vocabulary":
            out[name] = value
        elif value.dtype == np.uint8:
            sys.exit(f"cut_layers: {name} has two weights in a byte, which are not read here")
        elif value.dtype == np.int8:
            scale = next(tensors[f"{name}.{s}"] for s in SCALES if f"{name}.{s}" in tensors)
            scale = scale.reshape(-1, *[1] * (value.ndim - 1)) if scale.size > 1 else scale.reshape(())
            out[name] = value.astype(np.float32) * scale
        elif last in SCALES and (stem in tensors or stem.endswith(".x") or ".pair." in stem):
            continue
        else:
            out[name] = value
    return out


def cut(tensors, side, keep):
    """The layers `keep` of a side ("enc" or "dec"), numbered anew."""
    out = {}
    for name, value in tensors.items():
        parts = name.split(".")
        if parts[0] == side and len(parts) > 1 and parts[1].isdigit():
            for place, layer in enumerate(keep):
                if int(parts[1]) == layer:
                    out[".".join([side, str(place), *parts[2:]])] = value
        else:
            out[name] = value
    return out


def write(path, notes, tensors):
    header, at = {"__metadata__": notes}, 0
    order = sorted(tensors, key=lambda name: -tensors[name].dtype.itemsize)
    names = {np.dtype(v).name: k for k, v in KINDS.items()}
    for name in order:
        value = tensors[name]
        header[name] = {"dtype": names[value.dtype.name], "shape": list(value.shape), "data_offsets": [at, at + value.nbytes]}
        at += value.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            file.write(tensors[name].tobytes())


def numbers(text):
    return [int(number) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--encoder", type=numbers, help="layers that stay")
    parser.add_argument("--decoder", type=numbers, help="layers that stay")
    args = parser.parse_args()
    notes, tensors = read(args.model)
    tensors = widened(tensors)
    shape = ("format", "version", "width", "ffn", "heads", "vocab_size", "max_positions", "source_language", "target_language",
             "tokenizer", "encoder_layers", "decoder_layers")
    notes = {key: value for key, value in notes.items() if key in shape}
    notes["weights"] = "float"
    for side, keep, key in (("enc", args.encoder, "encoder_layers"), ("dec", args.decoder, "decoder_layers")):
        if keep is None:
            continue
        if any(layer < 0 or layer >= int(notes[key]) for layer in keep):
            sys.exit(f"cut_layers: {args.model} has {notes[key]} layers, 0 to {int(notes[key]) - 1}")
        tensors = cut(tensors, side, keep)
        notes[key] = str(len(keep))
    write(args.out, notes, tensors)


if __name__ == "__main__":
    main()
