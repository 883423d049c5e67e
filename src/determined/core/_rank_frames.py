"""Whole messages between two ranks that have proved themselves: a small header, then a body that the links pickle."""

import contextlib
import select
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

_HEADER, _LENGTH = struct.Struct(">BQQ"), struct.Struct(">Q")
_CHUNK_BYTES = 1 << 20

Body = bytes | memoryview


class Kind(IntEnum):
    """Kind of a message. FAILURE carries text, not a pickle: it ends whatever the receiver waits for.

    AGREE says that its sender has left a block well. A FAILURE with its number says the contrary: whoever is at that
    agreement too takes it for its part, and anybody else for what it is.
    INVALID_HP is a FAILURE that is none: the sender found its hyperparameters invalid, and so they are for all.
    WAITING is a broadcast's only word from its receivers, said when it is late: a sender that waits for them in turn
    learns that nobody will ever answer. It is no part of any exchange.
    """

    GATHER = 1
    BROADCAST = 2
    ALLGATHER = 3
    FAILURE = 4
    WAITING = 5
    INVALID_HP = 6
    AGREE = 7


FAREWELLS = (Kind.FAILURE, Kind.INVALID_HP)
_WAITING = bytes([Kind.WAITING])


@dataclass(frozen=True, slots=True)
class Frame:
    kind: int
    serial: int
    body: Body


class PeerGone(Exception):
    """The other end closed the connection or lost it."""


class Interrupted(Exception):
    """The other end does not read what it is sent, and sends something itself."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self.frame = frame


class Channel:
    """Connection to a peer. `who` is what errors call the other end."""

    def __init__(self, peer: socket.socket, who: str) -> None:
        self.peer = peer
        self.who = who
        self._unread = bytearray()

    def send(self, frame: bytes) -> None:
        """Send a message. Raises PeerGone, or Interrupted: two ends that send to each other and do not read would wait
        for ever."""
        rest = memoryview(frame)
        while rest:
            try:
                rest = rest[self.peer.send(rest, socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                if not self._waits_for_room() and (arrival := self._peek()).kind != Kind.WAITING:
                    raise Interrupted(arrival) from None
            except OSError as err:
                raise PeerGone(str(err)) from err

    def offer(self, frame: bytes) -> None:
        """Send if there is room and somebody to hear it."""
        with contextlib.suppress(OSError):
            self.peer.send(frame, socket.MSG_DONTWAIT)

    def has_arrived_within(self, seconds: float) -> bool:
        """Return whether something has arrived by then, or the end of the other end."""
        poller = select.poll()
        poller.register(self.peer, select.POLLIN)
        return bool(self._unread) or bool(poller.poll(seconds * 1000))

    def forget_waiting(self) -> None:
        """Read what has arrived; what says only that the other end waits is dropped."""
        with contextlib.suppress(OSError):
            self._unread += self.peer.recv(_CHUNK_BYTES, socket.MSG_DONTWAIT)
        while self._unread[:1] == _WAITING and len(self._unread) >= _HEADER.size:
            self.take()

    def receive(self) -> Frame:
        """Wait for one message. Raises PeerGone."""
        while (frame := self.take()) is None:
            self.fill()
        return frame

    def take(self) -> Frame | None:
        """A message that has arrived in full."""
        if len(self._unread) < _HEADER.size:
            return None
        kind, serial, length = _HEADER.unpack_from(self._unread)
        end = _HEADER.size + length
        if len(self._unread) < end:
            return None
        whole, self._unread = self._unread, self._unread[end:]
        return Frame(kind, serial, memoryview(whole)[_HEADER.size : end])

    def fill(self) -> None:
        """Read once what is there, waiting for it. Raises PeerGone."""
        try:
            part = self.peer.recv(_CHUNK_BYTES)
        except OSError as err:
            raise PeerGone(str(err)) from err
        if not part:
            raise PeerGone("the connection was closed")
        self._unread += part

    def close(self) -> None:
        self.peer.close()

    def _peek(self) -> Frame:
        """Return what arrives, without its body: that comes to an end only when the other end reads too."""
        while len(self._unread) < _HEADER.size:
            self.fill()
        kind, serial, _ = _HEADER.unpack_from(self._unread)
        return self.receive() if kind in (*FAREWELLS, Kind.WAITING) else Frame(kind, serial, b"")

    def _waits_for_room(self) -> bool:
        """Wait for room; return False when something arrived before."""
        poller = select.poll()
        poller.register(self.peer, select.POLLIN | select.POLLOUT)
        return bool(poller.poll()[0][1] & ~select.POLLIN)


def frame(kind: Kind, serial: int, body: Body) -> bytes:
    view = memoryview(body)
    return b"".join((_HEADER.pack(kind, serial, view.nbytes), view))


def failure(reason: str, *, is_invalid: bool = False, serial: int = 0) -> bytes:
    """The message that ends the receiver's collective with these words; `serial`: of an agreement."""
    # Names of files in it need not be UTF-8.
    words = reason.encode(errors="backslashreplace")
    return frame(Kind.INVALID_HP if is_invalid else Kind.FAILURE, serial, words)


def waiting(serial: int) -> bytes:
    """The message of one that waits for the broadcast of that number."""
    return frame(Kind.WAITING, serial, b"")


def packed(bodies: Sequence[Body]) -> bytes:
    """Several bodies as one."""
    views = [memoryview(body) for body in bodies]
    return b"".join(part for view in views for part in (_LENGTH.pack(view.nbytes), view))


def unpacked(body: Body) -> list[memoryview]:
    view, start, bodies = memoryview(body), 0, []
    while start < view.nbytes:
        begin = start + _LENGTH.size
        start = begin + _LENGTH.unpack_from(view, start)[0]
        bodies.append(view[begin:start])
    return bodies
