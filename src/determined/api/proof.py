"""Asking whoever answers a connection to prove that it is the master which minted a task's token.

The port of a master that is away may belong to anybody: another user's program, or another cluster's master, whose
"no such allocation" would end a healthy training.
"""

import json
import os
import socket
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from determined.api.exchange import exchange
from determined.wire.allocation_proof import is_proven, question

_ANSWER_SECONDS = 30.0  # a master that thousands of tasks find again at once is slow


@dataclass(frozen=True, slots=True)
class Claim:
    """Whom to expect at the other end."""

    master_url: str
    allocation_id: str
    token: str


class NotProven(OSError):
    """Nobody we may talk to. Whoever opened the connection must close it."""


def demand(sock: socket.socket, claim: Claim, *, forwarded: bool = False) -> bool:
    """Whether the peer, having proved itself, keeps the connection: some answer one request and hang up.

    Args:
        sock: connected, encrypted where it has to be, without a request on its way.
        claim: whom to expect.
        forwarded: a proxy is on the other end that must be told whose answer is wanted.

    Raises:
        NotProven: the peer does not answer, or is somebody else.
    """
    nonce = os.urandom(32)
    base = claim.master_url.rstrip("/")
    prefix = base if forwarded else urlsplit(base).path  # a master may live below a path of a reverse proxy
    try:
        answer, kept = _ask(sock, claim.master_url, prefix + question(claim.allocation_id, nonce))
    except (OSError, ValueError) as e:
        raise NotProven(f"who answers does not say who it is ({e or type(e).__name__})") from e
    if not is_proven(claim.token, nonce, answer):
        raise NotProven("who answers is not the master of this task")
    return kept


def _ask(sock: socket.socket, master_url: str, path: str) -> tuple[Any, bool]:
    """(answer, whether the connection is still open)."""
    before = sock.gettimeout()
    sock.settimeout(_ANSWER_SECONDS)
    answer = exchange(sock, "GET", path, {"Accept": "application/json", "Host": urlsplit(master_url).netloc})
    if answer.kept:
        sock.settimeout(before)
    return json.loads(answer.body), answer.kept
