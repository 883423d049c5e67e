"""System metrics as packed chunks: numbered in the order of their times, nested as our own profiler reports them."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import msgspec

from determined._json import JsonObject
from determined.master.db import metric_chunk
from determined.master.db.metric_chunk import Row
from determined.master.db.queries.metric_live import INDEXED
from determined.master.importing.notes import Tally
from determined.master.importing.packed_metrics import Packed
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.mapping.metric import place_of, plain_values
from determined.master.importing.sources.upstream.reading.system_metrics import SystemRow

_decoder = msgspec.json.Decoder(dict[str, dict[str, Any]])


def pack_system(rows: Iterable[SystemRow], tally: Tally) -> Packed:
    """Pack reports that come ordered by trial, group, run and time. Numbers go on from run to run."""
    packed = Packed()
    for (trial_id, group), of_group in groupby(rows, key=lambda row: (row.trial_id, row.group.replace(".", "_"))):
        number = 0
        for run_id, of_run in groupby(of_group, key=lambda row: row.run_id):
            number = _pack_series(packed, (trial_id, run_id, group), of_run, number, tally)
    return packed


def _pack_series(
    packed: Packed, series: tuple[int, int, str], rows: Iterable[SystemRow], number: int, tally: Tally
) -> int:
    """Pack the reports of a run from a number on; return the number that follows."""
    block: list[Row] = []
    for row in rows:
        packed.rows += 1
        try:
            block.append(Row(number, *_values(row)))
        except ValueError as e:
            trial_id, _, group = series
            tally.add_many(rules.BAD_METRICS, 1, f"trial {trial_id}, {group}: {e}", place_of(trial_id, group))
            continue
        number += 1
        if len(block) == metric_chunk.FULL_ROWS:
            packed.add(*series, block)
            block = []
    if block:
        packed.add(*series, block)
    if series in packed.spans:
        packed.spans[series] = INDEXED, packed.spans[series][1]
    return number


def _values(row: SystemRow) -> tuple[float, JsonObject]:
    """Return time and metrics. Raises ValueError for what upstream never writes."""
    if row.time is None:
        raise ValueError("it has no time")
    return row.time, plain_values(_decoder.decode(row.metrics or "null"))
