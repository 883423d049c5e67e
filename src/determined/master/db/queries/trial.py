"""Rows of trials: get, insert, update, and those the lifecycle must look at. Lists live in trial_list.py."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, exists, func, insert, or_, select, update

from determined.errors import NotFound
from determined.master.db.schema import allocations, checkpoints, experiments, jobs, log_policy_hits, tasks, trials


def get(conn: Connection, trial_id: int) -> RowMapping:
    """Raises NotFound."""
    row = conn.execute(select(trials).where(trials.c.id == trial_id)).mappings().one_or_none()
    if row is None:
        raise NotFound(f"trial {trial_id} not found")
    return row


def by_request(conn: Connection, experiment_id: int, request_id: str) -> RowMapping | None:
    statement = select(trials).where(trials.c.experiment_id == experiment_id, trials.c.request_id == request_id)
    return conn.execute(statement).mappings().one_or_none()


def insert_row(conn: Connection, values: dict[str, Any]) -> int:
    return int(conn.execute(insert(trials).values(**values).returning(trials.c.id)).scalar_one())


def update_row(conn: Connection, trial_id: int, values: dict[str, Any]) -> None:
    conn.execute(update(trials).where(trials.c.id == trial_id).values(**values))


def of_experiment(conn: Connection, experiment_id: int) -> Sequence[RowMapping]:
    statement = select(trials).where(trials.c.experiment_id == experiment_id).order_by(trials.c.id)
    return conn.execute(statement).mappings().all()


def outside_states(conn: Connection, experiment_id: int, states: Sequence[str]) -> Sequence[RowMapping]:
    statement = (
        select(trials)
        .where(trials.c.experiment_id == experiment_id, trials.c.state.not_in(list(states)))
        .order_by(trials.c.id)
    )
    return conn.execute(statement).mappings().all()


def next_unreported_exit(conn: Connection, experiment_id: int, terminal: Sequence[str]) -> RowMapping | None:
    """A trial that has ended and of whose end the searcher does not know yet."""
    statement = (
        select(trials)
        .where(
            trials.c.experiment_id == experiment_id,
            trials.c.state.in_(list(terminal)),
            trials.c.exit_reported.is_(False),
        )
        .order_by(trials.c.id)
        .limit(1)
    )
    return conn.execute(statement).mappings().one_or_none()


def wanting_allocation(conn: Connection) -> Sequence[RowMapping]:
    """ACTIVE trials of managed experiments that have work to do and no live allocation, with their job's pool."""
    live = exists().where(allocations.c.trial_id == trials.c.id, allocations.c.ended_at.is_(None))
    late = experiments.c.generation != "classic"
    open_operation = and_(
        trials.c.op_length.is_not(None),
        or_(trials.c.op_completed.is_(None), trials.c.op_completed < trials.c.op_length),
    )
    statement = (
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
            experiments.c.unmanaged.is_(False),
            trials.c.early_stopped.is_(False),
            trials.c.early_exit.is_(None),
            or_(late, open_operation),
            ~live,
        )
        .order_by(trials.c.id)
    )
    return conn.execute(statement).mappings().all()


def latest_checkpoint(conn: Connection, trial_id: int) -> RowMapping | None:
    """The trial's own COMPLETED checkpoint with the most steps, unless somebody asked to delete it."""
    statement = (
        select(checkpoints.c.uuid, checkpoints.c.steps_completed)
        .where(
            checkpoints.c.trial_id == trial_id,
            checkpoints.c.state == "COMPLETED",
            checkpoints.c.delete_requested_at.is_(None),
        )
        .order_by(checkpoints.c.steps_completed.desc(), checkpoints.c.report_time.desc())
        .limit(1)
    )
    return conn.execute(statement).mappings().one_or_none()


def task_count(conn: Connection, trial_id: int) -> int:
    statement = select(func.count()).select_from(tasks).where(tasks.c.trial_id == trial_id)
    return int(conn.execute(statement).scalar_one())


def policy_hits(conn: Connection, task_id: str, action: str) -> Sequence[str]:
    """Node ids of the log policy hits of a task (empty text for actions that name no node)."""
    statement = select(log_policy_hits.c.node_id).where(
        log_policy_hits.c.task_id == task_id, log_policy_hits.c.action == action
    )
    return conn.execute(statement).scalars().all()
