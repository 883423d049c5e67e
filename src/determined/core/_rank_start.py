"""Rendezvous of the ranks of a job: who listens where, and the secret that they share.

On one node that is a socket without a port (Linux's abstract namespace, a name that nobody else can guess); across
nodes TCP, on the one interface that the chief's address belongs to.
"""

import contextlib
import errno
import hashlib
import hmac
import logging
import os
import secrets
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from determined._backoff import Backoff
from determined.core import _environment
from determined.core._rank_frames import Channel, failure
from determined.core._rank_handshake import SECONDS, RankListener, greet_hub
from determined.core._rank_link import Hub, LinkFailure, Spoke

logger = logging.getLogger("determined.core")

START_SECONDS = 600.0
_LOG_SECONDS = 30.0
_DIAL = Backoff(first=0.005, limit=0.1, factor=1.5)
_UNIX_BUFFER_BYTES = 4 << 20
# A host that vanished without a word is noticed after 30 s.
_KEEPALIVE = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 30_000}


@dataclass(frozen=True, slots=True)
class Place:
    """Address of a hub. `path` is an abstract Unix name; without it `host` and `port` are TCP."""

    label: str
    host: str = "127.0.0.1"
    port: int = 0
    path: str | None = None

    @property
    def words(self) -> str:
        return f"{self.host}:{self.port}"


def place(label: str, host: str | None, port: int, secret: bytes, *, force_tcp: bool = False) -> Place:
    """`host` is None for ranks of one node."""
    if host is not None or force_tcp or sys.platform != "linux":
        return Place(label, (host or "127.0.0.1").strip("[]"), port)
    name = hmac.digest(secret, f"{label}\0{port}".encode(), "sha256").hex()[:32]
    return Place(label, port=port, path=f"\0determined-{name}")


def hub(listener: socket.socket, where: Place, ranks: Sequence[int], secret: bytes, link_failure: LinkFailure) -> Hub:
    """Returns when all others of `ranks` are there; if not, those that came are told why."""
    door = RankListener(listener, secret, where.label.encode())
    try:
        door.admit(len(ranks), START_SECONDS)
    except BaseException as err:
        for peer in door.admitted.values():
            Channel(peer, "").offer(failure(str(err) or "rank 0 was interrupted"))
            peer.close()
        raise
    finally:
        door.close()
    for peer in door.admitted.values():
        _settle(peer)
    return Hub([Channel(door.admitted[n], f"rank {ranks[n]}") for n in range(1, len(ranks))], link_failure)


def spoke(where: Place, number: int, hub_rank: int, secret: bytes, link_failure: LinkFailure) -> Spoke:
    """Try until the hub listens and both have proved themselves. Raises RuntimeError after a long time."""
    deadline, log_at, pauses = time.monotonic() + START_SECONDS, time.monotonic() + _LOG_SECONDS, _DIAL.delays()
    while True:
        pause = next(pauses)
        try:
            return Spoke(Channel(_dial(where, number, secret), f"rank {hub_rank}"), link_failure)
        except (OSError, ValueError) as err:
            now, words = time.monotonic(), f"cannot reach rank {hub_rank} at {where.words} ({err})"
            if now + pause > deadline:
                raise RuntimeError(
                    f"{words} within {START_SECONDS:.0f} s; check chief_ip, the port, and that every rank has the same "
                    "DET_SESSION_TOKEN"
                ) from err
            if now > log_at:
                logger.warning("rank %s still tries: %s", number, words)
                log_at = now + _LOG_SECONDS
        time.sleep(pause)


def listen(where: Place) -> socket.socket:
    """Listen for ranks. Raises RuntimeError when the port is taken."""
    listener: socket.socket | None = None
    try:
        family, address = _bindable(where)
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as err:
        if listener is not None:
            listener.close()
        raise RuntimeError(
            f"rank 0 cannot listen on {where.words} ({err}); set INTER_TRAIN_PROCESS_COMM_PORT_1 to a free port "
            "for all ranks"
        ) from err
    return listener


def secret() -> bytes:
    """Derive the secret from the allocation's token; off cluster read it from a file only this user can read."""
    token = _environment.peer_token()
    if not token:
        token = _user_secret(_environment.user_data_dir() / "rank-secret") + _environment.job_marker()
    return hashlib.sha256(b"determined rank link\0" + token.encode()).digest()


def _dial(where: Place, number: int, secret: bytes) -> socket.socket:
    if where.path is not None:
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    else:
        peer = socket.create_connection((where.host, where.port), timeout=SECONDS)
    try:
        if where.path is not None:
            peer.connect(where.path)
        greet_hub(peer, number, secret, where.label.encode())
    except (OSError, ValueError):
        peer.close()
        raise
    _settle(peer)
    return peer


def _bindable(where: Place) -> tuple[int, str | tuple[str, int]]:
    """Peers' one interface; all of them only where the address is not this machine's own (NAT)."""
    if where.path is not None:
        return socket.AF_UNIX, where.path
    family, _, _, _, address = socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address[0], 0))
        except OSError as err:
            if err.errno != errno.EADDRNOTAVAIL:
                raise
            logger.warning("%s is not an address of this machine; listening on all of its interfaces", where.host)
            return family, ("", where.port)
    return family, (str(address[0]), where.port)


def _settle(peer: socket.socket) -> None:
    if peer.family == socket.AF_UNIX:
        # Does not grow by itself as TCP's does; the kernel gives what its limit allows.
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNIX_BUFFER_BYTES)
        return
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            peer.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _user_secret(path: Path) -> str:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, secrets.token_hex(32).encode())
    finally:
        os.close(descriptor)
    # Linking fails when another rank was first; then its secret is everybody's.
    with contextlib.suppress(FileExistsError):
        path.hardlink_to(fresh)
    fresh.unlink()
    status = path.stat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise RuntimeError(f"{path} is not private to this user; remove it")
    return path.read_text()
