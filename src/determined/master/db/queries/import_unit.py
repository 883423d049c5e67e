"""Imports and their units: what is stored already, and what the next run takes up."""

from datetime import datetime

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.rows.imports import Import, ImportUnit, ImportUnitValues, ImportValues
from determined.master.db.schema import import_units, imports

RUNNING, DONE = "RUNNING", "DONE"


class _Stored(msgspec.Struct, frozen=True):
    ids: list[int] | None


def running(conn: Connection) -> Import | None:
    """Return the import that has begun and not ended; there is at most one."""
    return fetch.row(conn, select(imports).where(imports.c.state == RUNNING), Import)


def list_all(conn: Connection) -> list[Import]:
    return fetch.rows(conn, select(imports).order_by(imports.c.id), Import)


def start(conn: Connection, now: datetime, kind: str, source_id: str, source: str, options: JsonObject) -> int:
    """Begin an import; return its id."""
    row: ImportValues = {
        "kind": kind,
        "source_id": source_id,
        "source": source,
        "options": options,
        "state": RUNNING,
        "started_at": now,
    }
    return conn.execute(insert(imports).values(**row).returning(imports.c.id)).scalar_one()


def finish(conn: Connection, now: datetime, import_id: int) -> None:
    values: ImportValues = {"state": DONE, "ended_at": now}
    conn.execute(update(imports).where(imports.c.id == import_id).values(**values))


def remove(conn: Connection, import_id: int) -> None:
    """Forget an import and its units, as if it had never begun."""
    conn.execute(delete(imports).where(imports.c.id == import_id))


def units(conn: Connection, import_id: int) -> list[ImportUnit]:
    """List the stored units, step by step, in the order in which they were stored."""
    u = import_units.c
    query = select(import_units).where(u.import_id == import_id).order_by(u.step, u.number)
    return fetch.rows(conn, query, ImportUnit)


def add_unit(conn: Connection, values: ImportUnitValues) -> None:
    conn.execute(insert(import_units).values(**values))


def stored_ids(conn: Connection, source_id: str, step: str) -> set[int]:
    """Return the ids that all imports from a source have stored in a step."""
    query = (
        select(import_units.c.ids)
        .join(imports, imports.c.id == import_units.c.import_id)
        .where(imports.c.source_id == source_id, import_units.c.step == step)
    )
    return {id_ for row in fetch.rows(conn, query, _Stored) for id_ in row.ids or ()}
