"""Metric rows as packed chunks, watermarks and summaries: one pass over rows in the order of their series."""

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from determined._json import JsonObject
from determined.master.db import metric_chunk
from determined.master.db.metric_chunk import Row
from determined.master.importing.notes import Tally
from determined.master.importing.packed_metrics import MAX_VALUES, Packed
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.reading.metrics import MetricTuple

_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_LARGEST = 2**63


class _Body(msgspec.Struct):
    avg_metrics: dict[str, Any] | None = None
    validation_metrics: dict[str, Any] | None = None
    batch_metrics: list[dict[str, Any]] | None = None


_decoder = msgspec.json.Decoder(_Body)


def pack(rows: Iterable[MetricTuple], tally: Tally) -> Packed:
    """Pack rows that come ordered by trial, group, run and step."""
    packed = Packed()
    for trial_id, run_id, group, block in _blocks(rows, tally, packed):
        packed.add(trial_id, run_id, group, block)
    return packed


def values_of(text: str) -> tuple[JsonObject, list[JsonObject] | None]:
    """Decode the metrics of a row and those of its batches. Raises ValueError for what upstream never writes."""
    try:
        body = _decoder.decode(text)
    except msgspec.DecodeError:
        body = _decode_leniently(text)
    metrics = body.validation_metrics if body.avg_metrics is None else body.avg_metrics
    if metrics is None:
        raise ValueError("neither avg_metrics nor validation_metrics")
    batches = [plain_values(batch) for batch in body.batch_metrics] if body.batch_metrics else None
    return plain_values(metrics), batches


def plain_values(metrics: JsonObject) -> JsonObject:
    """Return numbers for the strings that stand for NaN and infinities, also inside of lists and objects."""
    for value in metrics.values():
        if value.__class__ is not float:
            return {name: _plain(value) for name, value in metrics.items()}
    return metrics


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return _SPECIAL.get(value, value)
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if value.__class__ is int and not -_LARGEST <= value < _LARGEST:
        return float(value)
    return value


def _decode_leniently(text: str) -> _Body:
    """Decode numbers that no double can hold, which PostgreSQL stores."""
    try:
        return msgspec.convert(json.loads(text), _Body)
    except msgspec.ValidationError as e:
        raise ValueError(str(e)) from e


def _blocks(rows: Iterable[MetricTuple], tally: Tally, packed: Packed) -> Iterator[tuple[int, int, str, list[Row]]]:
    """Yield (trial, run, group, rows of one chunk)."""
    series: tuple[int, int, str] | None = None
    block: list[Row] = []
    values = 0
    for trial_id, run_id, group, step, time, text in rows:
        packed.rows += 1
        row = _row(trial_id, group, step, time, text, tally)
        if row is None:
            continue
        if (trial_id, run_id, group) != series or len(block) == metric_chunk.MAX_ROWS or values > MAX_VALUES:
            if series is not None and block:
                yield series[0], series[1], _group(series, tally), block
            series, block, values = (trial_id, run_id, group), [], 0
        block.append(row)
        values += len(row.metrics)
    if series is not None and block:
        yield series[0], series[1], _group(series, tally), block


def _row(trial_id: int, group: str, step: int, time: float, text: str, tally: Tally) -> Row | None:
    try:
        metrics, batches = values_of(text)
    except (ValueError, OverflowError) as e:
        tally.add_many(rules.BAD_METRICS, 1, f"trial {trial_id}, {group}, step {step}: {e}")
        return None
    return Row(step, time, metrics, batches)


def _group(series: tuple[int, int, str], tally: Tally) -> str:
    trial_id, _, group = series
    if "." not in group:
        return group
    tally.add_many(rules.GROUP_NAME, 1, f"trial {trial_id}: {group}")
    return group.replace(".", "_")
