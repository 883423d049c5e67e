"""Passwords: argon2 over the salted sha512 that clients send, so that plaintext and hashed submissions agree."""

import hashlib

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from determined.constants import PASSWORD_SALT
from determined.master.auth import upstream_password

UNUSABLE = "!"  # a stored value that no password matches: users who log in elsewhere

# About 25 ms of one core: slow for a thief of the table, quick for a person.
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
# Verified for users who do not exist, so that the answer takes as long as for those who do: what `_hasher` made of
# "nobody has this password". Written down, as each start of a master would wait for it.
_DECOY = "$argon2id$v=19$m=19456,t=2,p=1$3DlhcTG9DlJOxrNqZLUrOg$l+Gp9No2d4R+M5ToM/plYTrh/zurfoAP1I0+qUruSb8"


def client_hash(plaintext: str) -> str:
    """Return what the clients send for a password: hex sha512 of salt + password; a blank one stays blank."""
    if not plaintext:
        return ""
    return hashlib.sha512((PASSWORD_SALT + plaintext).encode()).hexdigest()


def stored_hash(password: str, *, is_hashed: bool) -> str | None:
    """Return the value for `users.password_hash`; None for a blank password. Slow: call it off the loop."""
    sent = password if is_hashed else client_hash(password)
    return _hasher.hash(sent) if sent else None


def matches(stored: str | None, password: str, *, is_hashed: bool) -> bool:
    """Slow: call it off the loop."""
    sent = password if is_hashed else client_hash(password)
    if stored is None or not sent:
        return stored is None and not sent
    if upstream_password.is_of_upstream(stored):
        return upstream_password.matches(stored, sent)
    try:
        return _hasher.verify(stored, sent)
    except (VerificationError, InvalidHashError):
        return False


def verify_dummy(password: str) -> None:
    """Spend what `matches` would for a user with a password."""
    matches(_DECOY, password or "blank", is_hashed=True)
