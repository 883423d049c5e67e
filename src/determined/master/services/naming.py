"""Names of workspaces and projects."""

from collections.abc import Set
from itertools import count

from determined.errors import InvalidArgument

LONGEST = 80
LONGEST_KEY = 5


def checked_name(name: str, what: str) -> str:
    """`what`: `workspace` or `project`."""
    if not name.strip():
        raise InvalidArgument(f"a {what} name must have at least one visible character")
    if len(name) > LONGEST:
        raise InvalidArgument(f"the {what} name has {len(name)} characters; use at most {LONGEST}")
    return name


def checked_key(key: str) -> str:
    """Project keys are short, upper case and unique in the cluster: they prefix run ids."""
    if not (1 <= len(key) <= LONGEST_KEY and key.isascii() and key.isalnum()):
        raise InvalidArgument(f"project key {key!r} is not usable; use 1 to {LONGEST_KEY} letters or digits")
    return key.upper()


def new_key(name: str, taken: Set[str]) -> str:
    """A free key that reminds of the name."""
    letters = "".join(c for c in name.upper() if c.isascii() and c.isalnum())[:3] or "P"
    if letters not in taken:
        return letters
    return next(key for n in count(1) if (key := _numbered(letters, n)) not in taken)


def _numbered(letters: str, n: int) -> str:
    digits = str(n)
    return letters[: max(0, LONGEST_KEY - len(digits))] + digits
