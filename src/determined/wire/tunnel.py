"""The tunnel: connections that the runner of a task opens to the master, which reaches the task's services by them.

A runner calls `OPEN_TUNNEL` with `Upgrade: determined-tunnel`. After the answer 101 the connection carries frames, each
a header of four bytes (its kind, and its length in 24 bits) and a payload. A connection carries one stream at a time
and is used again for the next one, so that TCP alone limits how much is under way, and no stream waits for another.

| frame | from | |
|---|---|---|
| OPEN | master | begins a stream to a service (`OpenStream`, JSON); data may follow at once |
| ACCEPTED | runner | the service is connected |
| REFUSED | runner | it is not; the reason as text. The stream is over on this side |
| DATA | both | bytes |
| END | both | no more bytes follow from this side; it still reads |
| CLOSE | master | in place of END: what the service still has to say is of no use |
| PING, PONG | master, runner | between two streams: both are there |

The stream is over when each side has sent its END, CLOSE or REFUSED.
"""

from enum import IntEnum

from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation

PROTOCOL = "determined-tunnel"
# Subprotocol of a WebSocket to any service of a task: its binary messages carry the bytes of one TCP connection, and an
# empty text says that no more come from that side. Without it this is so for services with `proxy_tcp`, less the text.
TCP_SUBPROTOCOL = "determined.tcp"
HEADER_BYTES = 4
MAX_DATA = 2**24 - 1
MAX_CONTROL = 2**16

Buffer = bytes | bytearray | memoryview


class Frame(IntEnum):
    OPEN = 1
    ACCEPTED = 2
    REFUSED = 3
    DATA = 4
    END = 5
    CLOSE = 6
    PING = 7
    PONG = 8


_FRAMES = {kind.value: kind for kind in Frame}  # faster than the enumeration


class OpenStream(Wire):
    """Begin of a stream. `waiting`: how many more streams wait for a connection."""

    service: str
    waiting: int = 0


class BadFrame(Exception):
    """Bytes that are no frame. The connection is of no use any more."""


def header(kind: Frame, length: int = 0) -> bytes:
    return (kind << 24 | length).to_bytes(HEADER_BYTES, "big")


def frame(kind: Frame, payload: bytes = b"") -> bytes:
    return header(kind, len(payload)) + payload


class FrameReader:
    """Reader of frames from bytes that arrive in pieces. The payload of DATA is passed on as it arrives."""

    def __init__(self) -> None:
        self._head = b""
        self._kind = Frame.DATA
        self._missing = 0  # bytes of the current payload
        self._payload = bytearray()

    def feed(self, received: Buffer) -> list[tuple[Frame, Buffer]]:
        """Return the frames that end in `received`, and the pieces of DATA in it, as views of it. Raises BadFrame."""
        view, at, size = memoryview(received), 0, len(received)
        frames: list[tuple[Frame, Buffer]] = []
        while at < size:
            if self._missing:
                piece = view[at : at + self._missing]
                at += len(piece)
                self._missing -= len(piece)
                self._take(piece, frames)
            else:
                needed = HEADER_BYTES - len(self._head)
                self._head += view[at : at + needed]
                at += needed
                self._begin(frames)
        return frames

    def _begin(self, frames: list[tuple[Frame, Buffer]]) -> None:
        if len(self._head) < HEADER_BYTES:
            return
        number = int.from_bytes(self._head, "big")
        self._head = b""
        kind = _FRAMES.get(number >> 24)
        if kind is None:
            raise BadFrame(f"no frame begins with {number >> 24}")
        self._kind, self._missing = kind, number & MAX_DATA
        if self._kind is not Frame.DATA and self._missing > MAX_CONTROL:
            raise BadFrame(f"a frame {self._kind.name} of {self._missing} bytes is too long")
        if not self._missing:
            frames.append((self._kind, b""))

    def _take(self, piece: memoryview, frames: list[tuple[Frame, Buffer]]) -> None:
        if self._kind is Frame.DATA:
            frames.append((Frame.DATA, piece))
            return
        self._payload += piece
        if not self._missing:
            frames.append((self._kind, bytes(self._payload)))
            self._payload = bytearray()


OPEN_TUNNEL = Operation("GET", "/api/v1/allocations/{allocation_id:str}/tunnel", Nothing, Nothing, ours=True)
