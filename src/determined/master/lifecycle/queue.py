"""The order of the job queue: moving one job ahead of or behind another, inside a write transaction."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from determined.errors import InvalidArgument, NotFound
from determined.master.db.queries import job as jobs
from determined.master.db.rows.experiments import Job
from determined.master.lifecycle.job import set_resources
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
        set_resources(conn, now, job_id, {"priority": anchor.priority})
    level = _neighbours(conn, job_id, anchor)
    place = [one.id for one in level].index(anchor_id) + (0 if ahead else 1)
    position = _between(level, place)
    if position is None:
        _number_anew(conn, [*level[:place], job, *level[place:]])
    else:
        jobs.update_row(conn, job_id, {"position": position})


def _neighbours(conn: Connection, job_id: str, anchor: Job) -> list[Job]:
    """List the other jobs of the anchor's pool and priority, in the order of the queue."""
    live = jobs.live_in_pool(conn, anchor.pool, sorted(LIVE))
    level = [job for job in live if job.priority == anchor.priority and job.id != job_id]
    if all(job.id != anchor.id for job in level):
        raise NotFound(f"job {anchor.id} is not in the queue of pool '{anchor.pool}'")
    return level


def _between(level: Sequence[Job], place: int) -> float | None:
    """Return a position at this place; None where no number lies between those of its neighbours."""
    if place == 0:
        return level[0].position - _STEP
    if place == len(level):
        return level[-1].position + _STEP
    low, high = level[place - 1].position, level[place].position
    middle = (low + high) / 2
    return middle if low < middle < high else None


def _number_anew(conn: Connection, level: Sequence[Job]) -> None:
    """Give all jobs positions far apart, below the first one's: so they stay ahead of whoever comes later."""
    first = level[0].position
    for n, job in enumerate(level):
        jobs.update_row(conn, job.id, {"position": first - (len(level) - n) * _STEP})
