"""Columns of the tables in a bundle, and how a trial and a report become rows and are read back. Pure."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from determined._json import JsonObject, JsonValue
from determined.wire import codec
from determined.wire.trial_record import TrialRecord

Cells = dict[str, Any]

_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class Kind(StrEnum):
    """Kind of a column. A time is RFC 3339 text in JSON and a timestamp in Parquet; JSON is text in Parquet."""

    INT = "int"
    FLOAT = "float"
    TEXT = "text"
    BOOL = "bool"
    TIME = "time"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: Kind


_BY_TRIAL = {
    "id": Kind.INT,
    "seed": Kind.INT,
    "restarts": Kind.INT,
    "progress": Kind.FLOAT,
    "log_retention_days": Kind.INT,
}
_JSON = frozenset({"hparams", "metadata", "tasks", "allocations", "series"})
_BOOL = frozenset({"early_stopped", "archived"})
_LEFT_OUT = frozenset({"checkpoints"})  # they have a file of their own


def _kind(name: str) -> Kind:
    if name in _BY_TRIAL:
        return _BY_TRIAL[name]
    if name in _JSON:
        return Kind.JSON
    if name in _BOOL:
        return Kind.BOOL
    if name.endswith("_time") or name == "last_activity":
        return Kind.TIME
    if name.endswith("_value"):
        return Kind.FLOAT
    is_number = name.endswith("_step") or name in ("run_id", "steps_completed")
    return Kind.INT if is_number else Kind.TEXT


_FIELDS = {
    field.name: field.encode_name for field in msgspec.structs.fields(TrialRecord) if field.name not in _LEFT_OUT
}

TRIALS = tuple(Column(name, _kind(name)) for name in _FIELDS)
METRICS = (
    Column("trial", Kind.INT),
    Column("run", Kind.INT),
    Column("step", Kind.INT),
    Column("time", Kind.TIME),
    Column("name", Kind.TEXT),
    Column("value", Kind.FLOAT),
    Column("text", Kind.TEXT),
)
"""A row per value. `text`: the value as JSON where it is no floating-point number. Without a `name`: the values of the
batches of the report in `text`, or a report without any values."""


def trial_row(record: TrialRecord) -> Cells:
    return {name: msgspec.to_builtins(getattr(record, name)) for name in _FIELDS}


def trial_of(row: Cells) -> TrialRecord:
    """Build a trial of a row. Raises msgspec.ValidationError."""
    return msgspec.convert({_FIELDS[name]: value for name, value in row.items()}, TrialRecord)


@dataclass(slots=True)
class Report:
    """Report of a run at a step. `time` is RFC 3339."""

    trial: int
    run: int
    step: int
    time: str
    metrics: JsonObject
    batches: list[JsonObject] | None = None


def metric_rows(report: Report) -> Iterator[Sequence[Any]]:
    """Yield rows in the order of METRICS, names in order."""
    place = (report.trial, report.run, report.step, report.time)
    if report.batches is not None or not report.metrics:
        yield *place, None, None, None if report.batches is None else _text(report.batches)
    for name in sorted(report.metrics):
        yield *place, name, *_cells(report.metrics[name])


def add_value(report: Report, name: str | None, value: float | str | None, text: str | None) -> None:
    """Add the value of a row to the report that it is of. Raises ValueError for what is no value."""
    if name is not None:
        report.metrics[name] = _float(value) if text is None else plain(msgspec.json.decode(text))
    elif text is not None:
        report.batches = plain(msgspec.json.decode(text, type=list[dict[str, Any]]))


def plain(value: Any) -> Any:
    """Return numbers for the words that stand for NaN and infinities, at any depth."""
    if isinstance(value, str):
        return _SPECIAL.get(value, value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def _cells(value: JsonValue) -> tuple[float | None, str | None]:
    """Return a value as a number, and as JSON where the number does not say all."""
    if isinstance(value, str) and value in _SPECIAL:
        return _SPECIAL[value], None
    if isinstance(value, float):
        return value, None
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value), str(value)
    return None, _text(value)


def _text(value: Any) -> str:
    return msgspec.json.encode(codec.plain(value)).decode()


def _float(value: float | str | None) -> float:
    if value is None:
        raise ValueError("a row has neither a value nor a text")
    return float(value)
