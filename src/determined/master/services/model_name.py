"""Names of models and of aliases: what they may look like, and finding a model by the word in a path."""

import re

from sqlalchemy import Connection

from determined.errors import InvalidArgument, NotFound
from determined.master.db.queries import model as models
from determined.master.db.queries.model import ModelDetail
from determined.master.services.naming import checked_text
from determined.wire.base import MAX_INT64
from determined.wire.model_version import LATEST

LONGEST = 255
LONGEST_ALIAS = 100

_ID = re.compile(r"[0-9]+")
_ALIAS = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")


def checked_model_name(name: str) -> str:
    """Return the name. Raises InvalidArgument for one that a path could not tell from an id or another path."""
    checked_text(name, "model name")
    if not name.strip():
        raise InvalidArgument("the name of a model cannot be blank; give it at least one visible character")
    if "  " in name:
        raise InvalidArgument(f"model name {name[:80]!r} has excessive spacing; use one space between words")
    if "/" in name or "\\" in name:
        raise InvalidArgument(f"model name {name[:80]!r} has slashes; use another character")
    if name.strip().isdigit():
        raise InvalidArgument(f"model name {name[:80]!r} has only numbers, as ids have; add a letter")
    if name in (".", ".."):
        raise InvalidArgument(f"model name {name!r} means another path in addresses; use another name")
    if len(name) > LONGEST:
        raise InvalidArgument(f"the model name has {len(name)} characters; use at most {LONGEST}")
    return name


def checked_alias(alias: str) -> str:
    """Return the alias. Raises InvalidArgument."""
    if len(alias) > LONGEST_ALIAS or _ALIAS.fullmatch(alias) is None:
        raise InvalidArgument(
            f"alias {alias[:80]!r} is not usable; begin with a letter and use letters, digits, '.', '_' and '-',"
            f" at most {LONGEST_ALIAS}"
        )
    if alias == LATEST:
        raise InvalidArgument(f"alias {LATEST!r} always means the highest version; use another name")
    return alias


def existing_model(conn: Connection, word: str) -> ModelDetail:
    """Find a model by its name, or by its id where the word is all digits. Raises NotFound."""
    if _ID.fullmatch(word):
        row = models.get(conn, int(word)) if len(word) < 20 and int(word) <= MAX_INT64 else None
    else:
        row = models.by_name(conn, word)
    if row is None:
        raise NotFound(f'model "{word[:LONGEST]}" not found')
    return row
