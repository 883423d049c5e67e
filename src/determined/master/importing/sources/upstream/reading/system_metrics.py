"""Upstream's system metrics of trials: reports of the profiler, which have times and no steps."""

from collections.abc import Iterator, Sequence

import msgspec

from determined.master.importing.sources.upstream.source import Source

TABLE = "system_metrics"


class SystemRow(msgspec.Struct, frozen=True):
    trial_id: int
    group: str
    run_id: int
    time: float | None  # seconds since the epoch; None where upstream has no finite one
    metrics: str | None  # JSON: by node, gpu also by uuid


_ROWS = f"""
SELECT trial_id, metric_group, trial_run_id,
       CASE WHEN isfinite(end_time) THEN extract(epoch FROM end_time)::float8 END, metrics::text
FROM {TABLE} WHERE trial_id = ANY(%(ids)s) AND NOT archived AND metric_group IS NOT NULL
ORDER BY trial_id, metric_group, trial_run_id, end_time, id
"""
_POINTS = f"""
SELECT trial_id, replace(metric_group, '.', '_'), count(*)
FROM {TABLE} WHERE NOT archived AND metric_group IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2
"""


def points(source: Source) -> list[tuple[int, str, int]]:
    """List (trial, group, rows)."""
    return [(trial, str(group), n) for trial, group, n in source.tuples(_POINTS)]


def read(source: Source, trial_ids: Sequence[int]) -> Iterator[SystemRow]:
    """Stream the rows of trials by trial, group, run and time."""
    return (SystemRow(*row) for row in source.stream(_ROWS, {"ids": list(trial_ids)}, size=2000))
