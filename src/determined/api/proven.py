"""Connections that carry a task's token only to the master which minted it.

The port of a master that is away may belong to anybody: another user's program, or another cluster's master, whose
"no such allocation" would end a healthy training. So each new connection asks for a proof first; without it the
connection counts as failed, like one that nobody answers.
"""

import http.client
import json
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NewConnectionError

from determined.wire.allocation_proof import is_proven, question

_ANSWER_SECONDS = 30.0  # a master that thousands of tasks find again at once is slow
_LONGEST_ANSWER = 64 * 1024


@dataclass(frozen=True, slots=True)
class Claim:
    """Whom to expect at the other end."""

    master_url: str
    allocation_id: str
    token: str


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
    nonce = secrets.token_bytes(32)
    try:
        answer, kept = _ask(connection, claim.master_url.rstrip("/"), question(claim.allocation_id, nonce))
    except (OSError, ValueError, http.client.HTTPException) as e:
        connection.close()
        raise NewConnectionError(connection, f"who answers does not say who it is ({e or type(e).__name__})") from e
    if not is_proven(claim.token, nonce, answer):
        connection.close()
        raise NewConnectionError(connection, "who answers is not the master of this task")
    return kept


def _ask(connection: HTTPConnection, master_url: str, path: str) -> tuple[Any, bool]:
    """(answer, whether the connection is still open). Not through urllib3, which is in the middle of a request."""
    sock = connection.sock
    before = sock.gettimeout()
    sock.settimeout(_ANSWER_SECONDS)
    asking = http.client.HTTPConnection(connection.host, connection.port)
    asking.sock = sock
    forwarded = connection.proxy is not None and not connection.proxy_is_tunneling
    headers = {"Accept": "application/json", "Host": urlsplit(master_url).netloc}
    asking.request("GET", master_url + path if forwarded else path, headers=headers)
    answer = asking.getresponse()
    body = answer.read(_LONGEST_ANSWER)
    if not answer.isclosed():
        raise ValueError("its answer is too long")
    kept = asking.sock is not None
    asking.sock = None
    if kept:
        sock.settimeout(before)
    return json.loads(body), kept
