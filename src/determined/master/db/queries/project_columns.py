"""Values of the columns of a project's table."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVarTuple

from sqlalchemy import Connection, NotNullable, Select, func, select

from determined._json import JsonObject
from determined.master.db.queries.query_columns import experiment_column, run_column
from determined.master.db.queries.run import of_experiments, of_runs
from determined.master.db.schema import experiments, trials

Ts = TypeVarTuple("Ts")


def mark(conn: Connection, project_id: int) -> tuple[int, int, int]:
    """Return another mark for other trials. The hyperparameters of a trial never change."""
    query = select(func.count(), func.coalesce(func.max(trials.c.id), 0), func.coalesce(func.sum(trials.c.id), 0))
    number, newest, total = conn.execute(_of_project(query, project_id)).one()
    return number, newest, int(total)


def hparams(conn: Connection, project_id: int) -> Iterator[JsonObject]:
    yield from conn.execute(_of_project(select(trials.c.hparams), project_id)).scalars()


def metadata(conn: Connection, project_id: int) -> Iterator[JsonObject]:
    query = _of_project(select(NotNullable(trials.c.metadata)), project_id).where(trials.c.metadata.is_not(None))
    yield from conn.execute(query).scalars()


def distinct(conn: Connection, project_id: int, name: str, limit: int, *, of_run: bool) -> Sequence[Any]:
    """Return different values of a column of runs or of experiments, sorted."""
    column = (run_column if of_run else experiment_column)(name).sql
    query = (of_runs if of_run else of_experiments)(select(column).distinct())
    query = query.where(experiments.c.project_id == project_id, column.is_not(None))
    return conn.execute(query.order_by(column).limit(limit)).scalars().all()


def _of_project(query: Select[*Ts], project_id: int) -> Select[*Ts]:
    joined = query.select_from(trials).join(experiments, experiments.c.id == trials.c.experiment_id)
    return joined.where(experiments.c.project_id == project_id)
