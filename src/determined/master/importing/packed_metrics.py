"""Metric rows of an import, packed: chunks, the first and last step of each series, summaries."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from determined.master.db import metric_chunk, metric_summary
from determined.master.db.metric_chunk import Reports, Row
from determined.master.db.metric_summary import Summary
from determined.master.db.rows.metrics import MetricChunkValues

MAX_VALUES = 64 * 1024  # of one chunk: wide reports would make chunks of many megabytes
_MAX_NAME_BYTES = 1024  # together with its key it must fit into an index entry of PostgreSQL


@dataclass(slots=True)
class Packed:
    """Rows of ours that a range of the source's rows becomes."""

    chunks: list[MetricChunkValues] = field(default_factory=list)
    spans: dict[tuple[int, int, str], tuple[int, int]] = field(default_factory=dict)  # series: first and last step
    summaries: dict[tuple[int, str], dict[str, Summary]] = field(default_factory=dict)  # by trial and group
    rows: int = 0
    values: int = 0

    def add(self, trial_id: int, run_id: int, group: str, block: list[Row]) -> None:
        """Add rows of one chunk in the order of their steps."""
        self.add_columns(trial_id, run_id, group, Reports.of(block))

    def add_columns(self, trial_id: int, run_id: int, group: str, reports: Reports) -> None:
        """Add reports of one chunk in the order of their steps."""
        first, last = reports.steps[0], reports.steps[-1]
        self.chunks.append(
            {
                "trial_id": trial_id,
                "run_id": run_id,
                "group": group,
                "first_step": first,
                "last_step": last,
                "n": len(reports.steps),
                "full": True,
                "data": metric_chunk.encode_columns(reports),
            }
        )
        self.values += sum(len(column.values) for column in reports.columns.values())
        low, high = self.spans.get((trial_id, run_id, group), (first, last))
        self.spans[trial_id, run_id, group] = min(low, first), max(high, last)
        old = self.summaries.setdefault((trial_id, group), {})
        new = {name: s for name, s in metric_summary.summarize_columns(reports).items() if _fits_index(name)}
        old.update(metric_summary.merge_all(old, new))

    def add_series(self, trial_id: int, run_id: int, group: str, rows: Sequence[Row]) -> None:
        """Add all rows of a series in the order of their steps, as many chunks as they need."""
        block: list[Row] = []
        values = 0
        for row in rows:
            if block and (len(block) == metric_chunk.FULL_ROWS or values > MAX_VALUES):
                self.add(trial_id, run_id, group, block)
                block, values = [], 0
            block.append(row)
            values += len(row.metrics)
        if block:
            self.add(trial_id, run_id, group, block)
        self.rows += len(rows)


def _fits_index(name: str) -> bool:
    """Check the length of a name: a longer one is stored with its values and has no summary."""
    return len(name) <= _MAX_NAME_BYTES // 4 or len(name.encode(errors="replace")) <= _MAX_NAME_BYTES
