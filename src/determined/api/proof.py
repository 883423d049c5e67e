"""Asking whoever answers a connection to prove that it is the master that we expect there.

The port of a master that is away may belong to anybody: another user's program, or another cluster's master, whose
"no such allocation" would end a healthy training. Whoever it is may pass the question on to the real master at another
port, so the proof is bound to the address that was dialled.
"""

import json
import os
import socket
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from determined import _bound_address
from determined.api.exchange import exchange
from determined.wire.master_proof import allocation_proof, identity_proof, is_proven, question

_ANSWER_SECONDS = 30.0  # a master that thousands of tasks find again at once is slow


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim of the master to expect at the other end: the one which minted the token of an allocation."""

    master_url: str
    allocation_id: str
    token: str = field(repr=False)

    def question(self, nonce: bytes) -> str:
        return question(nonce, self.allocation_id)

    def expected(self, nonce: bytes, address: str) -> str:
        return allocation_proof(self.token, nonce, address)

    @property
    def who(self) -> str:
        return "the master of this task"


@dataclass(frozen=True, slots=True)
class OwnMaster:
    """Master to expect at the other end: the one whose state file is this user's (own_master.py)."""

    master_url: str
    identity: str = field(repr=False)
    data_dir: str

    def question(self, nonce: bytes) -> str:
        return question(nonce)

    def expected(self, nonce: bytes, address: str) -> str:
        return identity_proof(self.identity.encode(), nonce, address)

    @property
    def who(self) -> str:
        advice = f"if another master belongs there now: rm {self.data_dir}/state.json"
        return f"your master with data in {self.data_dir}; {advice}"


class NotProven(OSError):
    """Peer that has not proved to be the expected master. Whoever opened the connection must close it."""


def demand(
    sock: socket.socket, claim: Claim | OwnMaster, *, forwarded: bool = False, seconds: float = _ANSWER_SECONDS
) -> None:
    """Return once the peer has proved itself; the connection is then ready for the first request.

    Args:
        sock: connected, encrypted where it has to be, without a request on its way.
        claim: whom to expect.
        forwarded: a proxy is on the other end that must be told whose answer is wanted.
        seconds: how long to wait for each part of the answer.

    Raises:
        NotProven: the peer does not answer, is somebody else, or hangs up after its answer: the next connection could
            lead to somebody else.
    """
    nonce = os.urandom(32)
    base = claim.master_url.rstrip("/")
    prefix = base if forwarded else urlsplit(base).path  # a master may live below a path of a reverse proxy
    address = _bound_address.of_peer(base, sock)
    try:
        answer, kept = _ask(sock, claim.master_url, prefix + claim.question(nonce), seconds)
    except (OSError, ValueError, RecursionError) as e:
        raise NotProven(f"who answers does not say who it is ({str(e) or type(e).__name__})") from e
    if not is_proven(claim.expected(nonce, address), answer):
        raise NotProven(f"who answers is not {claim.who}")
    if not kept:
        raise NotProven(
            "who answers closes the connection after its proof; a proxy before the master must keep connections open"
        )


def _ask(sock: socket.socket, master_url: str, path: str, seconds: float) -> tuple[Any, bool]:
    """(answer, whether the connection is still open)."""
    before = sock.gettimeout()
    sock.settimeout(seconds)
    answer = exchange(sock, "GET", path, {"Accept": "application/json", "Host": urlsplit(master_url).netloc})
    if answer.kept:
        sock.settimeout(before)
    return json.loads(answer.body), answer.kept
