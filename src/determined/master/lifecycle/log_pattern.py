"""Patterns that are searched in batches of log lines, by RE2: for log policies and for webhooks. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import re2

from determined.config.log_policies import MAX_PATTERN_SIZE
from determined.constants import CONFIG_LINE_PREFIX
from determined.master.lifecycle.log_match_budget import BatchMatching

_PIECE, _LARGE_PIECE = 4096, 65536  # bytes that are searched without a break, of any pattern and of a small one
_PIECE_WORK = 1_000_000  # instructions times bytes: some 20 ms at worst, mostly a few us
_LONGEST_LINE = 8192  # bytes of a line that are searched
_REPEATS = "?*+{"  # after `.*` these belong to it
_BREAK = b"\n"


@dataclass(frozen=True, slots=True)
class LogPattern:
    """`line` decides about one line; `batch` finds out fast whether any line of a joined batch may match."""

    text: str
    line: Any
    batch: Any | None

    @property
    def piece_size(self) -> int:
        """Bytes that are searched without a break."""
        instructions: int = self.line.programsize
        return max(_PIECE, min(_LARGE_PIECE, _PIECE_WORK // max(1, instructions)))


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines of a log, and the same joined. `is_joinable`: no line holds a line break of its own."""

    texts: Sequence[str]
    joined: bytes
    is_joinable: bool

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Batch":
        if max(map(len, texts), default=0) > _LONGEST_LINE:
            return cls._of_searched(texts, [text[:_LONGEST_LINE] for text in texts])
        return cls._of_searched(texts, texts)

    @classmethod
    def _of_searched(cls, texts: Sequence[str], searched: Sequence[str]) -> "Batch":
        joined = "\n".join(searched).encode()
        if joined.count(_BREAK) == max(0, len(texts) - 1):
            return cls(texts, joined, True)
        return cls(texts, "\n".join(text.replace("\n", " ") for text in searched).encode(), False)

    @property
    def size(self) -> int:
        return len(self.joined)

    def pieces(self, size: int) -> Iterator[tuple[int, int]]:
        """Yield where neighbouring lines begin and end that have about `size` bytes together; at least one line."""
        start = 0 if self.texts else 1
        while start <= len(self.joined):  # the last line may be empty
            end = self._end_of_piece(start, size)
            yield start, end
            start = end + 1

    def _end_of_piece(self, start: int, size: int) -> int:
        if start + size >= len(self.joined):
            return len(self.joined)
        end = self.joined.rfind(_BREAK, start, start + size)
        if end == -1:  # a line that is longer
            end = self.joined.find(_BREAK, start + size)
        return end if end != -1 else len(self.joined)


def compile_pattern(pattern: str) -> LogPattern | None:
    """Compile a pattern; None when RE2 refuses it."""
    line = _re2(pattern)
    if line is None or line.programsize > MAX_PATTERN_SIZE:  # of a config that is older than this limit
        return None
    joinable = "\\A" not in pattern and "\\z" not in pattern and "(?" not in pattern
    return LogPattern(pattern, line, _re2(f"(?m){_core(pattern)}") if joinable else None)


def matching_lines(pattern: LogPattern, batch: Batch, matching: BatchMatching | None = None) -> list[int]:
    """List the indices of the lines that match. The line in which the task prints its config is not looked at.

    `matching` limits the time: what comes after its end is not looked at either.
    """
    matches: list[int] = []
    for start, end in batch.pieces(pattern.piece_size):
        if matching is None:
            matches += _matching(pattern, batch, start, end)
            continue
        if not matching.may_go_on():
            break
        with matching.timed():
            matches += _matching(pattern, batch, start, end)
    return matches


def _matching(pattern: LogPattern, batch: Batch, start: int, end: int) -> list[int]:
    if pattern.batch is not None and batch.is_joinable and pattern.batch.search(batch.joined[start:end]) is None:
        return []
    first = batch.joined.count(_BREAK, 0, start)
    last = first + batch.joined.count(_BREAK, start, end)
    return [i for i in range(first, last + 1) if _matches(pattern, batch.texts[i])]


def _matches(pattern: LogPattern, text: str) -> bool:
    return not text.startswith(CONFIG_LINE_PREFIX) and bool(pattern.line.search(text.encode()[:_LONGEST_LINE]))


def _core(pattern: str) -> str:
    """Return the pattern without `.*` at both ends: that only lets it match more, and RE2 can look for literal text."""
    if pattern.startswith(".*") and pattern[2:3] not in (*_REPEATS, ""):
        pattern = pattern[2:]
    if pattern.endswith(".*") and not pattern.endswith("\\.*") and len(pattern) > 2:
        pattern = pattern[:-2]
    return pattern


def _re2(pattern: str) -> Any | None:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error:
        return None
