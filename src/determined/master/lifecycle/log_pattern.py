"""Patterns that are searched in batches of log lines, by RE2: for log policies and for webhooks. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import re2

from determined.constants import CONFIG_LINE_PREFIX

_REPEATS = "?*+{"  # after `.*` these belong to it


@dataclass(frozen=True, slots=True)
class LogPattern:
    """`line` decides about one line; `batch` finds out fast whether any line of a joined batch may match."""

    text: str
    line: Any
    batch: Any | None


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines of a log, and the same joined."""

    texts: Sequence[str]
    joined: bytes

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Batch":
        return cls(texts, "\n".join(texts).encode())


def compile_pattern(pattern: str) -> LogPattern | None:
    """Compile a pattern; None when RE2 refuses it."""
    line = _re2(pattern)
    if line is None:
        return None
    joinable = "\\A" not in pattern and "\\z" not in pattern and "(?" not in pattern
    return LogPattern(pattern, line, _re2(f"(?m){_core(pattern)}") if joinable else None)


def matching_lines(pattern: LogPattern, batch: Batch) -> list[int]:
    """List the indices of the lines that match. The line in which the task prints its config is not looked at."""
    if pattern.batch is not None and pattern.batch.search(batch.joined) is None:
        return []
    return [
        i
        for i, text in enumerate(batch.texts)
        if not text.startswith(CONFIG_LINE_PREFIX) and pattern.line.search(text.encode())
    ]


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
