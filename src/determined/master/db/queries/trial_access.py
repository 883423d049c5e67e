"""Whose a trial or a task is, and how a task stands to a trial: what decides who may write its data."""

from sqlalchemy import Connection, select

from determined.errors import NotFound
from determined.master.db.queries.batching import AnyRow
from determined.master.db.schema import allocations, experiments, jobs, tasks, trials


def of_trial(conn: Connection, trial_id: int) -> AnyRow:
    """state, run_id, owner_id, unmanaged. Raises NotFound."""
    query = (
        select(trials.c.state, trials.c.run_id, experiments.c.owner_id, experiments.c.unmanaged)
        .join(experiments, experiments.c.id == trials.c.experiment_id)
        .where(trials.c.id == trial_id)
    )
    row = conn.execute(query).first()
    if row is None:
        raise NotFound(f"trial {trial_id} not found")
    return row


def of_task(conn: Connection, task_id: str) -> AnyRow:
    """trial_id and the owner_id of its job, either may be None. Raises NotFound."""
    query = (
        select(tasks.c.trial_id, jobs.c.owner_id)
        .outerjoin(jobs, jobs.c.id == tasks.c.job_id)
        .where(tasks.c.id == task_id)
    )
    row = conn.execute(query).first()
    if row is None:
        raise NotFound(f"task {task_id} not found")
    return row


def experiment_of_trial(conn: Connection, trial_id: int) -> int | None:
    return conn.execute(select(trials.c.experiment_id).where(trials.c.id == trial_id)).scalar()


def experiment_of_task(conn: Connection, task_id: str) -> int | None:
    return conn.execute(select(tasks.c.experiment_id).where(tasks.c.id == task_id)).scalar()


def is_submitted_as(conn: Connection, experiment_id: int, external_id: str, owner_id: int) -> bool:
    """Whether an experiment of this owner has this external id."""
    query = select(experiments.c.id).where(
        experiments.c.id == experiment_id,
        experiments.c.external_id == external_id,
        experiments.c.owner_id == owner_id,
    )
    return conn.execute(query).first() is not None


def of_allocation(conn: Connection, allocation_id: str) -> AnyRow | None:
    """trial_id, run_id, task_id."""
    query = select(allocations.c.trial_id, allocations.c.run_id, allocations.c.task_id)
    return conn.execute(query.where(allocations.c.id == allocation_id)).first()
