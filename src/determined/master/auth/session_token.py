"""Session and access tokens: opaque random text; the database holds only a digest of it."""

import hashlib
import secrets
from datetime import timedelta

SESSION_LIFETIME = timedelta(days=7)
SESSION_COOKIE = "auth"
# Under TLS: no other host below the same domain, such as one of an app, can set a cookie of that name for ours.
SECURE_SESSION_COOKIE = "__Host-auth"


def new_token() -> str:
    return secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """Return the digest that is stored. A plain one is enough: the token itself has 256 random bits."""
    return hashlib.sha256(token.encode()).hexdigest()
