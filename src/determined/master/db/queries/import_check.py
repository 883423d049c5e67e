"""Rows that an import has stored, read back for its verification."""

from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from determined.master.db.metric_chunk import Row
from determined.master.db.queries.batching import batches
from determined.master.db.queries.metric_live import live_chunks
from determined.master.db.schema import allocations as allocation_rows
from determined.master.db.schema import checkpoints, log_chunks, metric_chunks, metric_watermarks, model_versions, tasks

Span = tuple[int, int, int]
"""Number of points, first and last step."""


def points(conn: Connection, trial_ids: Sequence[int]) -> dict[tuple[int, str], Span]:
    """Return what is stored of each trial and group."""
    c = metric_chunks.c
    spans: dict[tuple[int, str], Span] = {}
    for part in batches(trial_ids):
        query = (
            select(c.trial_id, c.group, func.sum(c.n), func.min(c.first_step), func.max(c.last_step))
            .where(c.trial_id.in_(part))
            .group_by(c.trial_id, c.group)
        )
        spans |= {(trial, group): (int(n), first, last) for trial, group, n, first, last in conn.execute(query)}
    return spans


def groups_of_several_runs(conn: Connection, trial_ids: Sequence[int]) -> list[tuple[int, str]]:
    """List (trial, group) of trials in which a run may hide points of an earlier one."""
    w = metric_watermarks.c
    groups: list[tuple[int, str]] = []
    for part in batches(trial_ids):
        several = (
            select(w.trial_id)
            .where(w.trial_id.in_(part))
            .group_by(w.trial_id)
            .having(func.count(w.run_id.distinct()) > 1)
        )
        query = select(w.trial_id, w.group).where(w.trial_id.in_(several)).distinct()
        groups += [(trial, group) for trial, group in conn.execute(query)]
    return groups


def visible_points(conn: Connection, trial_id: int, group: str) -> int:
    """Count the points that charts show."""
    return sum(len(chunk.live()) for chunk in live_chunks(conn, trial_id, group))


def point(conn: Connection, trial_id: int, group: str, run_id: int, step: int) -> Row | None:
    """Return the report of a run at a step, if charts show it."""
    for chunk in live_chunks(conn, trial_id, group, first=step, last=step):
        if chunk.run_id == run_id:
            shown = set(chunk.live())
            rows = chunk.chunk.rows()
            return next((row for i, row in enumerate(rows) if row.step == step and i in shown), None)
    return None


def checkpoint_sizes(conn: Connection, uuids: Sequence[str]) -> dict[str, tuple[str, int, dict[str, int]]]:
    """Return state, size and files of checkpoints."""
    c = checkpoints.c
    query = select(c.uuid, c.state, c.size, c.resources).where(c.uuid.in_(uuids))
    return {uuid: (state, size, files) for uuid, state, size, files in conn.execute(query)}


def allocations(conn: Connection, trial_ids: Sequence[int]) -> dict[int, int]:
    """Count the allocations of each trial that are over."""
    c = allocation_rows.c
    counts: dict[int, int] = {}
    for part in batches(trial_ids):
        ended = c.ended_at.is_not(None) & c.drained
        query = select(c.trial_id, func.count(c.id)).where(c.trial_id.in_(part), ended).group_by(c.trial_id)
        counts |= {trial: n for trial, n in conn.execute(query) if trial is not None}
    return counts


def log_lines(conn: Connection, trial_ids: Sequence[int]) -> dict[str, int]:
    """Count the log lines of each task of trials that has some."""
    counts_by_task: dict[str, int] = {}
    for part in batches(trial_ids):
        query = (
            select(log_chunks.c.task_id, func.sum(log_chunks.c.n))
            .join(tasks, tasks.c.id == log_chunks.c.task_id)
            .where(tasks.c.trial_id.in_(part))
            .group_by(log_chunks.c.task_id)
        )
        counts_by_task |= {task: int(n) for task, n in conn.execute(query)}
    return counts_by_task


def versions(conn: Connection, ids: Sequence[int]) -> dict[int, tuple[int, int, str]]:
    """Return model, number and checkpoint of versions."""
    c = model_versions.c
    versions_by_id: dict[int, tuple[int, int, str]] = {}
    for part in batches(ids):
        query = select(c.id, c.model_id, c.version, c.checkpoint_uuid).where(c.id.in_(part))
        versions_by_id |= {id_: (model, version, uuid) for id_, model, version, uuid in conn.execute(query)}
    return versions_by_id


def series(conn: Connection, trial_id: int, group: str) -> list[Row]:
    """Return the reports of a group that charts show, in the order of their steps."""
    found = []
    for chunk in live_chunks(conn, trial_id, group):
        rows = chunk.chunk.rows()
        found += [rows[i] for i in chunk.live()]
    return found
