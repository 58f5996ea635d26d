"""What the library says when it refuses or fails."""
from __future__ import annotations

import enum


class Status(enum.IntEnum):
    """Kinds of failure, as in include/ganz/ganz.h."""

    OK = 0
    INVALID = 1
    MEMORY = 2
    IO = 3
    FORMAT = 4
    VERSION = 5
    LIMIT = 6
    UNSUPPORTED = 7
    CUDA = 8
    STOPPED = 9
    PIPE = 10
    BUSY = 11
    TIMEOUT = 12


class GanzError(Exception):
    """One sentence, a status, and the number of the line or text it is about, from 1 (0: of none)."""

    status: Status
    line: int

    def __init__(self, message: str, status: int = Status.INVALID, line: int = 0) -> None:
        super().__init__(message, int(status), line)
        self.status = Status(status)
        self.line = line

    def __str__(self) -> str:
        return str(self.args[0])
