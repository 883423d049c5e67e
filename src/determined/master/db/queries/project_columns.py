"""What the columns of a project's table are, and what they hold."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select, union

from determined.master.db.queries.batching import AnyRow, batches
from determined.master.db.queries.run import of_experiments, of_runs
from determined.master.db.queries.search_columns import experiment_column, run_column
from determined.master.db.schema import experiments, metric_summaries, trials


def metrics(conn: Connection, project_id: int) -> list[tuple[str, str]]:
    """(group, name) of every metric of numbers that trials of the project have reported, sorted."""
    # of the primary key alone: with a value of the row it takes six times longer
    names = _metrics(project_id).distinct()
    every = {(group, name) for group, name in conn.execute(names)}
    for part in batches(sorted({name for _, name in every - _surely_numbers(conn, project_id, names)})):
        doubtful = conn.execute(names.where(metric_summaries.c.min.is_(None), metric_summaries.c.name.in_(part)))
        every -= {(group, name) for group, name in doubtful if not _has_numbers(conn, project_id, group, name)}
    return sorted(every)


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


def _surely_numbers(conn: Connection, project_id: int, names: Select[Any]) -> set[tuple[str, str]]:
    """What the first or the last trial of an experiment has reported as numbers: nearly always all there is."""
    of_project = [
        _trials(project_id, pick(trials.c.id)).group_by(trials.c.experiment_id) for pick in (func.min, func.max)
    ]
    found = names.where(trials.c.id.in_(union(*of_project)), metric_summaries.c.min.is_not(None))
    return {(group, name) for group, name in conn.execute(found)}


def _has_numbers(conn: Connection, project_id: int, group: str, name: str) -> bool:
    m = metric_summaries.c
    query = _metrics(project_id).where(m.group == group, m.name == name, m.min.is_not(None))
    return conn.execute(query.limit(1)).first() is not None


def _metrics(project_id: int) -> Select[Any]:
    m = metric_summaries.c
    return _trials(project_id, m.group, m.name).join(metric_summaries, m.trial_id == trials.c.id)


def _trials(project_id: int, *columns: ColumnElement[Any]) -> Select[Any]:
    joined = select(*columns).select_from(trials).join(experiments, experiments.c.id == trials.c.experiment_id)
    return joined.where(experiments.c.project_id == project_id)
