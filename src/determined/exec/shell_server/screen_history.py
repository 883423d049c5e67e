"""The last output of a terminal and the modes that its programs have set, for a client that comes back to it.

Full-screen programs (editors, pagers) draw on the alternate screen. They draw again when the window changes, so what
they wrote is not kept; the caller changes the window.
"""

import re
from collections import deque

_LIMIT = 256 * 1024  # bytes that are kept: a screenful with colours has a few thousand
_MODE = re.compile(rb"\x1b\[\?([0-9;]{1,32})([hl])")
_UNFINISHED = re.compile(rb"\x1b(?:\[(?:\?[0-9;]{0,32})?)?\Z")
_ALTERNATE = frozenset([b"47", b"1047", b"1049"])
_CLEAR = b"\x1b[H\x1b[2J"
_RESET_COLOURS = b"\x1b[0m"


class ScreenHistory:
    """Follows the output of a terminal."""

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._modes: dict[bytes, bytes] = {}  # of DEC's private modes: h is set, l is reset
        self._unfinished = b""

    @property
    def is_alternate(self) -> bool:
        """Check whether a full-screen program has the screen."""
        return any(self._modes.get(mode) == b"h" for mode in _ALTERNATE)

    def add(self, output: bytes) -> None:
        """Take note of what the terminal shows next."""
        output = self._unfinished + output
        cut = _UNFINISHED.search(output)
        self._unfinished = cut[0] if cut else b""
        self._split(output[: len(output) - len(self._unfinished)])

    def replay(self, rows: int) -> bytes:
        """Return what makes an empty window of so many rows look as the terminal did, as far as it is known."""
        modes = b"".join(b"\x1b[?" + mode + value for mode, value in self._modes.items())
        if self.is_alternate:
            return modes + _CLEAR
        return modes + _RESET_COLOURS + self._last_lines(rows)

    def _split(self, output: bytes) -> None:
        start = 0
        for match in _MODE.finditer(output):
            self._keep(output[start : match.start()])
            self._modes.update(dict.fromkeys(match[1].split(b";"), match[2]))
            start = match.end()
        self._keep(output[start:])

    def _keep(self, output: bytes) -> None:
        if not output or self.is_alternate:
            return
        self._chunks.append(output)
        self._size += len(output)
        while self._size - len(self._chunks[0]) >= _LIMIT:
            self._size -= len(self._chunks.popleft())

    def _last_lines(self, rows: int) -> bytes:
        kept = b"".join(self._chunks)
        lines = kept.split(b"\n")
        # The first line may have begun before what is kept, in the middle of a colour.
        return b"\n".join(lines[-rows:] if len(lines) > rows else lines)
