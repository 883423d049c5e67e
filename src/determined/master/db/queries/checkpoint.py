"""Rows of checkpoints: store, mark for deletion, what the garbage collector has to know. Lists: checkpoint_list.py."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, func, insert, or_, select
from sqlalchemy import update as sql_update

from determined.errors import NotFound
from determined.master.db.queries.batching import AnyRow, batches
from determined.master.db.schema import checkpoints, experiments, storage_backends, tasks, trials

_LIVE_TRIAL = ("ACTIVE", "PAUSED", "STOPPING_COMPLETED", "STOPPING_CANCELED")


def owner(conn: Connection, uuid: str) -> int | None:
    return conn.execute(select(checkpoints.c.trial_id).where(checkpoints.c.uuid == uuid)).scalar()


def reporting_trial(conn: Connection, trial_id: int) -> AnyRow | None:
    return conn.execute(select(trials.c.task_id, trials.c.experiment_id).where(trials.c.id == trial_id)).first()


def trial_of_task(conn: Connection, task_id: str) -> AnyRow | None:
    """The trial a task belongs to, also for the earlier tasks of a continued trial."""
    query = (
        select(trials.c.id, trials.c.run_id, trials.c.experiment_id)
        .join(tasks, tasks.c.trial_id == trials.c.id)
        .where(tasks.c.id == task_id)
    )
    return conn.execute(query).first()


def storage_exists(conn: Connection, storage_id: int) -> bool:
    return conn.execute(select(storage_backends.c.id).where(storage_backends.c.id == storage_id)).first() is not None


def insert_row(conn: Connection, values: dict[str, Any]) -> None:
    conn.execute(insert(checkpoints), values)


def update_row(conn: Connection, uuid: str, values: dict[str, Any]) -> None:
    conn.execute(sql_update(checkpoints).where(checkpoints.c.uuid == uuid).values(**values))


def state_of(conn: Connection, uuid: str) -> AnyRow | None:
    query = select(checkpoints.c.state, checkpoints.c.resources, checkpoints.c.metadata, checkpoints.c.trial_id)
    return conn.execute(query.where(checkpoints.c.uuid == uuid)).first()


def require_all(conn: Connection, uuids: Sequence[str]) -> None:
    """Raise NotFound naming every uuid that has no row."""
    found: set[str] = set()
    for some in batches(uuids):
        found.update(conn.execute(select(checkpoints.c.uuid).where(checkpoints.c.uuid.in_(some))).scalars())
    missing = [u for u in uuids if u not in found]
    if missing:
        raise NotFound(f"checkpoints not found: {', '.join(missing)}")


def mark_for_deletion(conn: Connection, now: datetime, uuids: Sequence[str], globs: Sequence[str] | None) -> None:
    """A pending deletion of everything is not narrowed by a later one of some files."""
    wanted = {"delete_requested_at": now, "delete_globs": list(globs) if globs is not None else None}
    deletes_all = and_(checkpoints.c.delete_requested_at.is_not(None), checkpoints.c.delete_globs.is_(None))
    for some in batches(uuids):
        statement = sql_update(checkpoints).where(checkpoints.c.uuid.in_(some), checkpoints.c.state != "DELETED")
        if globs is not None:
            statement = statement.where(~deletes_all)
        conn.execute(statement.values(**wanted))


def trials_of(conn: Connection, uuids: Sequence[str]) -> list[int]:
    found: set[int] = set()
    for some in batches(uuids):
        query = select(checkpoints.c.trial_id).where(checkpoints.c.uuid.in_(some))
        found.update(t for t in conn.execute(query).scalars() if t is not None)
    return sorted(found)


def refresh_trials(conn: Connection, trial_ids: Iterable[int]) -> None:
    """Bring the checkpoint summary of trials up to date: latest usable one, how many, how big."""
    own = checkpoints.c.trial_id == trials.c.id
    latest = (
        select(checkpoints.c.uuid)
        .where(own, checkpoints.c.state == "COMPLETED", checkpoints.c.delete_requested_at.is_(None))
        .order_by(checkpoints.c.steps_completed.desc(), checkpoints.c.report_time.desc())
        .limit(1)
        .scalar_subquery()
    )
    stored = checkpoints.c.state != "DELETED"
    count = select(func.count()).where(own, stored).scalar_subquery()
    size = select(func.coalesce(func.sum(checkpoints.c.size), 0)).where(own, stored).scalar_subquery()
    values = {"latest_checkpoint": latest, "checkpoint_count": count, "checkpoint_size": size}
    for some in batches(list(trial_ids)):
        conn.execute(sql_update(trials).where(trials.c.id.in_(some)).values(**values))


def pending_deletions(conn: Connection, limit: int) -> list[AnyRow]:
    """The oldest checkpoints that wait for the deleter, with where their files are."""
    query = (
        select(
            checkpoints.c.uuid,
            checkpoints.c.delete_globs,
            checkpoints.c.resources,
            storage_backends.c.config.label("storage"),
            experiments.c.config["checkpoint_storage"].label("experiment_storage"),
        )
        .join(experiments, experiments.c.id == checkpoints.c.experiment_id)
        .outerjoin(storage_backends, storage_backends.c.id == checkpoints.c.storage_id)
        .where(checkpoints.c.delete_requested_at.is_not(None))
        .order_by(checkpoints.c.delete_requested_at, checkpoints.c.uuid)
        .limit(limit)
    )
    return list(conn.execute(query))


def gc_settings(conn: Connection, experiment_id: int) -> AnyRow | None:
    query = select(
        experiments.c.config["checkpoint_storage"].label("storage"),
        experiments.c.smaller_is_better,
        experiments.c.searcher_metric,
    ).where(experiments.c.id == experiment_id)
    return conn.execute(query).first()


def gc_candidates(conn: Connection, experiment_id: int) -> list[AnyRow]:
    """COMPLETED checkpoints of an experiment that nobody has asked to delete."""
    query = select(checkpoints.c.uuid, checkpoints.c.trial_id, checkpoints.c.steps_completed).where(
        checkpoints.c.experiment_id == experiment_id,
        checkpoints.c.state == "COMPLETED",
        checkpoints.c.delete_requested_at.is_(None),
    )
    return list(conn.execute(query))


def exempt(conn: Connection, experiment_id: int) -> set[str]:
    """Checkpoints no policy may delete: others start from them, or a live trial here resumes from them."""
    queries = (
        select(experiments.c.warm_start_checkpoint).where(experiments.c.warm_start_checkpoint.is_not(None)),
        select(trials.c.warm_start_checkpoint).where(trials.c.warm_start_checkpoint.is_not(None)),
        select(trials.c.latest_checkpoint).where(
            trials.c.experiment_id == experiment_id,
            trials.c.state.in_(_LIVE_TRIAL),
            trials.c.latest_checkpoint.is_not(None),
        ),
    )
    return {uuid for query in queries for uuid in conn.execute(query).scalars()}


def set_gc_time(conn: Connection, experiment_id: int, now: datetime) -> None:
    conn.execute(sql_update(experiments).where(experiments.c.id == experiment_id).values(gc_time=now))


def due_for_gc(conn: Connection) -> list[int]:
    """Experiments that ended after their keep policy was last applied."""
    query = select(experiments.c.id).where(
        experiments.c.state.in_(("COMPLETED", "CANCELED", "ERROR")),
        experiments.c.end_time.is_not(None),
        or_(experiments.c.gc_time.is_(None), experiments.c.gc_time < experiments.c.end_time),
    )
    return list(conn.execute(query.order_by(experiments.c.id)).scalars())
