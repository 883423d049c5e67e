"""Ranks talking over plain TCP: one hub, one spoke per other rank. Nothing is unpickled before both ends have proved
that they know the allocation's secret."""

import hmac
import logging
import os
import pickle
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

logger = logging.getLogger("determined.core")

_HELLO = b"determined-rank-link-1\n"
_NONCE, _DIGEST = 32, 32
_RANK, _LENGTH = struct.Struct(">I"), struct.Struct(">Q")
_HANDSHAKE_SECONDS = 10.0
_KEEPALIVE_SECONDS = 60


class Hub:
    """Rank 0's end. Construct, then `accept` until every other rank is there."""

    def __init__(self, listener: socket.socket, size: int, secret: bytes) -> None:
        self._listener = listener
        self._size = size
        self._secret = secret
        self._peers: dict[int, socket.socket] = {}
        self._serial = 0

    def accept(self, timeout: float) -> None:
        """Raises RuntimeError naming the ranks that did not come in time."""
        deadline = time.monotonic() + timeout
        while len(self._peers) < self._size - 1:
            self._listener.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                peer, _ = self._listener.accept()
            except TimeoutError:
                missing = sorted(set(range(1, self._size)) - set(self._peers))
                raise RuntimeError(f"ranks {missing} did not connect within {timeout:.0f} s; did they start?") from None
            self._admit(peer)

    def gather(self, value: Any) -> list[Any]:
        self._serial += 1
        return [value, *(self._receive(rank) for rank in range(1, self._size))]

    def broadcast(self, value: Any) -> Any:
        self._serial += 1
        frame = _frame(self._serial, "broadcast", value)
        for rank in range(1, self._size):
            self._peers[rank].sendall(frame)
        return value

    def close(self) -> None:
        for peer in self._peers.values():
            peer.close()
        self._listener.close()

    def _receive(self, rank: int) -> Any:
        return _receive(self._peers[rank], self._serial, "gather", f"rank {rank}")

    def _admit(self, peer: socket.socket) -> None:
        try:
            rank = _greet_spoke(peer, self._secret)
        except (OSError, ValueError) as err:
            logger.warning("a connection to the chief was refused: %s", err)
            peer.close()
            return
        if rank in self._peers or not 0 < rank < self._size:
            logger.warning("rank %s connected twice or is beyond size %s; the newcomer is refused", rank, self._size)
            peer.close()
            return
        _keep_alive(peer)
        self._peers[rank] = peer


class Spoke:
    """The end of every other rank."""

    def __init__(self, peer: socket.socket) -> None:
        self._peer = peer
        self._serial = 0

    @classmethod
    def connect(cls, address: tuple[str, int], rank: int, secret: bytes, timeout: float) -> "Spoke":
        """Try until the hub listens and both have proved themselves. Raises RuntimeError after `timeout`."""
        return cls(_try_until(lambda: _dial(address, rank, secret), address, timeout))

    def gather(self, value: Any) -> None:
        self._serial += 1
        self._peer.sendall(_frame(self._serial, "gather", value))

    def broadcast(self, _value: Any = None) -> Any:
        self._serial += 1
        return _receive(self._peer, self._serial, "broadcast", "the chief")

    def close(self) -> None:
        self._peer.close()


def listen(host: str, port: int) -> socket.socket:
    """Raises RuntimeError when the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as err:
        listener.close()
        raise RuntimeError(
            f"the chief cannot listen on {host}:{port} ({err}); set INTER_TRAIN_PROCESS_COMM_PORT_1 to a free port "
            "for all ranks"
        ) from err
    return listener


def _try_until(attempt: Callable[[], socket.socket], address: tuple[str, int], timeout: float) -> socket.socket:
    deadline, pause = time.monotonic() + timeout, 0.01
    while True:
        try:
            return attempt()
        except (OSError, ValueError) as err:
            if time.monotonic() + pause > deadline:
                raise RuntimeError(
                    f"cannot reach the chief at {address[0]}:{address[1]} within {timeout:.0f} s ({err}); "
                    "check chief_ip, the port, and that every rank has the same DET_SESSION_TOKEN"
                ) from err
        time.sleep(pause)
        pause = min(pause * 1.5, 0.5)


def _dial(address: tuple[str, int], rank: int, secret: bytes) -> socket.socket:
    peer = socket.create_connection(address, timeout=_HANDSHAKE_SECONDS)
    try:
        _greet_hub(peer, rank, secret)
    except (OSError, ValueError):
        peer.close()
        raise
    _keep_alive(peer)
    return peer


def _greet_spoke(peer: socket.socket, secret: bytes) -> int:
    peer.settimeout(_HANDSHAKE_SECONDS)
    mine = os.urandom(_NONCE)
    peer.sendall(_HELLO + mine)
    answer = _exactly(peer, len(_HELLO) + _RANK.size + _NONCE + _DIGEST)
    rank, theirs, proof = answer[len(_HELLO) :][: _RANK.size], answer[-_NONCE - _DIGEST : -_DIGEST], answer[-_DIGEST:]
    if not hmac.compare_digest(proof, _proof(secret, b"spoke", mine, theirs, rank)):
        raise ValueError("it does not know this allocation's secret")
    peer.sendall(_proof(secret, b"hub", theirs, mine, rank))
    return int(_RANK.unpack(rank)[0])


def _greet_hub(peer: socket.socket, rank: int, secret: bytes) -> None:
    hello = _exactly(peer, len(_HELLO) + _NONCE)
    if not hello.startswith(_HELLO):
        raise ValueError("something that is not a chief listens there")
    mine, theirs, number = os.urandom(_NONCE), hello[len(_HELLO) :], _RANK.pack(rank)
    peer.sendall(_HELLO + number + mine + _proof(secret, b"spoke", theirs, mine, number))
    if not hmac.compare_digest(_exactly(peer, _DIGEST), _proof(secret, b"hub", mine, theirs, number)):
        raise ValueError("the chief does not know this allocation's secret")


def _proof(secret: bytes, *parts: bytes) -> bytes:
    return hmac.digest(secret, b"".join(parts), "sha256")


def _keep_alive(peer: socket.socket) -> None:
    peer.settimeout(None)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_KEEPIDLE"):
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _KEEPALIVE_SECONDS)


def _frame(serial: int, kind: str, value: Any) -> bytes:
    body = pickle.dumps((serial, kind, value), protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


def _receive(peer: socket.socket, serial: int, kind: str, who: str) -> Any:
    try:
        length = _LENGTH.unpack(_exactly(peer, _LENGTH.size))[0]
        body = _exactly(peer, length)
    except (OSError, ValueError) as err:
        raise RuntimeError(f"{who} is gone ({err}); its log says why") from err
    got_serial, got_kind, value = pickle.loads(body)  # noqa: S301  the peer proved that it knows the secret
    if (got_serial, got_kind) != (serial, kind):
        raise RuntimeError(
            f"ranks are out of step: this one is at {kind} {serial}, {who} at {got_kind} {got_serial}; "
            "every rank must make the same calls in the same order"
        )
    return value


def _exactly(peer: socket.socket, count: int) -> bytes:
    parts, missing = [], count
    while missing:
        part = peer.recv(min(missing, 1 << 20))
        if not part:
            raise ValueError("the connection was closed")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
