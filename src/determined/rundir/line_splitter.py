"""Splitter from bytes of a program's output to lines: a launcher reads its ranks with it, a runner its task."""

from collections.abc import Iterator

from determined.constants import MAX_LOG_LINE_BYTES

Piece = tuple[bytes, bool]  # a line, or a part of one that is too long; whether it continues the piece before it


class LineSplitter:
    """Splitter: feed it chunks; it returns the lines they complete. Lines end at \\n or \\r; none exceeds the limit.

    Empty lines count, but not the emptiness between two returns: progress bars redraw themselves.
    """

    def __init__(self, limit: int = MAX_LOG_LINE_BYTES) -> None:
        self._limit = limit
        self._rest = b""
        self._after_return = False  # a \n straight after \r belongs to it
        self._is_redrawn = False  # there was a \r since the last \n: nothing between them is no blank line
        self._owes_blank = False  # if the \r at the end turns out to be half of \r\n, it ended a blank line
        self._is_cut = False  # the line that `_rest` belongs to has been given out in part

    def feed(self, chunk: bytes) -> list[Piece]:
        if not chunk:
            return []
        pieces: list[Piece] = []
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            pieces += [(b"", False)] if self._owes_blank else []
            self._is_redrawn = False
        self._after_return = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n")
        *complete, rest = (self._rest + chunk).split(b"\n")
        for line in complete:
            pieces.extend(self._finish(line))
        pieces.extend(self._keep(rest))
        return pieces

    def end(self) -> list[Piece]:
        """Return the rest of the output that has no line end."""
        rest, self._rest = self._rest, b""
        return list(self._finish(rest)) if rest else []

    def _finish(self, line: bytes) -> Iterator[Piece]:
        is_redrawn, self._is_redrawn = self._is_redrawn, False
        if b"\r" not in line and (line or not is_redrawn):
            yield from self._whole(line)
            return
        for part in line.split(b"\r"):
            if part:
                yield from self._whole(part)

    def _keep(self, rest: bytes) -> Iterator[Piece]:
        """Hold an unfinished line back, but never more than the limit."""
        *redrawn, rest = rest.split(b"\r")
        for part in redrawn:
            if part:
                yield from self._whole(part)
        if redrawn:
            self._owes_blank = redrawn == [b""] and not self._is_redrawn
            self._is_redrawn = True
        while len(rest) > self._limit:
            piece, rest = _cut(rest, self._limit)
            yield piece, self._is_cut
            self._is_cut = True
        self._rest = rest

    def _whole(self, line: bytes) -> Iterator[Piece]:
        while len(line) > self._limit:
            piece, line = _cut(line, self._limit)
            yield piece, self._is_cut
            self._is_cut = True
        yield line, self._is_cut
        self._is_cut = False


def _cut(raw: bytes, limit: int) -> tuple[bytes, bytes]:
    """Split at the limit, but not inside a UTF-8 character."""
    end = limit
    while end > limit - 3 and raw[end] & 0xC0 == 0x80:
        end -= 1
    if raw[end] & 0xC0 == 0x80:
        end = limit  # no UTF-8 anyway
    return raw[:end], raw[end:]
