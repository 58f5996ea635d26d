from typing import Any, Callable, Optional, Union

version: str
formats: str

def recognise(path: Optional[str], beginning: bytes) -> Optional[str]: ...

class Engine:
    def __new__(
        cls, path: str, beam: int, threads: int, alpha: float, max_input: int, max_length: int,
        glossary: Optional[str], formality: int,
    ) -> Engine: ...
    def documents(
        self, texts: list[Any], format: Optional[str], path: Optional[str], newlines: str, bilingual: bool,
        as_bytes: bool, progress: Optional[Callable[[int, int], object]], stop: list[bool],
    ) -> list[Any]: ...
    def lines(
        self, texts: list[str], prefixes: Optional[list[Optional[str]]], n_best: int, links: bool,
        token_scores: bool, progress: Optional[Callable[[int, int], object]], stop: list[bool],
    ) -> list[list[tuple[str, float, Optional[list[tuple[int, int, int, int, bool]]],
                         Optional[list[tuple[int, int, float]]]]]]: ...
    def facts(self) -> dict[str, Any]: ...
    def close(self) -> None: ...
