"""The order of the job queue: moving one job ahead of or behind another, inside a write transaction."""

from datetime import datetime

from sqlalchemy import Connection

from determined.errors import InvalidArgument, NotFound
from determined.master.db.queries import job as jobs
from determined.master.db.rows.experiments import Job
from determined.master.lifecycle import experiment
from determined.master.lifecycle.states import LIVE

_STEP = 1_000_000.0  # microseconds: past the first or last job there is no neighbour to take the mean with


def move(conn: Connection, now: datetime, job_id: str, anchor_id: str, *, ahead: bool) -> None:
    """Place a job directly before or after another of its pool; it adopts the other's priority."""
    if job_id == anchor_id:
        raise InvalidArgument(f"job {job_id} cannot be moved relative to itself")
    job, anchor = jobs.get(conn, job_id), jobs.get(conn, anchor_id)
    if job.pool != anchor.pool:
        raise InvalidArgument(
            f"job {anchor_id} is in another pool, '{anchor.pool}' and not '{job.pool}'; move it there first"
        )
    if job.priority != anchor.priority:
        experiment.set_resources(conn, now, _experiment(conn, job_id), priority=anchor.priority)
    jobs.update_row(conn, job_id, {"position": _position(conn, job_id, anchor, ahead)})


def _position(conn: Connection, job_id: str, anchor: Job, ahead: bool) -> float:
    level = [
        job
        for job in jobs.live_in_pool(conn, anchor.pool, sorted(LIVE))
        if job.priority == anchor.priority and job.id != job_id
    ]
    at = next((n for n, job in enumerate(level) if job.id == anchor.id), None)
    if at is None:
        raise NotFound(f"job {anchor.id} is not in the queue of pool '{anchor.pool}'")
    beyond = at - 1 if ahead else at + 1
    if not 0 <= beyond < len(level):
        return anchor.position + (-_STEP if ahead else _STEP)
    return (anchor.position + level[beyond].position) / 2


def _experiment(conn: Connection, job_id: str) -> int:
    experiment_id = jobs.experiment_of(conn, job_id)
    if experiment_id is None:
        raise NotFound(f"job {job_id} is not of an experiment")
    return experiment_id
