"""Imports that keep the ids of their source, those of bundles and of upstream: what is missing here, and the end."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection

from determined.master.db.queries import import_unit, imported
from determined.master.importing.target import Target


def missing(target: Target, table: str, ids: Sequence[int]) -> Iterator[str]:
    """Say for people which rows of a table are not here."""
    stored = target.read(lambda conn: imported.existing_ids(conn, table, ids))
    return (f"{table} {id_} is missing" for id_ in ids if id_ not in stored)


def finish(import_id: int, conn: Connection) -> None:
    """End an import: new things get ids above its own."""
    imported.continue_numbers(conn)
    import_unit.finish(conn, datetime.now(UTC), import_id)
