"""Trials in lists: filter, sort and page in SQL, then load what belongs to the page with a fixed number of queries."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import BigInteger, ColumnElement, Connection, NotNullable, func, literal, select, type_coerce

from determined.master.db.queries.batching import batches, load_in_order
from determined.master.db.queries.displayed import allocation_rank, trial_shows
from determined.master.db.rows.experiments import Trial
from determined.master.db.schema import Time, allocations, experiments, tasks, trials
from determined.master.db.statements import AnyColumn
from determined.wire.base import OrderBy
from determined.wire.experiment import GetExperimentTrialsRequestSortBy as SortBy
from determined.wire.experiment import ListTrials


class ListedTrial(Trial, frozen=True):
    """Trial with the columns of its experiment that its view needs."""

    searcher_metric: str | None
    smaller_is_better: bool
    unmanaged: bool
    owner_id: int


def find(
    conn: Connection,
    now: datetime,
    experiment_id: int,
    params: ListTrials,
    *,
    limit: int | None = None,
    offset: int = 0,
) -> list[int]:
    """List the ids of the trials that fit, in their order. `limit` and `offset` are rows, not those of `params`."""
    key, descending = _sort_key(params.sort_by or SortBy.UNSPECIFIED, now), params.order_by is OrderBy.DESC
    ordered = key.desc().nulls_last() if descending else key.asc().nulls_last()
    tie = trials.c.id.desc() if descending else trials.c.id.asc()
    query = select(trials.c.id).where(*_conditions(experiment_id, params)).order_by(ordered, tie).offset(offset)
    return list(conn.execute(query.limit(limit) if limit is not None else query).scalars())


def count(conn: Connection, experiment_id: int, params: ListTrials) -> int:
    query = select(func.count()).select_from(trials).where(*_conditions(experiment_id, params))
    return conn.execute(query).scalar_one()


def load(conn: Connection, ids: Sequence[int]) -> list[ListedTrial]:
    """Return trials in the order of `ids`; ids without a row are left out."""
    query = select(
        trials,
        experiments.c.searcher_metric,
        experiments.c.smaller_is_better,
        experiments.c.unmanaged,
        experiments.c.owner_id,
    ).join(experiments, experiments.c.id == trials.c.experiment_id)
    return load_in_order(conn, query, ListedTrial, trials.c.id, ids)


def task_ids(conn: Connection, ids: Sequence[int]) -> dict[int, list[str]]:
    """Return all tasks of trials, oldest first: a continued trial has several."""
    ids_by_trial: defaultdict[int, list[str]] = defaultdict(list)
    for some in batches(ids):
        query = select(NotNullable(tasks.c.trial_id), tasks.c.id).where(tasks.c.trial_id.in_(some))
        for trial_id, task_id in conn.execute(query.order_by(tasks.c.start_time, tasks.c.id)):
            ids_by_trial[trial_id].append(task_id)
    return dict(ids_by_trial)


def furthest_allocations(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    states: dict[int, str] = {}
    for some in batches(ids):
        query = select(NotNullable(allocations.c.trial_id), allocations.c.state).where(
            allocations.c.trial_id.in_(some), allocations.c.state != "TERMINATED"
        )
        states.update((t, s) for t, s in conn.execute(query.order_by(allocation_rank())))
    return states


def seconds_run(conn: Connection, now: datetime, ids: Sequence[int]) -> dict[int, float]:
    """Return how long the runs of each trial have lasted in all."""
    seconds: dict[int, float] = {}
    end = type_coerce(func.coalesce(allocations.c.ended_at, literal(now, Time)), BigInteger)
    lasted = func.sum(end - type_coerce(allocations.c.started_at, BigInteger))
    for some in batches(ids):
        query = (
            select(NotNullable(allocations.c.trial_id), lasted)
            .where(allocations.c.trial_id.in_(some), allocations.c.started_at.is_not(None))
            .group_by(allocations.c.trial_id)
        )
        seconds.update((t, float(micros) / 1e6) for t, micros in conn.execute(query))
    return seconds


def _conditions(experiment_id: int, params: ListTrials) -> list[ColumnElement[bool]]:
    own = trials.c.experiment_id == experiment_id
    if not params.states:
        return [own]
    return [own, trial_shows([state.removeprefix("STATE_") for state in params.states])]


def _sort_key(sort: SortBy, now: datetime) -> AnyColumn:
    column = trials.c
    if sort is SortBy.DURATION:
        end = type_coerce(func.coalesce(column.end_time, literal(now, Time)), BigInteger)
        return end - type_coerce(column.start_time, BigInteger)
    plain: dict[SortBy, AnyColumn] = {
        SortBy.UNSPECIFIED: column.id,
        SortBy.ID: column.id,
        SortBy.START_TIME: type_coerce(column.start_time, BigInteger),
        SortBy.END_TIME: type_coerce(column.end_time, BigInteger),
        SortBy.STATE: column.state,
        SortBy.BEST_VALIDATION_METRIC: column.best_validation_value,
        SortBy.LATEST_VALIDATION_METRIC: column.latest_validation_value,
        SortBy.BATCHES_PROCESSED: column.steps_completed,
        SortBy.RESTARTS: column.restarts,
        SortBy.CHECKPOINT_SIZE: column.checkpoint_size,
        SortBy.LOG_RETENTION_DAYS: column.log_retention_days,
    }
    return plain[sort]
