"""The program `ganz` from Python: its commands as functions, its options as keywords."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Iterable, NoReturn, Optional, Union

from ._errors import GanzError, Status
from ._models import find_model, models

Name = Union[str, "os.PathLike[str]"]
Told = Optional[Callable[[str], object]]


def program() -> str:
    """The path of the program: the one that came with this package, else one on PATH."""
    own = Path(__file__).parent / "bin" / "ganz"
    path = os.environ.get("GANZ_PROGRAM") or (str(own) if own.exists() else shutil.which("ganz"))
    if not path:
        raise GanzError("the program ganz is not installed", Status.UNSUPPORTED)
    return path


def _environment() -> dict[str, str]:
    """The program finds the models that Python finds."""
    folders = [str(folder) for folder in dict.fromkeys(path.parent for path in models().values())]
    given = [f for f in os.environ.get("GANZ_MODELS", "").split(":") if f]
    both = list(dict.fromkeys(given + folders))
    return {**os.environ, "GANZ_MODELS": ":".join(both)} if both else dict(os.environ)


def _words(options: dict[str, Any]) -> Iterable[str]:
    """max_length=5 is --max-length=5; True and False are --name and --no-name; a list is repeated; None is left out."""
    for name, value in options.items():
        option = "--" + name.strip("_").replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            yield option if value else "--no-" + option[2:]
        elif isinstance(value, (list, tuple)):
            for item in value:
                yield f"{option}={os.fspath(item) if isinstance(item, os.PathLike) else item}"
        else:
            yield f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}"


def run(command: str, *names: Name, progress: Told = None, input: Optional[str] = None, **options: Any) -> str:
    """Runs a command of the program and returns what it prints. `progress` gets each line that it says meanwhile.
    Raises GanzError with its sentence when it fails."""
    text = None if input is None else input.encode("utf-8")
    words = [program(), command, *_words(options), *(["--"] if names else []), *(os.fspath(n) for n in names)]
    with subprocess.Popen(words, stdin=subprocess.PIPE if text is not None else subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()) as child:
        return _talk(child, text, progress)


def _talk(child: "subprocess.Popen[bytes]", text: Optional[bytes], progress: Told) -> str:
    import threading

    assert child.stdout and child.stderr
    printed: list[bytes] = []
    reader = threading.Thread(target=lambda: printed.append(child.stdout.read()))  # type: ignore[union-attr]
    reader.start()
    writer = threading.Thread(target=_feed, args=(child, text)) if text is not None else None
    if writer:
        writer.start()
    last = ""
    try:
        for line in child.stderr:
            last = line.decode("utf-8", "replace").rstrip("\n") or last
            if progress:
                progress(last)
    except BaseException:
        child.terminate()  # it saves what it has, and ends
        raise
    finally:
        child.wait()
        reader.join()
        if writer:
            writer.join()
    if child.returncode != 0:
        raise GanzError(last or f"ganz ended with code {child.returncode}",
                        Status.STOPPED if child.returncode >= 128 else Status.INVALID)
    return printed[0].decode("utf-8")


def _feed(child: "subprocess.Popen[bytes]", text: bytes) -> None:
    assert child.stdin
    try:
        child.stdin.write(text)
        child.stdin.close()
    except BrokenPipeError:
        pass


def vocab(texts: Iterable[Name], out: Name, *, progress: Told = None, **options: Any) -> Path:
    """Learns a vocabulary from text files: `ganz vocab`."""
    run("vocab", *texts, out=out, progress=progress, **options)
    return Path(out)


def prepare(source: Name, target: Name, vocab: Name, out: Name, *, progress: Told = None, **options: Any) -> Path:
    """Makes a training corpus of parallel text: `ganz prepare`."""
    run("prepare", source=source, target=target, vocab=vocab, out=out, progress=progress, **options)
    return Path(out)


def _best(folder: Path) -> Path:
    best = folder / "best.safetensors"
    return best if best.exists() else folder / "last.safetensors"


def train(corpus: Name, out: Name, *, progress: Told = None, **options: Any) -> Path:
    """Trains a model: `ganz train`. Returns its best model, or without validation the last. log.tsv beside it has the
    numbers for plots."""
    run("train", train=corpus, out=out, progress=progress, **options)
    return _best(Path(out))


def quantize(model: Name, out: Name, *, progress: Told = None, **options: Any) -> Path:
    """Makes an integer model of a float one: `ganz quantize`."""
    run("quantize", model=model, out=out, progress=progress, **options)
    return _best(Path(out)) if Path(out).is_dir() else Path(out)


def average(paths: Iterable[Name], out: Name, **options: Any) -> Path:
    """The mean of several models: `ganz average`."""
    run("average", *paths, out=out, **options)
    return Path(out)


def score(reference: Name, *translations: Name, **options: Any) -> Any:
    """BLEU or chrF of translations, as `ganz score --json` has it."""
    return json.loads(run("score", ref=reference, hyp=list(translations), json=True, **options))


def inspect(model: Optional[Name] = None, *, audit: Optional[Name] = None, **options: Any) -> Any:
    """What is in a model, product by product; with the name of a text file, what the products did with it."""
    return json.loads(run("inspect", find_model(model), json=True, audit=audit, **options))


def main() -> NoReturn:
    """`python -m ganz` and the script `ganz`: the program itself, with the models of installed packages."""
    try:
        path = program()
    except GanzError as error:
        sys.exit(f"ganz: {error}")
    os.execve(path, ["ganz", *sys.argv[1:]], _environment())
