"""User names and display names: nobody may be taken for somebody else."""

import unicodedata

from sqlalchemy import Connection

from determined.errors import AlreadyExists, InvalidArgument
from determined.master.db.queries import user as users
from determined.master.services.bootstrap import ADMIN, ORDINARY
from determined.master.services.naming import checked_text

_SHORTEST, _LONGEST = 2, 250
# Letters of other alphabets that look like Latin ones.
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u0456\u0458\u043a\u043c\u043f\u043e\u0440\u0441\u0455\u0442\u0443\u0445\u04bb"
    "\u0501\u051b\u051d\u03b1\u03b9\u03bd\u03bf\u03c1\u03c4\u03c5",
    "aeijkmnopcstyxhdqwaivoptu",
)


def checked_username(username: str) -> str:
    """Return the name as it is stored: trimmed, in lower case."""
    name = username.strip().lower()
    usable = name.isascii() and name.isprintable() and "/" not in name and _SHORTEST <= len(name) <= _LONGEST
    if not usable:
        raise InvalidArgument(
            f"username={username[:80]!r} is not usable;"
            f" use {_SHORTEST} to {_LONGEST} printable ASCII characters without '/'"
        )
    return name


def checked_display_name(name: str) -> str:
    """Trimmed; a blank one is none."""
    name = checked_text(name, "display name").strip()
    if len(name) > _LONGEST:
        raise InvalidArgument(f"the display name has {len(name)} characters; use at most {_LONGEST}")
    return name


def require_free_username(conn: Connection, username: str, *, admin: bool) -> None:
    """`admin`: whether the one who is to have it is an administrator."""
    if users.by_name(conn, username) is not None:
        raise AlreadyExists(f"there is already a user '{username}' (user already exists); pick another name")
    if username == ORDINARY or (username == ADMIN and not admin):
        raise InvalidArgument(f"the user name '{username}' is kept for the built-in user; pick another name")


def require_own_display_name(conn: Connection, name: str, user_id: int | None) -> None:
    """Refuse a name that reads like another user's: InvalidArgument. `user_id`: its owner; None for a new user."""
    shape = _shape(name)
    if not shape:
        return
    for row in users.list_all(conn):
        if row.id != user_id and shape in (_shape(row.username), _shape(row.display_name)):
            other = f"the name of user '{row.username}'"
            raise InvalidArgument(f"the display name {name!r} is similar to {other}; pick another")


def _shape(name: str) -> str:
    """Return what is left when case, width, accents of compatibility and look-alike letters are taken away."""
    return unicodedata.normalize("NFKC", name).casefold().translate(_LOOKALIKES).strip()
