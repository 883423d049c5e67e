"""Rows of an import: written many at a time, with the ids that they had in their source."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, case, delete, func, insert, literal_column, select, update

from determined.master.db import dialects
from determined.master.db.dialects import Values, upsert
from determined.master.db.queries.batching import batches
from determined.master.db.schema import (
    experiments,
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


@dataclass(slots=True)
class TrackedHere:
    """Experiment of another tracker that was stored. `trials`: ids by the id that each had there."""

    id: int
    job_id: str
    trials: dict[str, int] = field(default_factory=dict)


def insert_rows(conn: Connection, table: str, rows: Sequence[Values]) -> None:
    """Write new rows; all have the same columns."""
    if rows:
        conn.execute(insert(metadata.tables[table]), rows)


def insert_numbered(conn: Connection, table: str, values: Values) -> int:
    """Write one row; return the id that the database gave it."""
    rows = metadata.tables[table]
    return int(conn.execute(insert(rows).values(**values).returning(rows.c.id)).scalar_one())


def tracked(conn: Connection, prefix: str) -> dict[str, TrackedHere]:
    """Return the experiments whose external id begins with `prefix`, by that id."""
    e, t = experiments.c, trials.c
    query = (
        select(e.external_id, e.id, e.job_id, t.external_id, t.id)
        .outerjoin(trials, t.experiment_id == e.id)
        .where(e.external_id.startswith(prefix, autoescape=True))
    )
    experiments_by_external_id: dict[str, TrackedHere] = {}
    for external_id, experiment_id, job_id, trial, trial_id in conn.execute(query):
        here = experiments_by_external_id.setdefault(str(external_id), TrackedHere(experiment_id, job_id))
        if trial is not None:
            here.trials[trial] = trial_id
    return experiments_by_external_id


def put_rows(conn: Connection, table: str, rows: Sequence[Values], keys: Sequence[str] = ("id",)) -> None:
    """Write rows over those that have the same keys."""
    upsert(conn, metadata.tables[table], list(rows), list(keys))


def existing_ids(conn: Connection, table: str, ids: Sequence[int]) -> set[int]:
    """Return which of these ids rows of ours have."""
    column = metadata.tables[table].c.id
    return {id_ for part in batches(ids) for id_ in conn.execute(select(column).where(column.in_(part))).scalars()}


def existing_keys(conn: Connection, table: str, column: str, keys: Sequence[str]) -> set[str]:
    """Return which of these texts rows of ours have in a column."""
    own = metadata.tables[table].c[column]
    return {key for part in batches(keys) for key in conn.execute(select(own).where(own.in_(part))).scalars()}


def existing_names(conn: Connection, table: str, column: str) -> dict[str, int]:
    """Return the ids of all rows by a column that is unique, such as the name of a user."""
    columns = metadata.tables[table].c
    rows = conn.execute(select(columns[column], columns.id).where(columns[column].is_not(None)))
    return {str(name): int(id_) for name, id_ in rows}


def all_ids(conn: Connection, table: str) -> set[int]:
    return set(conn.execute(select(metadata.tables[table].c.id)).scalars())


def version_ids(conn: Connection) -> dict[tuple[int, int], int]:
    """Return the ids of all versions of models by model and number."""
    v = model_versions.c
    return {(model, version): id_ for model, version, id_ in conn.execute(select(v.model_id, v.version, v.id))}


def count_versions(conn: Connection, model_ids: Sequence[int]) -> None:
    """Store with models how many versions each has, and that the next one gets a number above theirs."""
    v, m = model_versions.c, models.c
    counted = select(func.count(v.id)).where(v.model_id == m.id).scalar_subquery()
    highest = select(func.max(v.version)).where(v.model_id == m.id).scalar_subquery()
    last = case((highest > m.last_version, highest), else_=m.last_version)
    for part in batches(model_ids):
        conn.execute(update(models).where(m.id.in_(part)).values(num_versions=counted, last_version=last))


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
