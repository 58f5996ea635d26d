#!/usr/bin/env python3
"""Makes python.safetensors with Python's safetensors, for tests/test_container.c to read:
one tensor of each dtype whose element i is i - 2 (i for unsigned, i odd for BOOL), shape (2, 3), a scalar,
an empty tensor and metadata with characters that JSON escapes."""
import os
import struct

import numpy as np
from safetensors import TensorSpec, serialize_file

here = os.path.dirname(os.path.abspath(__file__))
signed = np.arange(6) - 2
tensors, alive = {}, []


def add(name, dtype, shape, data):
    block = np.frombuffer(data, dtype=np.uint8)
    alive.append(block)
    tensors[name] = TensorSpec(dtype=dtype, shape=list(shape), data_ptr=block.ctypes.data, data_len=block.nbytes)


for name, dtype, kind in [("i8", "int8", np.int8), ("i16", "int16", np.int16), ("i32", "int32", np.int32),
                          ("i64", "int64", np.int64), ("f16", "float16", np.float16), ("f32", "float32", np.float32),
                          ("f64", "float64", np.float64)]:
    add(name, dtype, (2, 3), signed.astype(kind).tobytes())
for name, dtype, kind in [("u8", "uint8", np.uint8), ("u16", "uint16", np.uint16), ("u32", "uint32", np.uint32),
                          ("u64", "uint64", np.uint64)]:
    add(name, dtype, (2, 3), np.arange(6).astype(kind).tobytes())
add("bool", "bool", (2, 3), (np.arange(6) % 2).astype(np.uint8).tobytes())
add("bf16", "bfloat16", (2, 3), b"".join(struct.pack("<f", v)[2:] for v in signed))
add("scalar", "float32", (), struct.pack("<f", 0.25))
add("empty", "float32", (0, 4), b"")
add("naïve/ключ", "uint8", (3,), b"\x01\x02\x03")
serialize_file(tensors, os.path.join(here, "python.safetensors"),
               {"format": "np", "quoted": "a \"b\" \\ \n\t\u00e4 \U0001F600", "steps": "-12", "rate": "0.125",
                "tied": "true"})
