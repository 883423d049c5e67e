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

# trial, run, group, reports
TYPES = ("int4", "int4", "text", "bytea")
MetricBlock = tuple[int, int, str, bytes]
"""Reports of one series as a JSON list of [step, seconds since the epoch or null, metrics]; a megabyte at most, or one.

A row of the answer costs more than its values, so PostgreSQL joins them.
"""
_BLOCK_BYTES = 1_000_000

# The planner guesses a fixed part of the table for comparisons of rows, however large it is; BETWEEN tells it better.
# OFFSET 0 keeps it from making the text of each report twice.
_BLOCKS = """
SELECT trial_id, run_id, name, '[' || string_agg(report, ',') || ']'
FROM (
  SELECT trial_id, run_id, name, report,
         sum(octet_length(report)) OVER (PARTITION BY trial_id, name, run_id ORDER BY step ROWS UNBOUNDED PRECEDING)
           / {bytes} AS block
  FROM (
    SELECT trial_id, trial_run_id AS run_id, {group} AS name, total_batches AS step,
           '[' || total_batches || ','
           || CASE WHEN isfinite(end_time) THEN extract(epoch FROM end_time)::float8::text ELSE 'null' END || ','
           || COALESCE(metrics::text, 'null') || ']' AS report
    FROM {table}
    WHERE (trial_id, total_batches) > (%(trial)s, %(step)s)
      AND (trial_id, total_batches) <= (%(last_trial)s, %(last_step)s)
      AND trial_id BETWEEN %(trial)s AND %(last_trial)s
      AND NOT archived AND (%(only)s::int[] IS NULL OR trial_id = ANY(%(only)s))
    OFFSET 0) reports) blocks
GROUP BY trial_id, name, run_id, block ORDER BY trial_id, name, run_id, block
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
) -> Iterator[MetricBlock]:
    """Stream the rows of a range by trial, group, run and step. `only`: of these trials; None: of all."""
    parameters: dict[str, Any] = {
        "trial": after[0],
        "step": after[1],
        "last_trial": upto[0],
        "last_step": upto[1],
        "only": None if only is None else list(only),
    }
    query = _BLOCKS.format(table=table.name, group=table.group, bytes=_BLOCK_BYTES)
    return source.copy(query, parameters, TYPES)
