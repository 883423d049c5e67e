"""Passwords as upstream stored them: bcrypt over the first 72 characters of what clients send. Replaced at a login."""

from determined._imports import load_optional
from determined.errors import FailedPrecondition

_PREFIXES = ("$2a$", "$2b$", "$2y$")
_LONGEST = 72  # bytes that bcrypt looks at


def is_of_upstream(stored: str | None) -> bool:
    return stored is not None and stored.startswith(_PREFIXES)


def matches(stored: str, sent: str) -> bool:
    """Check what a client sent. Slow: upstream's cost makes it seconds; call it off the loop.

    Raises:
        FailedPrecondition: the library is missing.
    """
    try:
        bcrypt = load_optional("bcrypt", extra="upstream")
    except ImportError as e:
        raise FailedPrecondition(f"this password was imported from upstream; to check it: {e}") from e
    try:
        return bool(bcrypt.checkpw(sent.encode()[:_LONGEST], stored.encode()))
    except ValueError:  # a damaged hash matches nothing
        return False
