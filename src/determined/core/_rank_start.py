"""How the ranks of a job find one another: who listens where, and the secret that they share."""

import contextlib
import hashlib
import logging
import os
import secrets
import socket
from pathlib import Path

from determined.core import _environment
from determined.core._rank_link import Hub, Spoke, listen

logger = logging.getLogger("determined.core")

_START_SECONDS = 600.0


def listen_at(address: str, port: int) -> socket.socket:
    """On the one interface peers use; on all only where that address is not this machine's own (NAT)."""
    with contextlib.suppress(OSError), socket.socket() as trial:
        trial.bind((address, 0))
        return listen(address, port)
    logger.warning("the chief's address %s is not one of this machine; listening on all interfaces", address)
    return listen("", port)


def listen_locally() -> socket.socket:
    return listen("127.0.0.1", 0)


def hub(listener: socket.socket, size: int, secret: bytes) -> Hub:
    """Returns when every other rank is there."""
    started = Hub(listener, size, secret)
    try:
        started.accept(_START_SECONDS)
    except BaseException:
        started.close()
        raise
    return started


def spoke(address: tuple[str, int], rank: int, secret: bytes) -> Spoke:
    return Spoke.connect(address, rank, secret, _START_SECONDS)


def secret() -> bytes:
    """From the allocation's token; off cluster from a file only this user can read."""
    token = _environment.peer_token() or _user_secret(_environment.user_data_dir() / "rank-secret")
    return hashlib.sha256(b"determined rank link\0" + token.encode()).digest()


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
