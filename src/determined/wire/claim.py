"""Claim of a launch file by a runner that an engine started on another host. No secret travels through the engine but a
ticket that is good once.

A sitter (`python -m determined.engines.remote.sitter`) reads an `Order` from its standard input, posts a `ClaimRequest`
to `/api/v1/claims` and is answered with `Claimed`. The ticket itself is never sent: each side proves that it has it, so
somebody who took the port of a dead master neither learns it nor gets anything started.
"""

import hashlib
import hmac

from determined.wire.codec import Wire
from determined.wire.operation import Operation
from determined.wire.report import LaunchFile


class Order(Wire):
    """Order, one line of JSON. `rank` is None where the engine numbers the processes itself (SLURM_PROCID)."""

    master_url: str
    allocation_id: str
    ticket: str
    rank: int | None = None
    master_cert: str | None = None  # PEM
    master_cert_name: str | None = None
    run_root: str | None = None  # where run directories are made; None: a private directory of this user


class ClaimRequest(Wire):
    """`claimant` is the sitter's own random name: the same again is answered again, another one is refused."""

    allocation_id: str
    rank: int
    claimant: str
    proof: str  # `claim_proof`
    node_id: str | None = None  # said by sitters of engines that choose the node themselves, as is `slot_ids`
    address: str | None = None  # where peers reach this host
    slot_ids: list[int] | None = None


class Claimed(Wire):
    launch: LaunchFile
    proof: str  # `answer_proof`


def claim_proof(ticket: str, claimant: str, rank: int, address: str) -> str:
    """Prove that the claimant of a rank holds the ticket, to the master at `address` (`_bound_address`) alone.

    The answer holds the task's token: somebody who took that address and passes the claim on must not get it.
    """
    return _proof(ticket, f"claim:{rank}:{claimant}@{address}")


def answer_proof(ticket: str, claimant: str) -> str:
    """Return what only the master that made the ticket, or another holder of it, can answer."""
    return _proof(ticket, f"claimed:{claimant}")


def is_proven(expected: str, given: str) -> bool:
    """Compare two proofs in constant time."""
    return hmac.compare_digest(expected.encode(), given.encode())


def _proof(ticket: str, text: str) -> str:
    return hmac.digest(ticket.encode(), text.encode(), hashlib.sha256).hex()


CLAIM_RUNNER = Operation("POST", "/api/v1/claims", ClaimRequest, Claimed, ours=True)
