#!/usr/bin/env python3
"""model_command.py MODEL OUT --without FOLDER: a model whose recorded command names files without a folder.

ganz notes in a model the command that made it, names of files included. This takes FOLDER/ out of those names, makes the
checksum of the header anew and leaves all tensors as they are. Needs libxxhash, as ganz does."""
import argparse
import ctypes
import json
import sys

BEGIN = b'{"__metadata__":{"xxh3":"'


def xxh3(data):
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return b"%016x" % library.XXH3_64bits(data, len(data))


def changed(header, folder):
    """The header with another command: bytes whose length keeps the data at a multiple of 64."""
    if header[:len(BEGIN)] != BEGIN or header[25:41] != xxh3(header[41:]):
        sys.exit("the header has no checksum, or another one")
    command = json.loads(header)["__metadata__"].get("command", "")
    text = header[41:].rstrip(b" ")
    old = json.dumps(command, ensure_ascii=False).encode()
    if text.count(b'"command":' + old) != 1:
        sys.exit("the recorded command is not where it should be")
    new = json.dumps(command.replace(folder.rstrip("/") + "/", ""), ensure_ascii=False).encode()
    text = text.replace(b'"command":' + old, b'"command":' + new)
    text += b" " * (-(8 + 41 + len(text)) % 64)
    return BEGIN + xxh3(text) + text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--without", required=True, metavar="FOLDER")
    options = parser.parse_args()
    with open(options.model, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    header = changed(data[8:8 + size], options.without)
    with open(options.out, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header + data[8 + size:])


if __name__ == "__main__":
    main()
