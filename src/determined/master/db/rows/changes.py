"""Rows of changes, which `/stream` reads: one row per thing, written by database triggers (revision 0005).

Written by scripts/make_rows.py from db/schema/changes.py; do not edit.
"""

import msgspec


class Change(msgspec.Struct, frozen=True):
    """Latest change of each thing.

    Triggers write it in the transaction of the change, so that no code path can forget. A change gives a thing's row a
    new number; a deleted thing leaves a tombstone. There is one writer, so numbers are in the order of commits.
    """

    seq: int
    noun: str
    id: str
    parent: int | None
    value: int | None
    deleted: bool
