"""Running summaries of metrics: count, sum, min, max, last value and type, combined batch by batch. Pure."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import msgspec

from determined._json import JsonObject, JsonValue
from determined.master.db.metric_chunk import Reports, Row
from determined.wire.codec import plain

NUMBER = "number"
_TYPES: dict[type, str] = {
    float: NUMBER, int: NUMBER, bool: "boolean", str: "string", dict: "object", list: "array", type(None): "null",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of one metric of one trial and group. NaN and infinities count in no number of it."""

    type: str
    count: int
    sum: float | None
    min: float | None
    max: float | None
    last: JsonValue  # as JSON carries it: NaN and infinities are strings
    last_step: int

    def merge(self, later: "Summary") -> "Summary":
        """Combine this one with a later one. A metric that changes its type is summed up as text, as upstream does."""
        newest = later if later.last_step >= self.last_step else self
        kind = _joint({self.type, later.type})
        return Summary(
            kind,
            sum(part.count for part in (self, later) if kind != NUMBER or part.type == NUMBER),
            _combine(self.sum, later.sum, lambda a, b: a + b),
            _combine(self.min, later.min, min),
            _combine(self.max, later.max, max),
            newest.last,
            newest.last_step,
        )


class EncodedSummary(msgspec.Struct, frozen=True, gc=False):
    """Answer of `to_wire` for what is only encoded: `last` is the stored JSON."""

    count: int
    last: msgspec.Raw
    type: str


class EncodedNumbers(msgspec.Struct, frozen=True, gc=False):
    """The same of numbers."""

    count: int
    last: msgspec.Raw
    type: str
    sum: float | str
    min: float | None
    max: float | None
    mean: float | str | None


def summarize(rows: Iterable[Row]) -> dict[str, Summary]:
    """Build one summary per metric name of these reports; the row with the highest step gives `last`."""
    ordered = list(rows)
    if any(a.step > b.step for a, b in pairwise(ordered)):
        ordered.sort(key=lambda r: r.step)
    return summarize_columns(Reports.of(ordered))


def summarize_columns(reports: Reports) -> dict[str, Summary]:
    """Build one summary per metric name of reports in the order of their steps."""
    out: dict[str, Summary] = {}
    for name, column in reports.columns.items():
        last = reports.steps[-1 if column.rows is None else column.rows[-1]]
        out[name] = _summarize(column.values, last)
    return out


def merge_all(old: dict[str, Summary], new: dict[str, Summary]) -> dict[str, Summary]:
    """Return the summaries that `new` changes, with `old` taken in."""
    return {name: old[name].merge(s) if name in old else s for name, s in new.items()}


def to_wire(summary: Summary) -> JsonObject:
    """Return upstream's form: `{count, last, max, min, sum, mean, type}` for numbers, else `{count, last, type}`."""
    base: JsonObject = {"count": summary.count, "last": summary.last, "type": summary.type}
    if summary.type != NUMBER or summary.sum is None:
        return base
    mean = summary.sum / summary.count if summary.count else None
    return base | {"sum": plain(summary.sum), "min": summary.min, "max": summary.max, "mean": plain(mean)}


def encoded(
    kind: str, count: int, total: float | None, low: float | None, high: float | None, last: str | None
) -> EncodedSummary | EncodedNumbers:
    """Return what `to_wire` returns of a stored summary, without a look into `last`, which is JSON."""
    raw = msgspec.Raw(last or "null")
    if kind != NUMBER or total is None:
        return EncodedSummary(count, raw, kind)
    if not math.isfinite(total):
        return EncodedNumbers(count, raw, kind, plain(total), low, high, plain(total) if count else None)
    return EncodedNumbers(count, raw, kind, total, low, high, total / count if count else None)


def _summarize(values: Sequence[Any], last_step: int) -> Summary:
    last = plain(values[-1])
    kinds = {_TYPES.get(t, "string") for t in set(map(type, values))}
    if kinds == {NUMBER}:
        return _numbers(values, last, last_step)
    # As if each value had come in a batch of its own: how a runner cuts its reports must not show.
    numbers = _numbers([v for v in values if _TYPES.get(type(v)) == NUMBER], last, last_step)
    kind = _joint(kinds)
    return numbers if kind == NUMBER else replace(numbers, type=kind, count=len(values))


def _numbers(values: Sequence[Any], last: JsonValue, last_step: int) -> Summary:
    total = float(sum(values))
    if not math.isfinite(total):
        values = [v for v in values if math.isfinite(v)]
        total = float(sum(values))
    if not values:
        return Summary(NUMBER, 0, None, None, None, last, last_step)
    return Summary(NUMBER, len(values), total, float(min(values)), float(max(values)), last, last_step)


def _combine(a: float | None, b: float | None, how: Callable[[float, float], float]) -> float | None:
    if a is None or b is None:
        return b if a is None else a
    return how(a, b)


def _joint(kinds: set[str]) -> str:
    """Return the type of values of these types: null is of any, and text is what is left for several."""
    rest = kinds - {"null"}
    return rest.pop() if len(rest) == 1 else "string" if rest else "null"
