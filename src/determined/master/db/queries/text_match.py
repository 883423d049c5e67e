"""Text conditions that mean the same on both dialects: contains and starts, ignoring case; a label in a JSON list."""

from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Text, cast, func

_ESCAPE = "\\"


def contains(column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
    lowered = func.lower(func.coalesce(cast(column, Text), ""))
    return lowered.like(f"%{_literal(text.lower())}%", escape=_ESCAPE)


def starts(column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
    return func.lower(func.coalesce(cast(column, Text), "")).like(f"{_literal(text.lower())}%", escape=_ESCAPE)


def has_label(labels: ColumnElement[Any], label: str) -> ColumnElement[bool]:
    """A JSON list holds each label as a quoted string; quotes inside labels are escaped, so this is exact."""
    quoted = msgspec.json.encode(label).decode()
    return cast(labels, Text).like(f"%{_literal(quoted)}%", escape=_ESCAPE)


def _literal(text: str) -> str:
    return text.replace(_ESCAPE, _ESCAPE * 2).replace("%", _ESCAPE + "%").replace("_", _ESCAPE + "_")
