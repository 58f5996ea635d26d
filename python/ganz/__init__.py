"""Translation by exact integers: text in, text out, the same bytes as the program `ganz`.

    >>> import ganz
    >>> translator = ganz.Translator()
    >>> translator.translate("The train leaves at half past seven.")
    'Der Zug fährt um halb acht ab.'
"""
from __future__ import annotations

import os
import secrets
from collections import deque
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, TypeVar, Union, overload

from . import _ganz
from ._errors import GanzError, Status
from ._models import find_model, models
from ._program import average, inspect, prepare, program, quantize, run, score, train, vocab

if TYPE_CHECKING:
    from concurrent.futures import Future

__version__: str = _ganz.version
__all__ = ["GanzError", "Link", "ModelInfo", "Result", "Status", "TokenScore", "Translation", "Translator", "average",
           "find_model", "formats", "inspect", "models", "prepare", "program", "quantize", "run", "score", "train", "vocab"]

Name = Union[str, "os.PathLike[str]"]
Progress = Optional[Callable[[int, int], object]]
_T = TypeVar("_T")

formats: tuple[str, ...] = tuple(_ganz.formats.split())
"""Names of the formats of documents."""


@dataclass(frozen=True)
class Link:
    """A token of the translation comes from a token of the line: ranges of characters of the two. `weak`: the best
    there is for a token that no other comes from."""

    source: tuple[int, int]
    target: tuple[int, int]
    weak: bool = False


@dataclass(frozen=True)
class TokenScore:
    """How sure the model is of a token of the translation, a range of its characters: the logarithm of its probability,
    given the line and the tokens before."""

    target: tuple[int, int]
    score: float


@dataclass(frozen=True)
class Translation:
    """One translation of a line, with its score: log-probability / ((5 + length) / 6)^alpha."""

    text: str
    score: float
    links: Optional[tuple[Link, ...]] = None
    tokens: Optional[tuple[TokenScore, ...]] = None


@dataclass(frozen=True)
class Result:
    """The translations of a line, best first."""

    translations: tuple[Translation, ...]

    @property
    def text(self) -> str:
        return self.translations[0].text

    @property
    def score(self) -> float:
        return self.translations[0].score

    @property
    def links(self) -> Optional[tuple[Link, ...]]:
        return self.translations[0].links

    @property
    def tokens(self) -> Optional[tuple[TokenScore, ...]]:
        return self.translations[0].tokens


@dataclass(frozen=True)
class ModelInfo:
    """What is in a model; ganz.inspect tells it product by product. Bits of 0 are float."""

    path: Path
    source_language: Optional[str]
    target_language: Optional[str]
    width: int
    ffn: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    vocabulary: int
    longest_input: int
    longest_output: int
    bits: int
    input_bits: int
    attention_bits: int
    bias_bits: int
    parameters: int
    products: int
    integer_products: int
    command: Optional[str]
    kind: str
    formality: bool


_FORMALITY = ("auto", "formal", "informal")  # in the order of ganz.h


class _Lines(str):
    """The lines of a glossary, as pickle brings them."""


def _glossary_text(glossary: Union[Name, Mapping[str, Optional[str]], None]) -> Optional[str]:
    """The lines of a glossary, from its file or from a mapping of terms; None for a term: it stays."""
    if glossary is None or isinstance(glossary, _Lines):
        return glossary and str(glossary)
    if not isinstance(glossary, Mapping):
        return Path(glossary).read_text(encoding="utf-8")
    if any("\t" in text or "\n" in text for pair in glossary.items() for text in pair if text):
        raise GanzError("a term of a glossary has neither tabs nor newlines")
    for term in glossary:
        if not term.strip() or term.startswith("#"):  # the file's lines that are skipped
            raise GanzError(f"a term of a glossary has letters and does not begin with #, not {term!r}")
    return "".join(f"{term}\n" if other is None else f"{term}\t{other}\n" for term, other in glossary.items())


def _offsets(text: str) -> Callable[[int], int]:
    """From bytes of UTF-8 to characters."""
    if text.isascii():
        return lambda at: at
    table = {}
    at = 0
    for i, c in enumerate(text):
        table[at] = i
        at += len(c.encode("utf-8"))
    table[at] = len(text)
    return table.__getitem__


def _make_result(line: str, found: Any) -> Result:
    source = _offsets(line)
    translations = []
    for text, value, links, scores in found:
        made, tokens = None, None
        if links is not None or scores is not None:
            target = _offsets(text)
        if links is not None:
            made = tuple(Link((source(a), source(b)), (target(c), target(d)), weak) for a, b, c, d, weak in links)
        if scores is not None:
            tokens = tuple(TokenScore((target(a), target(b)), score) for a, b, score in scores)
        translations.append(Translation(text, value, made, tokens))
    return Result(tuple(translations))


class Translator:
    """A model and threads that translate with it.

    `model` is a file, a pair of languages such as "de-en" whose model is installed, or None: the default, en-de.
    Any number of threads may share one; calls of all of them share its `threads` (0: one for each core), which start
    with the first call. `beam` and `alpha` of None are what the model says, else 4 and 0.6. After a fork each process has
    its own. It can be pickled: model and options travel, the model's file does not. It is a context manager; without one,
    it closes with its last reference."""

    def __init__(self, model: Optional[Name] = None, beam: Optional[int] = None, threads: int = 0, *,
                 alpha: Optional[float] = None, max_input: int = 0, max_length: int = 0,
                 glossary: Union[Name, Mapping[str, Optional[str]], None] = None, formality: str = "auto") -> None:
        if beam is not None and not 1 <= beam <= 64:
            raise GanzError(f"beam must be 1 to 64, not {beam}")
        if alpha is not None and not 0 <= alpha <= 10:
            raise GanzError(f"alpha must be 0 to 10, not {alpha}")
        if not 0 <= threads <= 256:
            raise GanzError("threads must be 0 to 256")
        if formality not in _FORMALITY:
            raise GanzError("formality must be auto, formal or informal")
        self._path = find_model(model)
        text = _glossary_text(glossary)
        if text is not None and "\0" in text:
            raise GanzError("a glossary has no NUL bytes")
        named = model is None or Path(model).absolute() != self._path
        self._state = (os.fspath(model) if named and model is not None else None if named else str(self._path),
                       beam, threads, alpha, max_input, max_length, text, formality)
        self._engine = _ganz.Engine(str(self._path), 0 if beam is None else beam, threads,
                                    -1.0 if alpha is None else float(alpha), max_input, max_length, text,
                                    _FORMALITY.index(formality))

    def __reduce__(self) -> Any:
        return _restore, self._state

    def __enter__(self) -> "Translator":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends its threads; calls under way are finished first."""
        self._engine.close()

    def __repr__(self) -> str:
        return f"ganz.Translator({str(self._path)!r}, beam={self._state[1]}, threads={self._state[2]})"

    @property
    def model_info(self) -> ModelInfo:
        return ModelInfo(path=self._path, **self._engine.facts())

    @overload  # a str is an iterable of str too; the first that fits counts
    def translate(self, text: str, *, format: str = ..., newlines: str = ...,  # type: ignore[overload-overlap]
                  bilingual: bool = ...,
                  progress: Progress = ...) -> str: ...
    @overload
    def translate(self, text: Iterable[str], *, format: str = ..., newlines: str = ..., bilingual: bool = ...,
                  progress: Progress = ...) -> list[str]: ...
    def translate(self, text: Union[str, Iterable[str]], *, format: str = "text", newlines: str = "end",
                  bilingual: bool = False, progress: Progress = None) -> Union[str, list[str]]:
        """Translates a text, or each of several. Everything that is no sentence stays as it was: white space, blank
        lines, addresses, placeholders. `format` says what the text is (ganz.formats): "html", "markdown", ...
        `newlines`: "end", "space" or "never", as in the program. `progress(done, all)` is told of sentences."""
        made: Union[str, list[str]] = self._translate(text, [], format=format, newlines=newlines, bilingual=bilingual,
                                                      progress=progress)
        return made

    def _translate(self, text: Union[str, Iterable[str]], stop: list[bool], *, format: str = "text",
                   newlines: str = "end", bilingual: bool = False, progress: Progress = None) -> Any:
        """translate, which another thread ends soon by putting something into the list `stop`."""
        if newlines not in ("end", "space", "never"):
            raise GanzError("newlines is one of end, space, never")
        single = isinstance(text, str)
        texts = [text] if single else list(text)
        out = self._engine.documents(texts, format, None, newlines, bilingual, False, progress, stop)
        return out[0] if single else out

    def translate_batch(self, lines: Iterable[str], *, n_best: int = 1, prefix: Optional[Sequence[Optional[str]]] = None,
                        alignment: bool = False, token_scores: bool = False,
                        progress: Progress = None) -> list[Result]:
        """Translates lines one by one, with scores: `n_best` translations of each (at most `beam`), those that begin
        with a `prefix`, with links between words, with a score of each token. As `ganz translate --scores`: nothing is
        kept or put back."""
        return self._translate_batch(lines, [], n_best=n_best, prefix=prefix, alignment=alignment,
                                     token_scores=token_scores, progress=progress)

    def _translate_batch(self, lines: Iterable[str], stop: list[bool], *, n_best: int = 1,
                         prefix: Optional[Sequence[Optional[str]]] = None, alignment: bool = False,
                         token_scores: bool = False, progress: Progress = None) -> list[Result]:
        """translate_batch, which another thread ends soon by putting something into the list `stop`."""
        texts = list(lines)
        prefixes = None if prefix is None else [p or None for p in prefix]
        if prefixes is not None and len(prefixes) != len(texts):
            raise GanzError(f"there are {len(texts)} lines and {len(prefixes)} prefixes")
        for number, line in enumerate(texts):
            if "\n" in line:
                raise GanzError(f"line {number + 1} has a newline", Status.INVALID, number + 1)
        found = self._engine.lines(texts, prefixes, n_best, alignment, token_scores, progress, stop)
        return [_make_result(line, of_line) for line, of_line in zip(texts, found)]

    def translate_iter(self, texts: Iterable[str], *, batch: int = 256, **options: Any) -> Iterator[str]:
        """Translates texts as they come, in their order; reads at most two batches ahead of what was taken. Leaving the
        loop, and what ends it, ends the batches under way too."""
        if batch < 1:
            raise GanzError(f"batch must be 1 or more, not {batch}")
        return self._batches(iter(texts), batch, options)

    def _batches(self, source: Iterator[str], batch: int, options: dict[str, Any]) -> Iterator[str]:
        from concurrent.futures import ThreadPoolExecutor  # here, as asyncio below: most of the time that an import takes

        waiting: "deque[Future[list[str]]]" = deque()
        stop: list[bool] = []
        with ThreadPoolExecutor(2, "ganz") as pool:
            try:
                while True:
                    while len(waiting) < 2 and (part := list(islice(source, batch))):
                        waiting.append(pool.submit(self._translate, part, stop, **options))
                    if not waiting:
                        return
                    yield from waiting.popleft().result()
            finally:
                stop.append(True)
                for future in waiting:
                    future.cancel()

    def translate_document(self, path: Name, out: Optional[Name] = None, *, format: Optional[str] = None,
                           newlines: str = "end", bilingual: bool = False, progress: Progress = None) -> Path:
        """Translates a file: text, HTML, Markdown, office documents, subtitles, ... (ganz.formats), by its suffix and
        content unless `format` says it. `out` (default: report.odt becomes report.de.odt) appears whole or not at all."""
        if newlines not in ("end", "space", "never"):
            raise GanzError("newlines is one of end, space, never")
        source = Path(path)
        target = self.model_info.target_language or "translated"
        goal = Path(out) if out is not None else source.with_name(f"{source.stem}.{target}{source.suffix}")
        name = os.fsencode(source).decode("utf-8", "replace")  # for its suffix
        made = self._engine.documents([source.read_bytes()], format, name, newlines, bilingual, True, progress, [])
        _write_whole(goal, made[0])
        return goal

    async def atranslate(self, text: Union[str, Iterable[str]], **options: Any) -> Any:
        """translate in the running loop's executor: other tasks go on meanwhile. A task that is cancelled ends it."""
        return await _in_executor(lambda stop: self._translate(text, stop, **options))

    async def atranslate_batch(self, lines: Iterable[str], **options: Any) -> list[Result]:
        """translate_batch in the running loop's executor."""
        return await _in_executor(lambda stop: self._translate_batch(lines, stop, **options))


async def _in_executor(call: Callable[[list[bool]], _T]) -> _T:
    """What a call comes to in the loop's executor; it is told when nobody waits for it any more."""
    import asyncio

    stop: list[bool] = []
    future = asyncio.get_running_loop().run_in_executor(None, call, stop)
    try:
        return await future
    finally:
        stop.append(True)
        future.cancel()


def _restore(model: Optional[str], beam: Optional[int], threads: int, alpha: Optional[float], max_input: int,
             max_length: int, glossary: Optional[str], formality: str = "auto") -> Translator:
    """What pickle calls."""
    lines = None if glossary is None else _Lines(glossary)
    return Translator(model, beam, threads, alpha=alpha, max_input=max_input, max_length=max_length, glossary=lines,
                      formality=formality)


def _write_whole(path: Path, data: bytes) -> None:
    """Writes a file that appears whole or not at all."""
    part = path.with_name(f".ganz-{secrets.token_hex(8)}")  # a name has 255 bytes at most
    try:
        with open(part, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
