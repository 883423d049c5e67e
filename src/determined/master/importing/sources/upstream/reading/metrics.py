"""Upstream's metric rows, a table per kind of group, streamed in ranges of (trial, step)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from determined.master.importing.sources.upstream.source import Source

Place = tuple[int, int]
"""Trial and step; a range of places begins after its first and ends with its last."""
START: Place = (0, -1)


@dataclass(frozen=True, slots=True)
class MetricTable:
    """Partition of upstream's `metrics`. `group` is an expression of SQL."""

    name: str
    group: str


STEPS = MetricTable("raw_steps", "'training'")
VALIDATIONS = MetricTable("raw_validations", "'validation'")
GENERIC = MetricTable("generic_metrics", "metric_group")
TABLES = (STEPS, VALIDATIONS, GENERIC)

# trial, run, group, step, seconds since the epoch, JSON
TYPES = ("int4", "int4", "text", "int4", "float8", "text")
MetricTuple = tuple[int, int, str, int, float, str]

# The planner guesses a fixed part of the table for comparisons of rows, however large it is; BETWEEN tells it better.
_ROWS = """
SELECT trial_id, trial_run_id, {group}, total_batches, extract(epoch FROM end_time)::float8, metrics::text
FROM {table}
WHERE (trial_id, total_batches) > (%(trial)s, %(step)s) AND (trial_id, total_batches) <= (%(last_trial)s, %(last_step)s)
  AND trial_id BETWEEN %(trial)s AND %(last_trial)s
  AND NOT archived AND (%(only)s::int[] IS NULL OR trial_id = ANY(%(only)s))
ORDER BY 1, 3, 2, 4
"""
_COUNTS = """
SELECT trial_id, count(*) FILTER (WHERE NOT archived), count(*) FILTER (WHERE archived)
FROM {table} WHERE total_batches IS NOT NULL GROUP BY trial_id ORDER BY trial_id
"""
_CUTS = """
SELECT total_batches FROM (
  SELECT total_batches, row_number() OVER (ORDER BY total_batches) AS n FROM {table}
  WHERE trial_id = %(trial)s AND NOT archived) numbered
WHERE n %% %(size)s = 0 ORDER BY total_batches
"""


def counts(source: Source, table: MetricTable) -> list[tuple[int, int, int]]:
    """List (trial, rows that count, archived rows)."""
    return [(t, live, archived) for t, live, archived in source.tuples(_COUNTS.format(table=table.name))]


def cuts(source: Source, table: MetricTable, trial_id: int, size: int) -> list[int]:
    """Return steps that divide the rows of a large trial into parts of about `size`."""
    query = _CUTS.format(table=table.name)
    return [step for (step,) in source.tuples(query, {"trial": trial_id, "size": size})]


def read(
    source: Source, table: MetricTable, after: Place, upto: Place, only: Sequence[int] | None
) -> Iterator[MetricTuple]:
    """Stream the rows of a range by trial, group, run and step. `only`: of these trials; None: of all."""
    parameters: dict[str, Any] = {
        "trial": after[0],
        "step": after[1],
        "last_trial": upto[0],
        "last_step": upto[1],
        "only": None if only is None else list(only),
    }
    query = _ROWS.format(table=table.name, group=table.group)
    return source.copy(query, parameters, TYPES)
