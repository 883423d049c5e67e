"""Proof by a master to a task, or to its own user's client, of who it is, without giving away the shared secret.

The secret is the task's token, or the identity in the state file of an embedded master. The proof covers the caller's
nonce and the address of the master (`_bound_address`): one that was relayed from another address is not right.
"""

import hashlib
import hmac
from collections.abc import Iterable
from urllib.parse import quote

from determined.constants import ALLOCATION_PURPOSE, IDENTITY_PURPOSE


def question(nonce: bytes, allocation_id: str | None = None) -> str:
    """Return the path and query to ask; without `allocation_id` the master of a state file is asked."""
    allocation = f"allocation={quote(allocation_id, safe='')}&" if allocation_id is not None else ""
    return f"/info?{allocation}challenge={nonce.hex()}"


def allocation_proof(token: str, nonce: bytes, address: str) -> str:
    """Prove to a task that its token is known at `address`."""
    return _proof(token.encode(), ALLOCATION_PURPOSE, nonce, address)


def identity_proof(secret: bytes, nonce: bytes, address: str) -> str:
    """Prove to a client that the secret of its state file is known at `address`."""
    return _proof(secret, IDENTITY_PURPOSE, nonce, address)


def answer(proofs: Iterable[str]) -> dict[str, list[str]]:
    """Return the part of the JSON object that carries the proofs: one for each address of the master."""
    return {"proofs": list(proofs)}


def is_proven(expected: str, answer: object) -> bool:
    """Return whether one of the proofs in the answer is the expected one."""
    given = answer.get("proofs") if isinstance(answer, dict) else None
    proofs = given if isinstance(given, list) else []
    return any(isinstance(proof, str) and _is_same(proof, expected) for proof in proofs)


def _is_same(proof: str, expected: str) -> bool:
    return hmac.compare_digest(proof.encode(errors="replace"), expected.encode())


def _proof(secret: bytes, purpose: bytes, nonce: bytes, address: str) -> str:
    return hmac.digest(secret, purpose + f"{nonce.hex()}@{address}".encode(), hashlib.sha256).hex()
