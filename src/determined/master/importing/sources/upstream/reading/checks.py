"""Queries of the source for the verification of what was taken."""

from collections.abc import Sequence

import msgspec

from determined.master.importing.sources.upstream.reading.metrics import MetricTable
from determined.master.importing.sources.upstream.source import Source


class MetricSample(msgspec.Struct, frozen=True):
    run_id: int
    group: str
    step: int
    time: float
    metrics: str


class CheckpointSample(msgspec.Struct, frozen=True):
    uuid: str
    state: str
    size: int
    resources: object  # JSON


def points(source: Source, table: MetricTable) -> list[tuple[int, str, int, int, int]]:
    """List (trial, group, points that count, first step, last step)."""
    query = f"""
    SELECT trial_id, replace({table.group}, '.', '_'), count(*), min(total_batches), max(total_batches)
    FROM {table.name} WHERE NOT archived AND total_batches IS NOT NULL GROUP BY 1, 2
    """
    return [(trial, str(group), n, first, last) for trial, group, n, first, last in source.tuples(query)]


def metric(source: Source, table: MetricTable, trial_id: int, number: int) -> MetricSample | None:
    """Return the row of a trial with this number, counted from 0 by step."""
    query = f"""
    SELECT trial_run_id, replace({table.group}, '.', '_'), total_batches, extract(epoch FROM end_time)::float8,
           metrics::text
    FROM {table.name} WHERE trial_id = %(trial)s AND NOT archived ORDER BY total_batches, trial_run_id
    OFFSET %(number)s LIMIT 1
    """
    rows = source.rows(query, MetricSample, {"trial": trial_id, "number": number})
    return rows[0] if rows else None


def checkpoints(source: Source, trial_ids: Sequence[int]) -> list[CheckpointSample]:
    query = """
    SELECT c.uuid::text, c.state::text, COALESCE(c.size, 0), c.resources
    FROM run_checkpoints rc JOIN checkpoints_v2 c ON c.uuid = rc.checkpoint_id WHERE rc.run_id = ANY(%(ids)s) LIMIT 50
    """
    return source.rows(query, CheckpointSample, {"ids": list(trial_ids)})


def summaries(source: Source, trial_ids: Sequence[int]) -> list[tuple[int, object]]:
    """List (trial, upstream's summaries)."""
    query = "SELECT id, summary_metrics FROM runs WHERE id = ANY(%(ids)s)"
    return [(trial, summary) for trial, summary in source.tuples(query, {"ids": list(trial_ids)})]
