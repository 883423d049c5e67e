"""Records of journals: what one release of a runner wrote, another release of the master reads."""

import math
from typing import Any, get_args

import msgspec
import pytest

from determined.wire.codec import from_msgpack, to_msgpack
from determined.wire.report import (
    Alert,
    CheckpointReport,
    EarlyExit,
    Exit,
    ExitCause,
    LogLine,
    MetricReport,
    Missing,
    Phase,
    PreemptAck,
    Progress,
    Record,
    ReportBatch,
    Segment,
    Status,
)

# As the first release wrote them: fields that came later have defaults and stand behind these.
OLDEST: list[tuple[list[Any], Any]] = [
    (["log", "text", 1.5], LogLine("text", 1.5)),
    (["metric", "training", 7, {"loss": 0.5}, 1.5], MetricReport("training", 7, {"loss": 0.5}, 1.5)),
    (["metric", "training", None, {}, 1.5, [{"loss": 1}]], MetricReport("training", None, {}, 1.5, [{"loss": 1}])),
    (["checkpoint", "u", 3, {"a": 1}, {"f": 9}, 1.5], CheckpointReport("u", 3, {"a": 1}, {"f": 9}, 1.5)),
    (["preempt_ack"], PreemptAck()),
    (["status", "text"], Status("text")),
    (["progress", 0.25], Progress(0.25, raw=True)),
    (["early_exit", "EXITED_REASON_INVALID_HP"], EarlyExit("EXITED_REASON_INVALID_HP")),
    (["phase", "PULLING", 1.5], Phase("PULLING", 1.5)),
    (["exit", "exited", 3, "gone", 1.5], Exit(ExitCause.EXITED, 3, "gone", 1.5)),
    (["alert", "t", "d", "INFO"], Alert("t", "d", "INFO")),
    (["missing"], Missing()),
]
NEWEST: list[tuple[list[Any], Any]] = [
    (["log", "t", 1.5, "stderr", "ERROR", 3, "x"], LogLine("t", 1.5, "stderr", "ERROR", 3, "x")),
    (["progress", 5.0, False], Progress(5.0, raw=False)),
    (["checkpoint", "u", 3, {}, {}, 1.5, 4], CheckpointReport("u", 3, {}, {}, 1.5, 4)),
]


def read(raw: Any) -> Any:
    return from_msgpack(msgspec.msgpack.encode(raw), Record)


@pytest.mark.parametrize(("raw", "record"), OLDEST + NEWEST, ids=lambda value: str(value)[:40])
def test_a_stored_record_is_read(raw: list[Any], record: Any) -> None:
    assert read(raw) == record


@pytest.mark.parametrize(("raw", "record"), OLDEST + NEWEST, ids=lambda value: str(value)[:40])
def test_a_record_is_stored_with_its_fields_in_the_same_places(raw: list[Any], record: Any) -> None:
    assert msgspec.msgpack.decode(to_msgpack(record))[: len(raw)] == raw


def test_every_kind_of_record_is_in_the_table() -> None:
    assert {type(record) for _, record in OLDEST} == set(get_args(Record))


@pytest.mark.parametrize("raw", [raw for raw, _ in NEWEST], ids=str)
def test_fields_of_a_later_release_are_ignored(raw: list[Any]) -> None:
    longest = msgspec.msgpack.decode(to_msgpack(read(raw)))
    assert read([*longest, "of a later release", {"a": 1}]) == read(raw)


@pytest.mark.parametrize(
    "raw", [["of a later release", 1], ["log"], ["metric", "g", "many", {}, 1.0], ["exit", "bored", 1, "", 1.5], [], {}]
)
def test_a_record_that_nobody_knows_is_refused(raw: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        read(raw)


def test_metrics_keep_nan_infinities_and_large_integers() -> None:
    report = MetricReport("training", 1, {"a": math.nan, "b": -math.inf, "c": 2**64 - 1, "d": [None, "x"]}, 1.0)
    metrics = from_msgpack(to_msgpack(report), MetricReport).metrics
    assert math.isnan(metrics.pop("a"))
    assert metrics == {"b": -math.inf, "c": 2**64 - 1, "d": [None, "x"]}


def test_a_batch_keeps_the_order_of_its_segments_and_records() -> None:
    records: list[Any] = [LogLine(str(n), float(n)) for n in range(5)] + [PreemptAck()]
    batch = ReportBatch(
        [Segment("user-9", 4, records), Segment("logs", 1, [Missing()]), Segment("user-9", 10, [])], 2.5
    )
    assert from_msgpack(to_msgpack(batch), ReportBatch) == batch
    assert from_msgpack(to_msgpack([[["logs", 1, [["missing"]]]]]), ReportBatch).sent is None
