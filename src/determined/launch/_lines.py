"""From bytes of a rank's output to whole lines: they end at \\n or \\r, and none is longer than a log line may be."""

import re
from collections.abc import Iterator

from determined.constants import MAX_LOG_LINE_BYTES

_LINE_END = re.compile(rb"\r\n|\n|\r")


class Lines:
    """Feed it chunks; it answers with the lines they complete, decoded with replacement."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[str]:
        rest = self._rest + chunk
        # A \r at the very end may be half of \r\n: it waits for the next chunk.
        held = b"\r" if rest.endswith(b"\r") else b""
        *lines, rest = _LINE_END.split(rest[: len(rest) - len(held)])
        found = [piece for line in lines for piece in _pieces(line)]
        while len(rest) > MAX_LOG_LINE_BYTES:
            found.append(_text(rest[:MAX_LOG_LINE_BYTES]))
            rest = rest[MAX_LOG_LINE_BYTES:]
        self._rest = rest + held
        return found

    def end(self) -> list[str]:
        """What was left without a line end."""
        rest, self._rest = self._rest, b""
        return list(_pieces(rest.removesuffix(b"\r"))) if rest else []


def _pieces(line: bytes) -> Iterator[str]:
    for start in range(0, max(len(line), 1), MAX_LOG_LINE_BYTES):
        yield _text(line[start : start + MAX_LOG_LINE_BYTES])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
