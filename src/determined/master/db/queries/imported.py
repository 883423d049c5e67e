"""Rows of an import: written many at a time, with the ids that they had in their source."""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, insert, literal_column, select, update

from determined.master.db import dialects
from determined.master.db.dialects import Values, upsert
from determined.master.db.queries.batching import batches
from determined.master.db.schema import (
    metadata,
    metric_ranges,
    metric_summaries,
    model_versions,
    models,
    sessions,
    trials,
    users,
)

_NUMBERED = (
    "users",
    "workspaces",
    "projects",
    "experiments",
    "trials",
    "models",
    "model_versions",
    "templates",
    "webhooks",
)
_BUILT_IN = (1, 2)  # ids of the users that every new cluster has


def insert_rows(conn: Connection, table: str, rows: Sequence[Values]) -> None:
    """Write new rows; all have the same columns."""
    if rows:
        conn.execute(insert(metadata.tables[table]), rows)


def put_rows(conn: Connection, table: str, rows: Sequence[Values], keys: Sequence[str] = ("id",)) -> None:
    """Write rows over those that have the same keys."""
    upsert(conn, metadata.tables[table], list(rows), list(keys))


def existing_ids(conn: Connection, table: str, ids: Sequence[int]) -> set[int]:
    """Return which of these ids rows of ours have."""
    column = metadata.tables[table].c.id
    return {id_ for part in batches(ids) for id_ in conn.execute(select(column).where(column.in_(part))).scalars()}


def existing_names(conn: Connection, table: str, column: str) -> dict[str, int]:
    """Return the ids of all rows by a column that is unique, such as the name of a user."""
    columns = metadata.tables[table].c
    rows = conn.execute(select(columns[column], columns.id).where(columns[column].is_not(None)))
    return {str(name): int(id_) for name, id_ in rows}


def all_ids(conn: Connection, table: str) -> set[int]:
    return set(conn.execute(select(metadata.tables[table].c.id)).scalars())


def count_versions(conn: Connection, model_ids: Sequence[int]) -> None:
    """Store with models how many versions each has; the highest number comes with the model."""
    v = model_versions.c
    counted = select(func.count(v.id)).where(v.model_id == models.c.id).scalar_subquery()
    for part in batches(model_ids):
        conn.execute(update(models).where(models.c.id.in_(part)).values(num_versions=counted))


def free_names_of_built_in_users(conn: Connection) -> None:
    """Make room for users of the source under the ids of `admin` and `determined`; nobody stays logged in as them."""
    conn.execute(delete(sessions))
    for id_ in _BUILT_IN:
        conn.execute(update(users).where(users.c.id == id_).values(username=f"built-in {id_}"))


def continue_numbers(conn: Connection) -> None:
    """Give new rows ids above the largest one that was imported."""
    for table in _NUMBERED:
        dialects.continue_ids(conn, metadata.tables[table])


def make_ranges(conn: Connection, experiment_ids: Sequence[int]) -> None:
    """Compute the ranges of experiments from the summaries of their trials."""
    s = metric_summaries.c
    for part in batches(experiment_ids):
        conn.execute(delete(metric_ranges).where(metric_ranges.c.experiment_id.in_(part)))
        query = (
            select(trials.c.experiment_id, s.group, s.name, func.min(s.min), func.max(s.max))
            .join(trials, trials.c.id == s.trial_id)
            .where(trials.c.experiment_id.in_(part), s.min.is_not(None))
            .group_by(trials.c.experiment_id, s.group, s.name)
        )
        names = ["experiment_id", "group", "name", "min", "max"]
        conn.execute(insert(metric_ranges).from_select(names, query))


def count(conn: Connection, table: str) -> int:
    return conn.execute(select(func.count(literal_column("*"))).select_from(metadata.tables[table])).scalar_one()
