"""Rows of imports from other systems: what was asked for, and which units of it are stored.

Written by scripts/make_rows.py from db/schema/imports.py; do not edit.
"""

from datetime import datetime
from typing import TypedDict

import msgspec

from determined._json import JsonObject


class Import(msgspec.Struct, frozen=True):
    """Imports. While one is RUNNING no master starts on the database, so nobody sees half of it."""

    id: int
    kind: str
    source_id: str
    source: str
    options: JsonObject
    state: str
    started_at: datetime
    ended_at: datetime | None


class ImportValues(TypedDict, total=False):
    id: int
    kind: str
    source_id: str
    source: str
    options: JsonObject
    state: str
    started_at: datetime
    ended_at: datetime | None


class ImportUnit(msgspec.Struct, frozen=True):
    """Units of an import, each written in the transaction that stores its rows."""

    import_id: int
    step: str
    number: int
    rows: int
    checksum: str
    upto: list[int] | None
    ids: list[int] | None
    notes: JsonObject


class ImportUnitValues(TypedDict, total=False):
    import_id: int
    step: str
    number: int
    rows: int
    checksum: str
    upto: list[int] | None
    ids: list[int] | None
    notes: JsonObject
