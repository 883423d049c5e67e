"""Connections of urllib3 that carry a token only to the master which the proof is asked of (proof.py).

Each new connection asks for a proof first; without it the connection counts as failed, like one that nobody answers.
"""

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NewConnectionError

from determined.api import proof
from determined.api.proof import Claim, OwnMaster


def demand_proof(pool: urllib3.PoolManager, claim: Claim | OwnMaster) -> None:
    """Make every connection of `pool` ask its peer for the proof, once, before its first request."""

    class Plain(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            _check(self, claim)

    class Encrypted(HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            _check(self, claim)

    class PlainPool(urllib3.HTTPConnectionPool):
        ConnectionCls = Plain

    class EncryptedPool(urllib3.HTTPSConnectionPool):
        ConnectionCls = Encrypted

    pool.pool_classes_by_scheme = {"http": PlainPool, "https": EncryptedPool}


def _check(connection: HTTPConnection, claim: Claim | OwnMaster) -> None:
    """Check that the peer proves itself; raise otherwise."""
    forwarded = connection.proxy is not None and not connection.proxy_is_tunneling
    try:
        proof.demand(connection.sock, claim, forwarded=forwarded)
    except proof.NotProven as e:
        connection.close()
        raise NewConnectionError(connection, str(e)) from e
