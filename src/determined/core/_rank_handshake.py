"""Two processes prove to each other that they know the allocation's secret, before either believes a byte more.

The hub greets with a nonce; the spoke answers with its rank, a nonce and a proof over both; the hub proves itself last.
`label` says which link is meant, so that nobody ends up at the hub of another node.
"""

import contextlib
import hmac
import logging
import os
import selectors
import socket
import struct
import time
from dataclasses import dataclass, field

from determined.core._rank_frames import Channel, failure

logger = logging.getLogger("determined.core")

SECONDS = 10.0
_HELLO = b"determined-rank-link-2\n"
_RANK, _NONCE, _DIGEST = struct.Struct(">I"), 32, 32
_GREETING = len(_HELLO) + _NONCE
_ANSWER = len(_HELLO) + _RANK.size + _NONCE + _DIGEST
_LOG_SECONDS = 30.0


@dataclass(slots=True)
class _Newcomer:
    peer: socket.socket
    deadline: float
    nonce: bytes = field(default_factory=lambda: os.urandom(_NONCE))
    answer: bytearray = field(default_factory=bytearray)


class RankListener:
    """The hub's listener. Newcomers are read side by side: one that sends nothing keeps nobody waiting."""

    def __init__(self, listener: socket.socket, secret: bytes, label: bytes) -> None:
        self._listener = listener
        self._secret = secret
        self._label = label
        self._selector = selectors.DefaultSelector()
        self.admitted: dict[int, socket.socket] = {}
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ)

    def admit(self, size: int, timeout: float) -> None:
        """Returns when ranks 1 to `size` - 1 are `admitted`.

        Raises:
            RuntimeError: naming the ranks that did not come in time, or one that came twice or cannot be.
        """
        deadline = time.monotonic() + timeout
        log_at = time.monotonic() + _LOG_SECONDS
        while missing := sorted(set(range(1, size)) - set(self.admitted)):
            now = time.monotonic()
            if now > deadline:
                raise RuntimeError(f"ranks {missing} did not connect within {timeout:.0f} s; did they start?")
            if now > log_at:
                logger.warning("still waiting for ranks %s to connect", missing)
                log_at = now + _LOG_SECONDS
            self._serve(size, now)

    def close(self) -> None:
        """Admit nobody else; those admitted stay."""
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()

    def _serve(self, size: int, now: float) -> None:
        for key, _ in self._selector.select(timeout=0.1):
            if key.data is None:
                self._greet(now)
            else:
                self._read(key.data, size)
        for key in list(self._selector.get_map().values()):
            if key.data is not None and now > key.data.deadline:
                self._refuse(key.data, f"it said nothing for {SECONDS:.0f} s")

    def _greet(self, now: float) -> None:
        try:
            peer, _ = self._listener.accept()
        except OSError:  # gone again before it was its turn
            return
        newcomer = _Newcomer(peer, now + SECONDS)
        peer.setblocking(False)
        try:
            peer.send(_HELLO + newcomer.nonce)
        except OSError:
            peer.close()
            return
        self._selector.register(peer, selectors.EVENT_READ, newcomer)

    def _read(self, newcomer: _Newcomer, size: int) -> None:
        try:
            part = newcomer.peer.recv(_ANSWER - len(newcomer.answer))
        except OSError as err:
            self._refuse(newcomer, str(err))
            return
        newcomer.answer += part
        start = bytes(newcomer.answer[: len(_HELLO)])
        if not part or not _HELLO.startswith(start):
            self._refuse(newcomer, "it is not a rank of a job")
        elif len(newcomer.answer) == _ANSWER:
            self._judge(newcomer, size)

    def _judge(self, newcomer: _Newcomer, size: int) -> None:
        rest = bytes(newcomer.answer[len(_HELLO) :])
        number, theirs, proof = rest[: _RANK.size], rest[_RANK.size : -_DIGEST], rest[-_DIGEST:]
        expected = _proof(self._secret, b"spoke", self._label, newcomer.nonce, theirs, number)
        if not hmac.compare_digest(proof, expected):
            self._refuse(newcomer, "it does not know this allocation's secret")
            return
        self._selector.unregister(newcomer.peer)
        newcomer.peer.setblocking(True)
        with contextlib.suppress(OSError):  # one that has left again is found out when it is needed
            newcomer.peer.sendall(_proof(self._secret, b"hub", self._label, theirs, newcomer.nonce, number))
        self._seat(newcomer.peer, int(_RANK.unpack(number)[0]), size)

    def _seat(self, peer: socket.socket, rank: int, size: int) -> None:
        problem = None
        if not 0 < rank < size:
            problem = f"a process came that says it is rank {rank}, of {size}; every rank must be given the same size"
        elif rank in self.admitted and not _has_left(self.admitted[rank]):
            problem = f"two processes say that they are rank {rank}; give every one a rank of its own"
        if problem is not None:
            Channel(peer, "").offer(failure(problem))
            peer.close()
            raise RuntimeError(problem)
        if rank in self.admitted:
            self.admitted[rank].close()
        self.admitted[rank] = peer

    def _refuse(self, newcomer: _Newcomer, why: str) -> None:
        logger.warning("a connection to rank 0 was refused: %s", why)
        self._selector.unregister(newcomer.peer)
        newcomer.peer.close()


def greet_hub(peer: socket.socket, rank: int, secret: bytes, label: bytes) -> None:
    """The spoke's side. Raises ValueError or OSError when this is not the hub."""
    peer.settimeout(SECONDS)
    greeting = _exactly(peer, _GREETING)
    if not greeting.startswith(_HELLO):
        raise ValueError("something that is not rank 0 of a job listens there")
    mine, theirs, number = os.urandom(_NONCE), greeting[len(_HELLO) :], _RANK.pack(rank)
    peer.sendall(_HELLO + number + mine + _proof(secret, b"spoke", label, theirs, mine, number))
    if not hmac.compare_digest(_exactly(peer, _DIGEST), _proof(secret, b"hub", label, mine, theirs, number)):
        raise ValueError("rank 0 there does not know this allocation's secret")
    peer.settimeout(None)


def _proof(secret: bytes, *parts: bytes) -> bytes:
    return hmac.digest(secret, b"\0".join(parts), "sha256")


def _has_left(peer: socket.socket) -> bool:
    try:
        return peer.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _exactly(peer: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count:
        part = peer.recv(count - len(received))
        if not part:
            raise ValueError("the connection was closed; is the secret the same on every rank?")
        received += part
    return received
