#!/usr/bin/env python3
"""model_wheel.py MODEL FOLDER: makes the wheel ganz-model-PAIR of a model file such as en-de.safetensors. A wheel is a
zip file with a list of its contents; it is written here, with fixed dates, so that the same model gives the same bytes."""
import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def version() -> str:
    return re.search(r"project\(ganz VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def main(model: str, folder: str) -> None:
    path = Path(model)
    pair = path.stem
    package = f"ganz_model_{pair.replace('-', '_').lower()}"
    name, number = package.replace("_", "-"), version()
    info = f"{package}-{number}.dist-info"
    metadata = (f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n"
                f"Summary: The model of ganz for {pair}\nRequires-Python: >=3.10\n"
                "Description-Content-Type: text/markdown\n\n" + (ROOT / "models" / "README.md").read_text())
    files = {
        f"{package}/__init__.py": f'"""The model of ganz for {pair}; ganz.Translator("{pair}") finds it."""\n'.encode(),
        f"{package}/{path.name}": path.read_bytes(),
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: ganz\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for entry, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{entry},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    out = Path(folder) / f"{package}-{number}-py3-none-any.whl"
    part = out.with_name(out.name + ".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as wheel:
        for entry, data in files.items():
            about = zipfile.ZipInfo(entry, (2020, 1, 1, 0, 0, 0))
            about.external_attr = 0o644 << 16
            about.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(about, data)
    part.replace(out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: model_wheel.py MODEL FOLDER")
    main(*sys.argv[1:])
