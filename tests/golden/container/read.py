#!/usr/bin/env python3
"""read.py FILE: opens a safetensors file with Python's safetensors and prints metadata, names, dtypes, shapes and
sums, to compare with what was written (tests/test_container.c keeps its file when GANZ_KEEP names a place), and
compares the header with its checksum."""
import ctypes
import ctypes.util
import json
import sys

from safetensors import deserialize, safe_open

with open(sys.argv[1], "rb") as file:
    data = file.read()
size = int.from_bytes(data[:8], "little")
if (8 + size) % 64:
    sys.exit("the data is not aligned")
xxh3 = ctypes.CDLL(ctypes.util.find_library("xxhash")).XXH3_64bits
xxh3.restype, xxh3.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]
header = data[8:8 + size]
if header[:25] != b'{"__metadata__":{"xxh3":"' or header[25:41].decode() != f"{xxh3(header[41:], size - 41):016x}":
    sys.exit("the header does not begin with its checksum")
with safe_open(sys.argv[1], framework="np") as file:
    print(json.dumps(file.metadata(), sort_keys=True, ensure_ascii=False))
for name, tensor in sorted(deserialize(data)):
    print(name, tensor["dtype"], tensor["shape"], sum(tensor["data"]))
