"""Allocation tokens: derived from the cluster secret, never stored, so a launch can be rebuilt after a restart."""

import base64
import hashlib
import hmac

PREFIX = "det-alloc."


def mint(secret: bytes, allocation_id: str) -> str:
    body = base64.urlsafe_b64encode(allocation_id.encode()).decode().rstrip("=")
    return f"{PREFIX}{body}.{_sign(secret, allocation_id)}"


def verify(secret: bytes, token: str) -> str | None:
    """Return the allocation this token was minted for, in whatever state; None when it is not one of ours."""
    body, _, signature = token.removeprefix(PREFIX).rpartition(".")
    if not token.startswith(PREFIX) or not body:
        return None
    try:
        allocation_id = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode()
    except ValueError:
        return None
    expected = _sign(secret, allocation_id)
    return allocation_id if hmac.compare_digest(expected.encode(), signature.encode()) else None


def ticket(secret: bytes, allocation_id: str) -> str:
    """Return the ticket that a runner on another host shows to get the token: it is worthless once it was used."""
    digest = hmac.digest(secret, b"ticket:" + allocation_id.encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _sign(secret: bytes, allocation_id: str) -> str:
    digest = hmac.digest(secret, b"allocation:" + allocation_id.encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
