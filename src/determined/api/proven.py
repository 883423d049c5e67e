"""Connections of urllib3 that carry a task's token only to the master which minted it (proof.py).

Each new connection asks for a proof first; without it the connection counts as failed, like one that nobody answers.
"""

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NewConnectionError

from determined.api import proof
from determined.api.proof import Claim

__all__ = ["Claim", "demand_proof"]


def demand_proof(pool: urllib3.PoolManager, claim: Claim) -> None:
    """Make every connection of `pool` ask its peer for the proof, once, before its first request."""

    class Plain(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            if not _check(self, claim):
                super().connect()

    class Encrypted(HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            if not _check(self, claim):
                super().connect()

    class PlainPool(urllib3.HTTPConnectionPool):
        ConnectionCls = Plain

    class EncryptedPool(urllib3.HTTPSConnectionPool):
        ConnectionCls = Encrypted

    pool.pool_classes_by_scheme = {"http": PlainPool, "https": EncryptedPool}


def _check(connection: HTTPConnection, claim: Claim) -> bool:
    """Raises unless the peer proves itself. False when it did and closed, as one does that keeps no connections."""
    forwarded = connection.proxy is not None and not connection.proxy_is_tunneling
    try:
        kept = proof.demand(connection.sock, claim, forwarded=forwarded)
    except proof.NotProven as e:
        connection.close()
        raise NewConnectionError(connection, str(e)) from e
    if not kept:
        connection.sock.close()  # not the connection, which would forget that it goes through a proxy
    return kept
