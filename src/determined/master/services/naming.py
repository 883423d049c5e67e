"""Names of things that people read: no control characters, not blank, not too long."""

import unicodedata
from collections.abc import Sequence, Set
from itertools import count

from determined.errors import InvalidArgument

LONGEST = 80
LONGEST_WORKSPACE = 53
LONGEST_KEY = 5

_CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})


def checked_name(name: str, what: str) -> str:
    """Return the name without blanks around it. `what`: `workspace`, `project` or `view`."""
    name = checked_text(name, f"{what} name").strip()
    longest = LONGEST_WORKSPACE if what == "workspace" else LONGEST
    if not name:
        raise InvalidArgument(f"a {what} name must have at least one visible character")
    if len(name) > longest:
        raise InvalidArgument(f"the {what} name has {len(name)} characters; use at most {longest}")
    return name


def checked_text(text: str, what: str) -> str:
    """Return the text. Raises InvalidArgument for characters that move a terminal's cursor or end a line."""
    bad = next((c for c in text if unicodedata.category(c) in _CONTROLS), None)
    if bad is not None:
        raise InvalidArgument(f"the {what} {text[:80]!r} has the control character U+{ord(bad):04X}; remove it")
    return text


def checked_labels(labels: Sequence[str]) -> list[str]:
    """Return each of the labels once."""
    return list(dict.fromkeys(checked_text(label, "label") for label in labels))


def checked_key(key: str) -> str:
    """Project keys are short, upper case and unique in the cluster: they prefix run ids."""
    if not (1 <= len(key) <= LONGEST_KEY and key.isascii() and key.isalnum()):
        raise InvalidArgument(f"project key {key!r} is not usable; use 1 to {LONGEST_KEY} letters or digits")
    return key.upper()


def new_key(name: str, taken: Set[str]) -> str:
    """Return a free key that reminds of the name."""
    letters = "".join(c for c in name.upper() if c.isascii() and c.isalnum())[:3] or "P"
    if letters not in taken:
        return letters
    return next(key for n in count(1) if (key := _numbered(letters, n)) not in taken)


def _numbered(letters: str, n: int) -> str:
    digits = str(n)
    return letters[: max(0, LONGEST_KEY - len(digits))] + digits
