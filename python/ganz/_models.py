"""Which model is meant: a file, a pair of languages such as de-en, or the default."""
from __future__ import annotations

import importlib.util
import os
import pkgutil
import re
import sys
from pathlib import Path
from typing import Optional

from ._errors import GanzError, Status

DEFAULT_PAIR = "en-de"
ENDING = ".safetensors"
PREFIX = "ganz_model_"


def _folders() -> list[Path]:
    """Where models lie that were not installed as packages of Python."""
    named = [Path(folder) for folder in os.environ.get("GANZ_MODELS", "").split(":") if folder]
    usual = [Path(prefix) / "share" / "ganz" for prefix in (sys.prefix, "/usr/local", "/usr")]
    return named + usual


def _package_folder(module: str) -> Optional[Path]:
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _is_pair(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z]+-[A-Za-z]+", name) is not None


def models() -> dict[str, Path]:
    """All models that are installed, by their pair: those of packages, then those of GANZ_MODELS and of the system."""
    found: dict[str, Path] = {}
    folders = [_package_folder(m.name) for m in pkgutil.iter_modules() if m.name.startswith(PREFIX)]
    for folder in [f for f in folders if f] + _folders():
        for path in sorted(folder.glob("*" + ENDING)) if folder.is_dir() else []:
            if _is_pair(path.stem):
                found.setdefault(path.stem, path)
    return found


def find_model(name: "str | os.PathLike[str] | None" = None) -> Path:
    """The file of a model: `name` is a file or a pair; None is what GANZ_MODEL names, else en-de."""
    given = os.fspath(name) if name is not None else os.environ.get("GANZ_MODEL") or DEFAULT_PAIR
    if os.path.exists(given) and not (os.path.isdir(given) and _is_pair(given)):  # a folder en-de may be in the way
        return Path(given).absolute()
    if not _is_pair(given):
        raise GanzError(f"{given}: No such file or directory", Status.IO)
    folder = _package_folder(PREFIX + given.replace("-", "_").lower())
    for path in [folder / (given + ENDING)] if folder else []:
        if path.exists():
            return path
    if given in (found := models()):
        return found[given]
    raise GanzError(f"no model for {given} is installed: install its wheel (dist/ganz_model_*.whl of scripts/wheel), set "
                    f"GANZ_MODELS to a folder with {given}{ENDING}, or name a file", Status.IO)
