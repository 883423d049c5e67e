"""Patterns that are searched in batches of log lines, by RE2: for log policies and for webhooks. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import re2

from determined.config.log_policies import MAX_PATTERN_SIZE
from determined.constants import CONFIG_LINE_PREFIX
from determined.master.lifecycle.log_match_budget import BatchMatching

_PIECE = 4096  # bytes that are searched without a break
_LONGEST_LINE = 8192  # bytes of a line that are searched
_REPEATS = "?*+{"  # after `.*` these belong to it


@dataclass(frozen=True, slots=True)
class LogPattern:
    """`line` decides about one line; `batch` finds out fast whether any line of a joined batch may match."""

    text: str
    line: Any
    batch: Any | None


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbours among the lines of a batch, joined."""

    start: int
    end: int
    joined: bytes


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines of a log, and the same in pieces, of which each is searched without a break."""

    texts: Sequence[str]
    lines: Sequence[bytes]  # as far as they are searched
    pieces: Sequence[Piece]

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Batch":
        lines = [text.encode()[:_LONGEST_LINE] for text in texts]
        return cls(texts, lines, list(_pieces(lines)))

    @property
    def size(self) -> int:
        return sum(len(piece.joined) for piece in self.pieces)


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
    for piece in batch.pieces:
        if matching is None:
            matches += _matching(pattern, batch, piece)
            continue
        if not matching.may_go_on():
            break
        with matching.timed():
            matches += _matching(pattern, batch, piece)
    return matches


def _matching(pattern: LogPattern, batch: Batch, piece: Piece) -> list[int]:
    if pattern.batch is not None and pattern.batch.search(piece.joined) is None:
        return []
    return [
        i
        for i in range(piece.start, piece.end)
        if not batch.texts[i].startswith(CONFIG_LINE_PREFIX) and pattern.line.search(batch.lines[i])
    ]


def _pieces(lines: Sequence[bytes]) -> Iterator[Piece]:
    start = size = 0
    for i, line in enumerate(lines):
        if i > start and size + len(line) > _PIECE:
            yield Piece(start, i, b"\n".join(lines[start:i]))
            start, size = i, 0
        size += len(line) + 1
    if start < len(lines):
        yield Piece(start, len(lines), b"\n".join(lines[start:]))


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
