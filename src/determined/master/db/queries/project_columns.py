"""What the columns of a project's table are, and what they hold."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from determined.master.db.queries.batching import AnyRow
from determined.master.db.queries.query_columns import experiment_column, run_column
from determined.master.db.queries.run import of_experiments, of_runs
from determined.master.db.schema import experiments, trials


def mark(conn: Connection, project_id: int) -> AnyRow:
    """Another mark, other trials. The hyperparameters of a trial never change."""
    columns = func.count(), func.max(trials.c.id), func.sum(trials.c.id)
    return conn.execute(_trials(project_id, *columns)).one()


def hparams(conn: Connection, project_id: int) -> Iterator[dict[str, Any]]:
    yield from conn.execute(_trials(project_id, trials.c.hparams)).scalars()


def metadata(conn: Connection, project_id: int) -> Iterator[dict[str, Any]]:
    query = _trials(project_id, trials.c.metadata).where(trials.c.metadata.is_not(None))
    yield from conn.execute(query).scalars()


def distinct(conn: Connection, project_id: int, name: str, limit: int, *, of_run: bool) -> Sequence[Any]:
    """Different values of a column of runs or of experiments, sorted."""
    column = (run_column if of_run else experiment_column)(name).sql
    query = (of_runs if of_run else of_experiments)(select(column).distinct())
    query = query.where(experiments.c.project_id == project_id, column.is_not(None))
    return conn.execute(query.order_by(column).limit(limit)).scalars().all()


def _trials(project_id: int, *columns: ColumnElement[Any]) -> Select[Any]:
    joined = select(*columns).select_from(trials).join(experiments, experiments.c.id == trials.c.experiment_id)
    return joined.where(experiments.c.project_id == project_id)
