"""From bytes of a task's output to log lines. Pure: no clock, no files."""

import re
from collections.abc import Iterator

from determined.constants import MAX_LOG_LINE_BYTES

_RANK = re.compile(r"\[rank=(\d{1,9})\] ?")
_LEVEL = re.compile(r"(TRACE|DEBUG|INFO|WARNING|ERROR|CRITICAL): ?")
_LEVEL_INITIALS = frozenset("TDIWEC")

Line = tuple[str, str | None, int | None]  # text, level, rank


class LineSplitter:
    """Lines end at \\n or \\r; one longer than the limit becomes several with the same level and rank."""

    def __init__(self, limit: int = MAX_LOG_LINE_BYTES) -> None:
        self._limit = limit
        self._rest = b""
        self._after_return = False  # a \n straight after \r belongs to it
        self._prefix: tuple[str | None, int | None] | None = None  # of the long line being continued

    def feed(self, chunk: bytes) -> list[Line]:
        """The lines completed by `chunk`."""
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_return = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n")
        *complete, rest = (self._rest + chunk).split(b"\n")
        lines: list[Line] = []
        for raw in complete:
            lines.extend(self._finish(raw))
        lines.extend(self._keep(rest))
        return lines

    def end(self) -> list[Line]:
        """What was left without a line end."""
        rest, self._rest = self._rest, b""
        return list(self._finish(rest)) if rest else []

    def _finish(self, raw: bytes) -> Iterator[Line]:
        if b"\r" in raw:
            # Progress bars redraw themselves: each state is a line, the emptiness between two returns is not.
            for part in raw.split(b"\r"):
                if part:
                    yield from self._whole(part)
            return
        yield from self._whole(raw)

    def _keep(self, rest: bytes) -> Iterator[Line]:
        """Hold an unfinished line back, but never more than the limit."""
        *redrawn, rest = rest.split(b"\r")
        for part in redrawn:
            if part:
                yield from self._whole(part)
        while len(rest) > self._limit:
            piece, rest = _cut(rest, self._limit)
            yield self._piece(piece)
        self._rest = rest

    def _whole(self, raw: bytes) -> Iterator[Line]:
        if self._prefix is None and len(raw) <= self._limit:
            yield parse_line(raw.decode("utf-8", "replace"))
            return
        while len(raw) > self._limit:
            piece, raw = _cut(raw, self._limit)
            yield self._piece(piece)
        if raw:
            yield self._piece(raw)
        self._prefix = None

    def _piece(self, raw: bytes) -> Line:
        text = raw.decode("utf-8", "replace")
        if self._prefix is not None:
            return text, *self._prefix
        parsed = parse_line(text)
        self._prefix = parsed[1:]
        return parsed


def parse_line(text: str) -> Line:
    """Take a leading `[rank=N]`, then a leading `LEVEL:`, out of the text."""
    rank = level = None
    if text.startswith("[rank=") and (found := _RANK.match(text)):
        rank = int(found[1])
        text = text[found.end() :]
    if text[:1] in _LEVEL_INITIALS and (found := _LEVEL.match(text)):
        level = found[1]
        text = text[found.end() :]
    return text, level, rank


def _cut(raw: bytes, limit: int) -> tuple[bytes, bytes]:
    """Split at the limit, but not inside a UTF-8 character."""
    end = limit
    while end > limit - 3 and raw[end] & 0xC0 == 0x80:
        end -= 1
    if raw[end] & 0xC0 == 0x80:
        end = limit  # no UTF-8 anyway
    return raw[:end], raw[end:]
