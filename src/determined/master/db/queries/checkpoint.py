"""Rows of checkpoints: store, mark for deletion, collect garbage. Lists: checkpoint_list.py."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec
from sqlalchemy import CompoundSelect, Connection, NotNullable, and_, func, insert, or_, select, union
from sqlalchemy import update as sql_update

from determined._json import JsonObject
from determined.errors import NotFound
from determined.master.db import fetch
from determined.master.db.queries.batching import batches
from determined.master.db.queries.checkpoint_list import CheckpointPosition
from determined.master.db.rows.checkpoints import CheckpointValues
from determined.master.db.schema import checkpoints, experiments, model_versions, storage_backends, tasks, trials

# `gc_time` of imported experiments: no policy is applied to them before somebody sets one.
GC_FROZEN = datetime(9999, 1, 1, tzinfo=UTC)
_LIVE_TRIAL = ("ACTIVE", "PAUSED", "STOPPING_COMPLETED", "STOPPING_CANCELED")
_LIVE = (*_LIVE_TRIAL, "STOPPING_KILLED", "STOPPING_ERROR")


class ReportingTrial(msgspec.Struct, frozen=True):
    task_id: str
    experiment_id: int


class TaskTrial(msgspec.Struct, frozen=True):
    """The trial that a task belongs to."""

    id: int
    run_id: int
    experiment_id: int


class StoredState(msgspec.Struct, frozen=True):
    """State and files of a checkpoint, and the deletion that waits for it."""

    state: str
    resources: dict[str, int]
    metadata: JsonObject
    trial_id: int | None
    delete_requested_at: datetime | None
    delete_globs: list[str] | None


class PendingDeletion(msgspec.Struct, frozen=True):
    """A checkpoint that waits for the deleter, with the storages its files may be in."""

    uuid: str
    experiment_id: int
    delete_requested_at: datetime
    delete_globs: list[str] | None
    resources: dict[str, int]
    storage: JsonObject | None
    experiment_storage: JsonObject | None


class GcSettings(msgspec.Struct, frozen=True):
    """Settings of an experiment that its keep policy depends on."""

    storage: JsonObject | None
    smaller_is_better: bool
    searcher_metric: str | None


def owner(conn: Connection, uuid: str) -> int | None:
    return conn.execute(select(checkpoints.c.trial_id).where(checkpoints.c.uuid == uuid)).scalar()


def reporting_trial(conn: Connection, trial_id: int) -> ReportingTrial | None:
    query = select(trials.c.task_id, trials.c.experiment_id).where(trials.c.id == trial_id)
    return fetch.row(conn, query, ReportingTrial)


def trial_of_task(conn: Connection, task_id: str) -> TaskTrial | None:
    """Find the trial that a task belongs to, also for the earlier tasks of a continued trial."""
    query = (
        select(trials.c.id, trials.c.run_id, trials.c.experiment_id)
        .join(tasks, tasks.c.trial_id == trials.c.id)
        .where(tasks.c.id == task_id)
    )
    return fetch.row(conn, query, TaskTrial)


def insert_row(conn: Connection, values: CheckpointValues) -> None:
    conn.execute(insert(checkpoints), values)


def update_row(conn: Connection, uuid: str, values: CheckpointValues) -> None:
    conn.execute(sql_update(checkpoints).where(checkpoints.c.uuid == uuid).values(**values))


def state_of(conn: Connection, uuid: str) -> StoredState | None:
    table = checkpoints.c
    query = select(
        table.state, table.resources, table.metadata, table.trial_id, table.delete_requested_at, table.delete_globs
    )
    return fetch.row(conn, query.where(table.uuid == uuid), StoredState)


def require_all(conn: Connection, uuids: Sequence[str]) -> None:
    """Raise NotFound naming every uuid that has no row."""
    existing: set[str] = set()
    for some in batches(uuids):
        existing.update(conn.execute(select(checkpoints.c.uuid).where(checkpoints.c.uuid.in_(some))).scalars())
    missing = [u for u in uuids if u not in existing]
    if missing:
        raise NotFound(f"checkpoints not found: {', '.join(missing)}")


def mark_for_deletion(conn: Connection, now: datetime, uuids: Sequence[str], globs: Sequence[str] | None) -> None:
    """Mark checkpoints for the deleter. A pending deletion is widened by a later one, never narrowed."""
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
    trial_ids: set[int] = set()
    for some in batches(uuids):
        query = select(checkpoints.c.trial_id).where(checkpoints.c.uuid.in_(some))
        trial_ids.update(t for t in conn.execute(query).scalars() if t is not None)
    return sorted(trial_ids)


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


def pending_deletions(conn: Connection, limit: int, uuid: str | None = None) -> list[PendingDeletion]:
    """List the oldest checkpoints that wait for the deleter, with where their files are; or the one named, if it does.

    Those that a live experiment or trial starts from wait until that is over.
    """
    query = (
        select(
            checkpoints.c.uuid,
            NotNullable(checkpoints.c.experiment_id),
            NotNullable(checkpoints.c.delete_requested_at),
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
    return fetch.rows(conn, query, PendingDeletion)


def live_starters(conn: Connection, experiment_id: int) -> list[int]:
    """List other experiments that are not over and start from a checkpoint of this one."""
    own = select(checkpoints.c.uuid).where(checkpoints.c.experiment_id == experiment_id)
    query = select(experiments.c.id).where(
        experiments.c.state.in_(_LIVE), experiments.c.id != experiment_id, experiments.c.warm_start_checkpoint.in_(own)
    )
    return list(conn.execute(query.order_by(experiments.c.id)).scalars())


def gc_settings(conn: Connection, experiment_id: int) -> GcSettings | None:
    query = select(
        experiments.c.config["checkpoint_storage"].label("storage"),
        experiments.c.smaller_is_better,
        experiments.c.searcher_metric,
    ).where(experiments.c.id == experiment_id)
    return fetch.row(conn, query, GcSettings)


def gc_candidates(conn: Connection, experiment_id: int) -> list[CheckpointPosition]:
    """List COMPLETED checkpoints of an experiment that nobody has asked to delete."""
    query = select(checkpoints.c.uuid, NotNullable(checkpoints.c.trial_id), checkpoints.c.steps_completed).where(
        checkpoints.c.experiment_id == experiment_id,
        checkpoints.c.state == "COMPLETED",
        checkpoints.c.delete_requested_at.is_(None),
    )
    return fetch.rows(conn, query, CheckpointPosition)


def exempt(conn: Connection, experiment_id: int) -> set[str]:
    """Return the checkpoints that no policy may delete.

    Something starts from them, a live trial resumes, or they are versions of models.
    """
    queries = (
        select(model_versions.c.checkpoint_uuid)
        .join(checkpoints, checkpoints.c.uuid == model_versions.c.checkpoint_uuid)
        .where(checkpoints.c.experiment_id == experiment_id),
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
    """List experiments with files to be deleted, or whose policy deleted some after `since`; and when."""
    requested = (
        select(NotNullable(checkpoints.c.experiment_id), NotNullable(func.min(checkpoints.c.delete_requested_at)))
        .where(checkpoints.c.delete_requested_at.is_not(None), checkpoints.c.experiment_id.is_not(None))
        .group_by(checkpoints.c.experiment_id)
    )
    gone = select(checkpoints.c.experiment_id).where(checkpoints.c.state == "DELETED")
    done = select(experiments.c.id, NotNullable(experiments.c.gc_time)).where(
        experiments.c.gc_time > since, experiments.c.gc_time < GC_FROZEN, experiments.c.id.in_(gone)
    )
    times = dict([*conn.execute(done), *conn.execute(requested)])
    return sorted(times.items())


def due_for_gc(conn: Connection) -> list[int]:
    """List experiments that ended after their keep policy was last applied."""
    query = select(experiments.c.id).where(
        experiments.c.state.in_(("COMPLETED", "CANCELED", "ERROR")),
        experiments.c.end_time.is_not(None),
        or_(experiments.c.gc_time.is_(None), experiments.c.gc_time < experiments.c.end_time),
    )
    return list(conn.execute(query.order_by(experiments.c.id)).scalars())


def _starting_points() -> CompoundSelect[str | None]:
    """Select what live experiments and trials start from; never NULL, which would make NOT IN unknown."""
    return union(
        *(
            select(table.c.warm_start_checkpoint).where(
                table.c.state.in_(_LIVE), table.c.warm_start_checkpoint.is_not(None)
            )
            for table in (experiments, trials)
        )
    )
