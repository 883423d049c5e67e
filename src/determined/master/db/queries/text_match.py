"""Text conditions that mean the same on both dialects, ignoring case; and a label in a JSON list."""

from collections.abc import Sequence

import msgspec
from sqlalchemy import ColumnElement, Text, cast, func, literal

from determined.errors import InvalidArgument
from determined.master.db.dialects import TextPosition, UnicodeLower
from determined.master.db.statements import AnyColumn

_ESCAPE = "\\"
_MOST_LABELS = 500
_LONGEST_PATTERN = 50_000  # bytes: SQLite takes no longer one


def contains(column: AnyColumn, text: str) -> ColumnElement[bool]:
    return _lowered(column, text).like(_pattern("%", text.lower()), escape=_ESCAPE)


def starts(column: AnyColumn, text: str) -> ColumnElement[bool]:
    return _lowered(column, text).like(_pattern("", text.lower()), escape=_ESCAPE)


def equals(column: AnyColumn, text: str) -> ColumnElement[bool]:
    return _lowered(column, text) == text.lower()


def has_label(labels: AnyColumn, label: str) -> ColumnElement[bool]:
    """Match a label: a JSON list holds each as a quoted string; quotes inside are escaped, so this is exact."""
    quoted = msgspec.json.encode(label).decode()
    return TextPosition(cast(labels, Text), literal(quoted)) > 0


def has_labels(labels: AnyColumn, wanted: Sequence[str]) -> list[ColumnElement[bool]]:
    """Return a condition for each label. Raises InvalidArgument for more than SQLite takes in one expression."""
    if len(wanted) > _MOST_LABELS:
        raise InvalidArgument(f"{len(wanted)} labels are too many for one filter; name at most {_MOST_LABELS}")
    return [has_label(labels, label) for label in wanted]


def _lowered(column: AnyColumn, text: str) -> ColumnElement[str]:
    """SQLite's own `lower` knows ASCII alone and is quicker; so ours is used only where that makes a difference."""
    value = func.coalesce(cast(column, Text), "")
    return func.lower(value) if text.isascii() else UnicodeLower(value)


def _pattern(before: str, text: str) -> str:
    pattern = f"{before}{_literal(text)}%"
    if len(pattern.encode()) > _LONGEST_PATTERN:
        raise InvalidArgument(f"text of {len(text)} characters is too long to be searched for; shorten it")
    return pattern


def _literal(text: str) -> str:
    return text.replace(_ESCAPE, _ESCAPE * 2).replace("%", _ESCAPE + "%").replace("_", _ESCAPE + "_")
