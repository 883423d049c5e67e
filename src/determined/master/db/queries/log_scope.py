"""Tasks whose logs are read together, whether more lines may come, and tasks whose logs have expired."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import BigInteger, Connection, and_, cast, exists, func, literal, select, type_coerce

from determined.config import task_kinds
from determined.errors import NotFound
from determined.master.db.log_chunk import to_micros
from determined.master.db.schema import allocations, log_chunks, tasks, trials

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class LogScope:
    """The tasks in order. `ended_at`: nothing is to run any more; `drained`: and everything said has been written."""

    task_ids: tuple[str, ...]
    trial_id: int | None
    ended_at: datetime | None
    drained: bool

    @property
    def topics(self) -> list[str]:
        topics = [f"task_logs:{task_id}" for task_id in self.task_ids]
        return topics if self.trial_id is None else [*topics, f"trial:{self.trial_id}"]

    def over(self, now: datetime, grace: timedelta) -> bool:
        """Return whether no line is to be expected: all is drained, or who had some has not spoken for `grace`."""
        return self.ended_at is not None and (self.drained or now - self.ended_at > grace)


def of_task(conn: Connection, task_id: str) -> LogScope:
    row = conn.execute(select(tasks.c.end_time).where(tasks.c.id == task_id)).one_or_none()
    if row is None:
        raise NotFound(f"task '{task_id}' not found")
    [end_time] = row
    return LogScope((task_id,), None, end_time, _drained(conn, [task_id]))


def of_trial(conn: Connection, trial_id: int) -> LogScope:
    row = conn.execute(select(trials.c.end_time).where(trials.c.id == trial_id)).one_or_none()
    if row is None:
        raise NotFound(f"trial {trial_id} not found")
    [end_time] = row
    query = select(tasks.c.id).where(tasks.c.trial_id == trial_id, tasks.c.type == task_kinds.TRIAL.name)
    task_ids = tuple(conn.execute(query.order_by(tasks.c.start_time, func.length(tasks.c.id), tasks.c.id)).scalars())
    return LogScope(task_ids, trial_id, end_time, _drained(conn, task_ids))


def expired(conn: Connection, now: datetime, default_days: int) -> list[str]:
    """List tasks that still have lines and ended longer ago than their own days, else the trial's, else the default.

    Negative days keep for ever; 0 goes with the next sweep.
    """
    days = func.coalesce(tasks.c.log_retention_days, trials.c.log_retention_days, default_days)
    day = literal(_DAY // timedelta(microseconds=1), BigInteger)
    expires_at = type_coerce(tasks.c.end_time, BigInteger) + cast(days, BigInteger) * day
    query = (
        select(tasks.c.id)
        .outerjoin(trials, trials.c.id == tasks.c.trial_id)
        .where(
            tasks.c.end_time.is_not(None),
            days >= 0,
            expires_at <= to_micros(now),
            exists().where(log_chunks.c.task_id == tasks.c.id),
        )
    )
    return list(conn.execute(query).scalars())


def _drained(conn: Connection, task_ids: Sequence[str]) -> bool:
    waiting = exists().where(and_(allocations.c.task_id.in_(task_ids), allocations.c.drained.is_(False)))
    return not conn.execute(select(waiting)).scalar_one()
