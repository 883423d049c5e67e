"""Metric rows as packed chunks, watermarks and summaries: one pass over rows in the order of their series."""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import msgspec

from determined._json import JsonObject
from determined.master.db import metric_chunk
from determined.master.db.metric_chunk import Column, Reports
from determined.master.importing.notes import Tally
from determined.master.importing.packed_metrics import MAX_VALUES, Packed
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.reading.metrics import MetricBlock

_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_LARGEST = 2**63


class _Body(msgspec.Struct):
    avg_metrics: dict[str, Any] | None = None
    validation_metrics: dict[str, Any] | None = None
    batch_metrics: list[dict[str, Any]] | None = None


class _Report(msgspec.Struct, array_like=True, gc=False):
    step: int
    time: float
    body: _Body


_decoder = msgspec.json.Decoder(_Body)
_block_decoder = msgspec.json.Decoder(list[_Report])
_lenient_decoder = msgspec.json.Decoder(list[tuple[int, float | None, msgspec.Raw]])


@dataclass(slots=True)
class _Block:
    """Reports of one series in the order of their steps."""

    steps: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    metrics: list[JsonObject] = field(default_factory=list)
    batches: list[list[JsonObject] | None] = field(default_factory=list)


def pack(blocks: Iterable[MetricBlock], tally: Tally) -> Packed:
    """Pack reports that come ordered by trial, group, run and step."""
    packed = Packed()
    for trial_id, run_id, group, text in blocks:
        try:
            block = _decode(text)
            packed.rows += len(block.steps)
        except ValueError:
            block = _decode_one_by_one(trial_id, group, text, tally, packed)
        for reports in _chunks(block):
            packed.add_columns(trial_id, run_id, _group(trial_id, group, tally), reports)
    return packed


def place_of(trial_id: int, group: str) -> str:
    """Return the place of a tally for a series of ours."""
    return f"{trial_id} {_name(group)}"


def series_of(tally: Tally) -> dict[tuple[int, str], int]:
    """Return how many reports were left out, by trial and group."""
    places = tally.places.get(rules.BAD_METRICS.name, {})
    parts = ((place.partition(" "), n) for place, n in places.items())
    return {(int(trial), group): n for (trial, _, group), n in parts}


def values_of(text: str | bytes | msgspec.Raw) -> tuple[JsonObject, list[JsonObject] | None]:
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


def _decode_leniently(text: str | bytes | msgspec.Raw) -> _Body:
    """Decode numbers that no double can hold, which PostgreSQL stores."""
    try:
        return msgspec.convert(json.loads(text if isinstance(text, str) else bytes(text)), _Body)
    except msgspec.ValidationError as e:
        raise ValueError(str(e)) from e


def _decode(text: bytes) -> _Block:
    """Decode a block as upstream writes it. Raises ValueError where any of its reports is of another form."""
    reports = _block_decoder.decode(text)
    reports.sort(key=attrgetter("step"))
    bodies = [report.body for report in reports]
    metrics = [body.validation_metrics if body.avg_metrics is None else body.avg_metrics for body in bodies]
    whole = [one for one in metrics if one is not None]
    if len(whole) < len(metrics):
        raise ValueError("a report has no metrics")
    batches = [[plain_values(one) for one in body.batch_metrics] if body.batch_metrics else None for body in bodies]
    return _Block([report.step for report in reports], [report.time for report in reports], whole, batches)


def _decode_one_by_one(trial_id: int, group: str, text: bytes, tally: Tally, packed: Packed) -> _Block:
    """Decode the reports of a block that can be read, and note the others."""
    block = _Block()
    for step, time, raw in sorted(_lenient_decoder.decode(text), key=lambda report: report[0]):
        packed.rows += 1
        try:
            metrics, batches = values_of(raw)
            if time is None:
                raise ValueError("it has no time")
        except (ValueError, OverflowError) as e:
            example = f"trial {trial_id}, {group}, step {step}: {e}"
            tally.add_many(rules.BAD_METRICS, 1, example, place_of(trial_id, group))
            continue
        block.steps.append(step)
        block.times.append(time)
        block.metrics.append(metrics)
        block.batches.append(batches)
    return block


def _chunks(block: _Block) -> Iterator[Reports]:
    """Yield the reports of each chunk: fewer where they are wide."""
    widest = max(map(len, block.metrics), default=0)
    size = max(1, min(metric_chunk.FULL_ROWS, MAX_VALUES // max(1, widest)))
    for start in range(0, len(block.steps), size):
        part = slice(start, start + size)
        columns = {name: _plain_column(column) for name, column in metric_chunk.gather(block.metrics[part]).items()}
        yield Reports(block.steps[part], block.times[part], columns, block.batches[part])


def _plain_column(column: Column) -> Column:
    if set(map(type, column.values)) == {float}:
        return column
    return Column([_plain(value) for value in column.values], column.rows)


def _group(trial_id: int, group: str, tally: Tally) -> str:
    if "." not in group:
        return group
    tally.add_many(rules.GROUP_NAME, 1, f"trial {trial_id}: {group}")
    return _name(group)


def _name(group: str) -> str:
    return group.replace(".", "_")
