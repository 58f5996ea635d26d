#!/usr/bin/env python3
"""read.py FILE: opens a safetensors file with Python's safetensors and prints metadata, names, dtypes, shapes and
sums, to compare with what was written (tests/test_container.c keeps its file when GANZ_KEEP names a place)."""
import json
import sys

from safetensors import deserialize, safe_open

with open(sys.argv[1], "rb") as file:
    data = file.read()
size = int.from_bytes(data[:8], "little")
if (8 + size) % 64:
    sys.exit("the data is not aligned")
with safe_open(sys.argv[1], framework="np") as file:
    print(json.dumps(file.metadata(), sort_keys=True, ensure_ascii=False))
for name, tensor in sorted(deserialize(data)):
    print(name, tensor["dtype"], tensor["shape"], sum(tensor["data"]))
