"""Terminal of a shell in the browser: what the master and the program of the shell say to each other.

The page opens the WebSocket `/terminal/<shell id>`. Its binary messages are what is typed and what the terminal
shows; a text is the size of its window (`WindowSize`, JSON), and at the end the status of the program (`Ended`).
The master opens a stream to the shell's service, greets its program with GREETING, the key of the shell's settings and
a line end, and passes all this on in frames: a byte for the kind, three for the length, the payload.

An SSH client begins with `SSH-`, so one socket serves both.
"""

from enum import IntEnum

from determined.wire.codec import Wire

GREETING = b"DET-TERMINAL "
HEADER_BYTES = 4
MAX_PAYLOAD = 1024 * 1024


class Kind(IntEnum):
    DATA = 0
    WINDOW = 1  # to the shell
    ENDED = 2  # from it


_KINDS = frozenset(kind.value for kind in Kind)


class WindowSize(Wire):
    columns: int
    rows: int


class Ended(Wire):
    """Status of the program, negative for a signal."""

    status: int


class BadFrame(Exception):
    """Bytes that are no frame. The connection is of no use any more."""


def frame(kind: Kind, payload: bytes) -> bytes:
    return (kind << 24 | len(payload)).to_bytes(HEADER_BYTES, "big") + payload


def data_frames(data: bytes) -> list[bytes]:
    """Return frames of DATA, none of them longer than it may be."""
    return [frame(Kind.DATA, data[at : at + MAX_PAYLOAD]) for at in range(0, len(data), MAX_PAYLOAD)]


class FrameReader:
    """Reader of frames from bytes that arrive in pieces."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes | bytearray | memoryview) -> list[tuple[Kind, bytes]]:
        """Return the frames that are whole now. Raises BadFrame."""
        self._rest += data
        frames: list[tuple[Kind, bytes]] = []
        while len(self._rest) >= HEADER_BYTES:
            number = int.from_bytes(self._rest[:HEADER_BYTES], "big")
            kind, end = number >> 24, HEADER_BYTES + (number & 0xFFFFFF)
            if kind not in _KINDS or end > HEADER_BYTES + MAX_PAYLOAD:
                raise BadFrame(f"no frame begins with {number:#010x}")
            if len(self._rest) < end:
                break
            frames.append((Kind(kind), bytes(self._rest[HEADER_BYTES:end])))
            del self._rest[:end]
        return frames
