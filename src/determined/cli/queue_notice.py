"""Notice of a wait, on stderr: what the queue says of the job, who holds the slots, and what to type."""

import contextlib
import sys
import threading
import time
from collections.abc import Iterator, Sequence

from determined.api import cluster, task
from determined.api.session import Session
from determined.cli import render
from determined.errors import DeterminedError
from determined.wire.base import OrderBy
from determined.wire.job import Job, JobState, JobType, ListJobs
from determined.wire.log import LogQuery

SECONDS = 5.0  # most jobs start sooner
_LOG_SECONDS = 2.0  # between two looks at the log
_MOST_JOBS = 1000
_FREE_BY = {
    JobType.COMMAND: "det command kill {id}",
    JobType.EXPERIMENT: "det experiment pause {id}",
    JobType.GENERIC: "det task kill {id}",
    JobType.NOTEBOOK: "det notebook kill {id}",
    JobType.SHELL: "det shell kill {id}",
    JobType.TENSORBOARD: "det tensorboard kill {id}",
}


@contextlib.contextmanager
def of_queue(session: Session, entity_id: str) -> Iterator[None]:
    """Print the notice once if what is in the body still waits in the queue after some seconds.

    `entity_id`: of the task, or the number of the experiment.
    """
    timer = threading.Timer(SECONDS, _say, (session, entity_id))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class StartNotices:
    """Notices while a task is not ready: from the queue once, then the newest line of its log."""

    def __init__(self, session: Session, task_id: str, waiting: render.Waiting) -> None:
        self._session, self._task_id, self._waiting = session, task_id, waiting
        self._next = time.monotonic() + SECONDS
        self._has_queue_notice = False

    def look(self, *, is_queued: bool) -> None:
        """Look again where it is time to. A master that does not answer now is asked at the next turn."""
        if time.monotonic() < self._next or (is_queued and self._has_queue_notice):
            return
        self._next = time.monotonic() + _LOG_SECONDS
        with contextlib.suppress(DeterminedError):
            if is_queued:
                self._waiting.say(text_of_queue(self._session, self._task_id))
                self._has_queue_notice = True
            else:
                self._waiting.progress(_newest_line(self._session, self._task_id))


def text_of_queue(session: Session, entity_id: str) -> str | None:
    """Return why a job waits and what to type; None where it does not wait."""
    found = cluster.jobs(session, ListJobs(limit=_MOST_JOBS), all_pages=False)
    jobs = [job.full for job in found if job.full is not None]
    own = next((job for job in jobs if job.entity_id == entity_id), None)
    if own is None or own.summary is None or own.summary.state != JobState.QUEUED:
        return None
    reason = own.reason or f"waits in the queue of pool '{own.resource_pool}'"
    return f"{reason} ({'; '.join(_advice(own, jobs))})"


def _advice(own: Job, jobs: Sequence[Job]) -> list[str]:
    holders = [job for job in jobs if job.resource_pool == own.resource_pool and job.allocated_slots]
    advice = []
    if len(holders) == 1 and own.requested_slots and holders[0].type in _FREE_BY:
        advice.append(f"free its slots: {_FREE_BY[holders[0].type].format(id=holders[0].entity_id)}")
    if own.requested_slots and own.type not in {JobType.EXPERIMENT, JobType.GENERIC}:
        advice.append("start without a slot: --config resources.slots=0")
    return [*advice, "see the queue: det job list"]


def _say(session: Session, entity_id: str) -> None:
    with contextlib.suppress(DeterminedError):
        text = text_of_queue(session, entity_id)
        if text is not None:
            render.line(text, style="yellow", file=sys.stderr)


def _newest_line(session: Session, task_id: str) -> str | None:
    lines = task.logs(session, task_id, LogQuery(limit=1, order_by=OrderBy.DESC))
    return next((one.log.strip() for one in lines), None)
