"""Connection check between nodes: a listener that answers for a few seconds, and a connection to it.

An answer is a proof by the allocation's token and names the rank, so a stranger on that port, or another node with the
same address, is not taken for the peer.
"""

import contextlib
import hashlib
import hmac
import os
import socket
import threading
import time
from dataclasses import dataclass

_NONCE = 32
_ANSWER_SECONDS = 2.0
_SURE_SECONDS = 0.5  # with less time left, a slow peer cannot be told from a missing one
_LOOK_SECONDS = 0.1
_BACKLOG = 1024  # everyone knocks at the chief's listener at once, and a call that is dropped looks like a firewall


@dataclass(frozen=True, slots=True)
class ConnectionCheck:
    """Result of a connection to a peer. `reason` is None when it has answered. Not `certain`: it may only be slow."""

    reason: str | None = None
    certain: bool = True


class PeerListener:
    """A listener on one address, or on all where that address is not this machine's own (NAT)."""

    def __init__(self, address: str, rank: int, token: str) -> None:
        self._proof = _Proof(token, rank)
        self._listener = _listen(address)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="preflight", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def close(self) -> None:
        self._closed.set()
        # Wakes the thread at once; elsewhere than on Linux it finds out at its next look.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        self._listener.settimeout(_LOOK_SECONDS)
        while not self._closed.is_set():
            try:
                caller, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            # One thread each: a caller that says nothing must not keep the others waiting.
            threading.Thread(target=self._answer, args=(caller,), name="preflight", daemon=True).start()

    def _answer(self, caller: socket.socket) -> None:
        with caller, contextlib.suppress(OSError):
            caller.settimeout(_ANSWER_SECONDS)
            nonce = _read(caller, _NONCE)
            if len(nonce) == _NONCE:
                caller.sendall(self._proof.of(nonce))


def check_connection(address: str, port: int, rank: int, token: str, deadline: float) -> ConnectionCheck:
    """Try to reach the listener of `rank` until the (monotonic) deadline."""
    began = time.monotonic()
    given = max(0.01, deadline - began)
    try:
        peer = socket.create_connection((address, port), timeout=given)
    except TimeoutError:
        return ConnectionCheck(f"no answer within {time.monotonic() - began:.1f} s", certain=given >= _SURE_SECONDS)
    except OSError as e:
        return ConnectionCheck(e.strerror or str(e))
    with peer:
        return _listen_for_proof(peer, _Proof(token, rank), began, deadline)


def _listen_for_proof(peer: socket.socket, proof: "_Proof", began: float, deadline: float) -> ConnectionCheck:
    nonce = os.urandom(_NONCE)
    peer.settimeout(max(0.01, deadline - time.monotonic()))
    try:
        peer.sendall(nonce)
        answer = _read(peer, len(proof.of(nonce)))
    except TimeoutError:
        # The kernel took the call, so the network is in order; the process behind it had no time yet.
        return ConnectionCheck("it took the call and did not answer in time", certain=False)
    except OSError as e:
        return ConnectionCheck(e.strerror or str(e), certain=not _has_hung_up(began))
    if hmac.compare_digest(answer, proof.of(nonce)):
        return ConnectionCheck()
    return ConnectionCheck("something else answers there", certain=bool(answer) or not _has_hung_up(began))


def _has_hung_up(began: float) -> bool:
    """Check whether we took so long that the peer's listener may have closed."""
    return time.monotonic() - began >= _ANSWER_SECONDS


class _Proof:
    def __init__(self, token: str, rank: int) -> None:
        self._key = hashlib.sha256(b"determined preflight\0" + token.encode()).digest()
        self._rank = str(rank).encode()

    def of(self, nonce: bytes) -> bytes:
        return hmac.digest(self._key, nonce + self._rank, "sha256")


def _listen(address: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with contextlib.suppress(OSError):
        return socket.create_server((address, 0), family=family, backlog=_BACKLOG)
    return socket.create_server(("", 0), backlog=_BACKLOG)


def _read(sock: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count and (part := sock.recv(count - len(received))):
        received += part
    return received
