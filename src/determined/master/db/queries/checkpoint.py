"""Rows of checkpoints: store, mark for deletion, what the garbage collector has to know. Lists: checkpoint_list.py."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import CompoundSelect, Connection, NotNullable, and_, func, insert, or_, select, union
from sqlalchemy import update as sql_update

from determined.errors import NotFound
from determined.master.db.queries.batching import AnyRow, batches
from determined.master.db.schema import checkpoints, experiments, storage_backends, tasks, trials

_LIVE_TRIAL = ("ACTIVE", "PAUSED", "STOPPING_COMPLETED", "STOPPING_CANCELED")
_LIVE = (*_LIVE_TRIAL, "STOPPING_KILLED", "STOPPING_ERROR")


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


def insert_row(conn: Connection, values: dict[str, Any]) -> None:
    conn.execute(insert(checkpoints), values)


def update_row(conn: Connection, uuid: str, values: dict[str, Any]) -> None:
    conn.execute(sql_update(checkpoints).where(checkpoints.c.uuid == uuid).values(**values))


def state_of(conn: Connection, uuid: str) -> AnyRow | None:
    table = checkpoints.c
    query = select(
        table.state, table.resources, table.metadata, table.trial_id, table.delete_requested_at, table.delete_globs
    )
    return conn.execute(query.where(table.uuid == uuid)).first()


def require_all(conn: Connection, uuids: Sequence[str]) -> None:
    """Raise NotFound naming every uuid that has no row."""
    found: set[str] = set()
    for some in batches(uuids):
        found.update(conn.execute(select(checkpoints.c.uuid).where(checkpoints.c.uuid.in_(some))).scalars())
    missing = [u for u in uuids if u not in found]
    if missing:
        raise NotFound(f"checkpoints not found: {', '.join(missing)}")


def mark_for_deletion(conn: Connection, now: datetime, uuids: Sequence[str], globs: Sequence[str] | None) -> None:
    """A pending deletion is widened by a later one, never narrowed."""
    table = checkpoints.c
    waiting = table.delete_requested_at.is_not(None)
    for some in batches(uuids):
        chosen = and_(table.uuid.in_(some), table.state != "DELETED")
        if globs is None:
            conn.execute(sql_update(checkpoints).where(chosen).values(delete_requested_at=now, delete_globs=None))
            continue
        earlier = select(table.uuid, NotNullable(table.delete_globs)).where(
            chosen, waiting, table.delete_globs.is_not(None)
        )
        for uuid, have in conn.execute(earlier).all():
            both = list(dict.fromkeys([*have, *globs]))
            update_row(conn, uuid, {"delete_requested_at": now, "delete_globs": both})
        fresh = sql_update(checkpoints).where(chosen, ~waiting)
        conn.execute(fresh.values(delete_requested_at=now, delete_globs=list(globs)))


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


def pending_deletions(conn: Connection, limit: int, uuid: str | None = None) -> list[AnyRow]:
    """The oldest checkpoints that wait for the deleter, with where their files are; or the one named, if it does.

    Those that a live experiment or trial starts from wait until that is over.
    """
    query = (
        select(
            checkpoints.c.uuid,
            checkpoints.c.experiment_id,
            checkpoints.c.delete_requested_at,
            checkpoints.c.delete_globs,
            checkpoints.c.resources,
            storage_backends.c.config.label("storage"),
            experiments.c.config["checkpoint_storage"].label("experiment_storage"),
        )
        .join(experiments, experiments.c.id == checkpoints.c.experiment_id)
        .outerjoin(storage_backends, storage_backends.c.id == checkpoints.c.storage_id)
        .where(checkpoints.c.delete_requested_at.is_not(None), checkpoints.c.uuid.not_in(_starting_points()))
        .order_by(checkpoints.c.delete_requested_at, checkpoints.c.uuid)
        .limit(limit)
    )
    if uuid is not None:
        query = query.where(checkpoints.c.uuid == uuid)
    return list(conn.execute(query))


def live_starters(conn: Connection, experiment_id: int) -> list[int]:
    """Other experiments that are not over and start from a checkpoint of this one."""
    own = select(checkpoints.c.uuid).where(checkpoints.c.experiment_id == experiment_id)
    query = select(experiments.c.id).where(
        experiments.c.state.in_(_LIVE), experiments.c.id != experiment_id, experiments.c.warm_start_checkpoint.in_(own)
    )
    return list(conn.execute(query.order_by(experiments.c.id)).scalars())


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
        select(NotNullable(experiments.c.warm_start_checkpoint)).where(
            experiments.c.warm_start_checkpoint.is_not(None)
        ),
        select(NotNullable(trials.c.warm_start_checkpoint)).where(trials.c.warm_start_checkpoint.is_not(None)),
        select(NotNullable(trials.c.latest_checkpoint)).where(
            trials.c.experiment_id == experiment_id,
            trials.c.state.in_(_LIVE_TRIAL),
            trials.c.latest_checkpoint.is_not(None),
        ),
    )
    return {uuid for query in queries for uuid in conn.execute(query).scalars()}


def set_gc_time(conn: Connection, experiment_id: int, now: datetime) -> None:
    conn.execute(sql_update(experiments).where(experiments.c.id == experiment_id).values(gc_time=now))


def being_collected(conn: Connection, since: datetime) -> list[tuple[int, datetime]]:
    """Experiments with files to be deleted, or whose policy was applied after `since` and let go of some; and when."""
    asked = (
        select(checkpoints.c.experiment_id, func.min(checkpoints.c.delete_requested_at))
        .where(checkpoints.c.delete_requested_at.is_not(None), checkpoints.c.experiment_id.is_not(None))
        .group_by(checkpoints.c.experiment_id)
    )
    gone = select(checkpoints.c.experiment_id).where(checkpoints.c.state == "DELETED")
    done = select(experiments.c.id, experiments.c.gc_time).where(
        experiments.c.gc_time > since, experiments.c.id.in_(gone)
    )
    found = {row[0]: row[1] for row in (*conn.execute(done), *conn.execute(asked))}
    return sorted(found.items())


def due_for_gc(conn: Connection) -> list[int]:
    """Experiments that ended after their keep policy was last applied."""
    query = select(experiments.c.id).where(
        experiments.c.state.in_(("COMPLETED", "CANCELED", "ERROR")),
        experiments.c.end_time.is_not(None),
        or_(experiments.c.gc_time.is_(None), experiments.c.gc_time < experiments.c.end_time),
    )
    return list(conn.execute(query.order_by(experiments.c.id)).scalars())


def _starting_points() -> CompoundSelect[str | None]:
    """What live experiments and trials were told to start from; never NULL, which would make NOT IN unknown."""
    return union(
        *(
            select(table.c.warm_start_checkpoint).where(
                table.c.state.in_(_LIVE), table.c.warm_start_checkpoint.is_not(None)
            )
            for table in (experiments, trials)
        )
    )
