"""How a master proves to a task that it is the one which minted the task's token, without either giving it away."""

import hashlib
import hmac
from urllib.parse import quote

from determined.constants import ALLOCATION_PURPOSE


def question(allocation_id: str, nonce: bytes) -> str:
    """The path and query to ask."""
    return f"/info?allocation={quote(allocation_id, safe='')}&challenge={nonce.hex()}"


def allocation_proof(token: str, nonce: bytes) -> str:
    """The only right answer, as `proof` of the JSON object."""
    return hmac.digest(token.encode(), ALLOCATION_PURPOSE + nonce, hashlib.sha256).hex()


def is_proven(token: str, nonce: bytes, answer: object) -> bool:
    proof = answer.get("proof") if isinstance(answer, dict) else None
    return isinstance(proof, str) and hmac.compare_digest(proof.encode(), allocation_proof(token, nonce).encode())
