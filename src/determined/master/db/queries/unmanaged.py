"""Unmanaged experiments: trials that have fallen silent, states of trials, lookups by external id."""

from datetime import datetime

from sqlalchemy import Connection, func, select, update

from determined.master.db import fetch
from determined.master.db.rows.experiments import Trial
from determined.master.db.schema import experiments, tasks, trials


def silent_since(conn: Connection, moment: datetime) -> list[Trial]:
    """Running trials of unmanaged experiments whose last sign of life is older than `moment`."""
    query = (
        select(trials)
        .join(experiments, experiments.c.id == trials.c.experiment_id)
        .where(experiments.c.unmanaged, trials.c.state == "ACTIVE", trials.c.last_activity < moment)
        .order_by(trials.c.id)
    )
    return fetch.rows(conn, query, Trial)


def trial_states(conn: Connection, experiment_id: int) -> list[str]:
    query = select(trials.c.state).where(trials.c.experiment_id == experiment_id).distinct()
    return list(conn.execute(query).scalars())


def latest_end(conn: Connection, experiment_id: int) -> datetime | None:
    """Return when the last trial of an experiment ended; None where none has."""
    return conn.execute(select(func.max(trials.c.end_time)).where(trials.c.experiment_id == experiment_id)).scalar()


def set_task_end(conn: Connection, task_id: str, end: datetime | None) -> None:
    conn.execute(update(tasks).where(tasks.c.id == task_id).values(end_time=end))


def experiment_by_external_id(conn: Connection, external_id: str) -> int | None:
    return conn.execute(select(experiments.c.id).where(experiments.c.external_id == external_id)).scalar()


def trial_by_external_id(conn: Connection, experiment_id: int, external_id: str) -> int | None:
    query = select(trials.c.id).where(trials.c.experiment_id == experiment_id, trials.c.external_id == external_id)
    return conn.execute(query).scalar()
