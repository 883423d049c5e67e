"""Allocation tokens: derived from the cluster secret, never stored, so a launch can be rebuilt after a restart."""

import base64
import hashlib
import hmac

PREFIX = "det-alloc."
OWNER_PREFIX = "det-owner."  # of the token by which programs in a notebook or shell act for its owner
_LABELS = {PREFIX: b"allocation:", OWNER_PREFIX: b"owner:"}


def mint(secret: bytes, allocation_id: str) -> str:
    return _mint(secret, allocation_id, PREFIX)


def mint_for_owner(secret: bytes, allocation_id: str) -> str:
    return _mint(secret, allocation_id, OWNER_PREFIX)


def _mint(secret: bytes, allocation_id: str, prefix: str) -> str:
    body = base64.urlsafe_b64encode(allocation_id.encode()).decode().rstrip("=")
    return f"{prefix}{body}.{_sign(secret, allocation_id, prefix)}"


def verify(secret: bytes, token: str, prefix: str = PREFIX) -> str | None:
    """Return the allocation this token was minted for, in whatever state; None when it is not one of ours."""
    body, _, signature = token.removeprefix(prefix).rpartition(".")
    if not token.startswith(prefix) or not body:
        return None
    try:
        allocation_id = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode()
    except ValueError:
        return None
    expected = _sign(secret, allocation_id, prefix)
    return allocation_id if hmac.compare_digest(expected.encode(), signature.encode()) else None


def ticket(secret: bytes, allocation_id: str) -> str:
    """Return the ticket that a runner on another host shows to get the token: it is worthless once it was used."""
    digest = hmac.digest(secret, b"ticket:" + allocation_id.encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def app_token(secret: bytes, allocation_id: str) -> str:
    """Return the token that the master shows to the app of a task (Jupyter), and nobody else."""
    return hmac.digest(secret, b"app:" + allocation_id.encode(), hashlib.sha256).hex()


def share_token(secret: bytes, allocation_id: str, link: int) -> str:
    """Return the token in the link by which the owner of a task shares its service; `link` is its number."""
    return hmac.digest(secret, f"share:{link}:{allocation_id}".encode(), hashlib.sha256).hex()


def _sign(secret: bytes, allocation_id: str, prefix: str) -> str:
    digest = hmac.digest(secret, _LABELS[prefix] + allocation_id.encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
