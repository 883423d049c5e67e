"""Parser from bytes of a task's output to log lines with level and rank. Pure: no clock, no files."""

import re
from collections.abc import Iterable, Iterator

from determined.constants import MAX_LOG_LINE_BYTES
from determined.rundir.line_splitter import LineSplitter, Piece

_RANK = re.compile(r"\[rank=(\d{1,9})\] ?")
_LEVEL = re.compile(r"(TRACE|DEBUG|INFO|WARNING|ERROR|CRITICAL): ?")
_LEVEL_INITIALS = frozenset("TDIWEC")

Line = tuple[str, str | None, int | None]  # text, level, rank


class LineParser:
    """A line that is longer than the limit becomes several with the same level and rank."""

    def __init__(self, limit: int = MAX_LOG_LINE_BYTES) -> None:
        self._splitter = LineSplitter(limit)
        self._prefix: tuple[str | None, int | None] = (None, None)  # of the last line

    def feed(self, chunk: bytes) -> list[Line]:
        """Return the lines completed by `chunk`."""
        return list(self._parsed(self._splitter.feed(chunk)))

    def end(self) -> list[Line]:
        """Return the rest of the output that has no line end."""
        return list(self._parsed(self._splitter.end()))

    def _parsed(self, pieces: Iterable[Piece]) -> Iterator[Line]:
        for raw, is_continued in pieces:
            text = raw.decode("utf-8", "replace")
            if is_continued:
                yield text, *self._prefix
                continue
            parsed = parse_line(text)
            self._prefix = parsed[1:]
            yield parsed


def parse_line(text: str) -> Line:
    """Take a leading `[rank=N]`, then a leading `LEVEL:`, out of the text."""
    rank = level = None
    if text.startswith("[rank=") and (match := _RANK.match(text)):
        rank = int(match[1])
        text = text[match.end() :]
    if text[:1] in _LEVEL_INITIALS and (match := _LEVEL.match(text)):
        level = match[1]
        text = text[match.end() :]
    return text, level, rank
