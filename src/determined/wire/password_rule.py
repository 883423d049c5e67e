"""Rule for passwords, for the client that asks for one and the master that stores it."""

import re

_HASHED = re.compile(r"[0-9a-f]{128}")


def rules(password: str) -> list[tuple[bool, str]]:
    """(kept or not, rule) of each."""
    return [
        (len(password) >= 8, "at least 8 characters"),
        (any(c.isupper() for c in password), "an upper-case letter"),
        (any(c.islower() for c in password), "a lower-case letter"),
        (any(c.isdigit() for c in password), "a digit"),
    ]


def unmet(password: str) -> list[str]:
    """Return the rules that the password does not keep."""
    return [rule for kept, rule in rules(password) if not kept]


def is_client_hash(text: str) -> bool:
    """Return whether this is what clients send in place of a password: a SHA-512 in hexadecimal."""
    return _HASHED.fullmatch(text) is not None
