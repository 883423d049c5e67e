"""Rows of trials: get, insert, update, and those the lifecycle must look at. Lists live in trial_list.py."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

import msgspec
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from determined.master.db import fetch
from determined.master.db.prepared import prepare
from determined.master.db.queries.batching import batches
from determined.master.db.rows.experiments import Trial, TrialValues
from determined.master.db.schema import allocations, checkpoints, experiments, jobs, log_policy_hits, tasks, trials

# Statements that every trial needs are built once: building one costs more than running it.
_GET = prepare(select(trials).where(trials.c.id == bindparam("this")))
_UPDATE = prepare(update(trials).where(trials.c.id == bindparam("this")))
_INSERT = prepare(insert(trials).returning(trials.c.task_id, trials.c.id))
_BY_REQUEST = prepare(
    select(trials).where(trials.c.experiment_id == bindparam("experiment"), trials.c.request_id == bindparam("request"))
)
_ALL = 2**31 - 1
_LOOKED_AT = 2000  # trials in one look at those that want to run
_WAITING_COUNTS = prepare(
    select(trials.c.experiment_id, func.count())
    .join(allocations, allocations.c.trial_id == trials.c.id)
    .where(allocations.c.ended_at.is_(None), allocations.c.state == "PENDING")
    .group_by(trials.c.experiment_id)
)
_LATEST_CHECKPOINT = prepare(
    select(checkpoints.c.uuid, checkpoints.c.steps_completed)
    .where(
        checkpoints.c.trial_id == bindparam("trial"),
        checkpoints.c.state == "COMPLETED",
        checkpoints.c.delete_requested_at.is_(None),
    )
    .order_by(checkpoints.c.steps_completed.desc(), checkpoints.c.report_time.desc())
    .limit(1)
)
_POLICY_HITS = prepare(
    select(log_policy_hits.c.node_id).where(
        log_policy_hits.c.task_id == bindparam("task"), log_policy_hits.c.action == bindparam("action")
    )
)


class ExitedTrial(msgspec.Struct, frozen=True):
    id: int
    request_id: str
    state: str
    early_exit: str | None


class WaitingTrial(msgspec.Struct, frozen=True):
    id: int
    task_id: str
    run_id: int
    experiment_id: int
    pool: str


class CheckpointSteps(msgspec.Struct, frozen=True):
    uuid: str
    steps_completed: int


def get(conn: Connection, trial_id: int) -> Trial:
    """Return the trial. Raises NotFound."""
    return fetch.existing(fetch.row(conn, _GET, Trial, {"this": trial_id}), f"trial {trial_id} not found")


def by_request(conn: Connection, experiment_id: int, request_id: str) -> Trial | None:
    return fetch.row(conn, _BY_REQUEST, Trial, {"experiment": experiment_id, "request": request_id})


def by_requests(conn: Connection, experiment_id: int, request_ids: Sequence[str]) -> dict[str, Trial]:
    if len(request_ids) == 1:  # nearly always
        trial = by_request(conn, experiment_id, request_ids[0])
        return {} if trial is None else {trial.request_id: trial}
    trials_by_request: dict[str, Trial] = {}
    for some in batches(request_ids):
        chosen = (trials.c.experiment_id == experiment_id, trials.c.request_id.in_(some))
        found = fetch.rows(conn, select(trials).where(*chosen), Trial)
        trials_by_request |= {trial.request_id: trial for trial in found}
    return trials_by_request


def insert_rows(conn: Connection, rows: list[TrialValues]) -> dict[str, int]:
    """Insert rows of one shape; return the new ids by task id."""
    if not rows:
        return {}
    if len(rows) == 1:  # nearly always
        return dict(fetch.tuples(conn, _INSERT, rows[0]))
    return dict(conn.execute(_INSERT, rows).all())


def update_row(conn: Connection, trial_id: int, values: TrialValues) -> None:
    fetch.change(conn, _UPDATE, {"this": trial_id, **values})


def of_experiment(conn: Connection, experiment_id: int) -> list[Trial]:
    statement = select(trials).where(trials.c.experiment_id == experiment_id).order_by(trials.c.id)
    return fetch.rows(conn, statement, Trial)


def with_live_allocation(conn: Connection, experiment_id: int) -> Sequence[tuple[int, str]]:
    """Return id and state of each trial that has a live allocation."""
    statement = select(trials.c.id, trials.c.state).where(*_open(experiment_id), _has_live_allocation())
    return sorted((trial_id, state) for trial_id, state in conn.execute(statement))


def idle(conn: Connection, experiment_id: int, states: Sequence[str], limit: int) -> Sequence[int]:
    """Return trials in one of `states` that have no live allocation, `limit` at most."""
    chosen = (*_open(experiment_id), trials.c.state.in_(list(states)), ~_has_live_allocation())
    return conn.execute(select(trials.c.id).where(*chosen).limit(limit)).scalars().all()


def update_rows(conn: Connection, trial_ids: Sequence[int], values: TrialValues) -> None:
    """Update rows with the same values for all."""
    if len(trial_ids) == 1:
        update_row(conn, trial_ids[0], values)
        return
    for some in batches(trial_ids):
        conn.execute(update(trials).where(trials.c.id.in_(some)).values(**values))


def update_each(conn: Connection, values: dict[int, TrialValues]) -> None:
    """Update trials by id, with values of the same columns for all."""
    fetch.change_each(conn, _UPDATE, [{"this": trial_id, **row} for trial_id, row in values.items()])


def unreported_exits(
    conn: Connection, experiment_id: int, terminal: Sequence[str], limit: int | None = None
) -> list[ExitedTrial]:
    """Return trials that have ended and of whose end the searcher does not know yet, by id; `limit` at most.

    Sorted here: told to sort, SQLite takes the index of all trials instead of the one of the open ones.
    """
    statement = _unreported_exits(tuple(terminal))
    given = {"experiment": experiment_id, "limit": _ALL if limit is None else limit}
    return sorted(fetch.rows(conn, statement, ExitedTrial, given), key=lambda trial: trial.id)


def mark_reported(conn: Connection, trial_ids: Sequence[int]) -> None:
    update_rows(conn, trial_ids, {"exit_reported": True})


def wanting_allocation(conn: Connection, queue_limit: int) -> list[WaitingTrial]:
    """ACTIVE trials of managed experiments that have work to do and no live allocation, with their job's pool.

    None of an experiment of which `queue_limit` already wait, and not all at once: a big search would make every look
    at the queue slow.
    """
    full = [experiment_id for experiment_id, count in waiting_counts(conn).items() if count >= queue_limit]
    if full:
        chosen = _WANTING_ALLOCATION.where(trials.c.experiment_id.not_in(full))
        return fetch.rows(conn, chosen, WaitingTrial)
    return fetch.rows(conn, _WANTING_ALLOCATION, WaitingTrial)


def waiting_counts(conn: Connection) -> defaultdict[int, int]:
    """Count the allocations of each experiment that wait for slots."""
    return defaultdict(int, fetch.tuples(conn, _WAITING_COUNTS))


def latest_checkpoint(conn: Connection, trial_id: int) -> CheckpointSteps | None:
    """Return the trial's own COMPLETED checkpoint with the most steps, unless somebody asked to delete it."""
    return fetch.row(conn, _LATEST_CHECKPOINT, CheckpointSteps, {"trial": trial_id})


def task_count(conn: Connection, trial_id: int) -> int:
    statement = select(func.count()).select_from(tasks).where(tasks.c.trial_id == trial_id)
    return int(conn.execute(statement).scalar_one())


def policy_hits(conn: Connection, task_id: str, action: str) -> Sequence[str]:
    """Node ids of the log policy hits of a task (empty text for actions that name no node)."""
    return [node_id for (node_id,) in fetch.tuples(conn, _POLICY_HITS, {"task": task_id, "action": action})]


def _open(experiment_id: int) -> tuple[ColumnElement[bool], ...]:
    """Select trials whose end the searcher does not know; a live one is always among them."""
    return trials.c.experiment_id == experiment_id, trials.c.exit_reported.is_(False)


def _has_live_allocation() -> ColumnElement[bool]:
    return exists().where(allocations.c.trial_id == trials.c.id, allocations.c.ended_at.is_(None))


@cache
def _unreported_exits(terminal: tuple[str, ...]) -> Select[int, str, str, str | None]:
    t = trials.c
    return prepare(
        select(t.id, t.request_id, t.state, t.early_exit)
        .where(
            t.experiment_id == bindparam("experiment"),
            t.exit_reported.is_(False),
            t.state.in_([literal(state) for state in terminal]),
        )
        .limit(bindparam("limit", type_=BigInteger))
    )


def _wanting_allocation() -> Select[int, str, int, int, str]:
    late = experiments.c.generation != "classic"
    open_operation = and_(
        trials.c.op_length.is_not(None),
        or_(trials.c.op_completed.is_(None), trials.c.op_completed < trials.c.op_length),
    )
    return (
        select(
            trials.c.id,
            trials.c.task_id,
            trials.c.run_id,
            experiments.c.id.label("experiment_id"),
            jobs.c.pool,
        )
        .join(experiments, experiments.c.id == trials.c.experiment_id)
        .join(jobs, jobs.c.id == experiments.c.job_id)
        .where(
            trials.c.state == "ACTIVE",
            experiments.c.state == "ACTIVE",  # the trials of a large experiment follow its state in pieces
            experiments.c.unmanaged.is_(False),
            trials.c.early_stopped.is_(False),
            trials.c.early_exit.is_(None),
            or_(late, open_operation),
            ~_has_live_allocation(),
        )
        .order_by(trials.c.id)
        .limit(_LOOKED_AT)
    )


_WANTING_ALLOCATION = prepare(_wanting_allocation())
