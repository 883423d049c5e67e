"""Reports of metrics as harnesses of three generations write them."""

import math
from datetime import UTC, datetime
from typing import Any

import pytest

from determined.errors import InvalidArgument
from determined.master.routes.metric_body import profiled, reported
from determined.wire.metric import TrialProfilerMetricLabels, TrialProfilerMetricsBatch
from determined.wire.report import MetricReport

NOW = datetime(2026, 11, 15, 4, tzinfo=UTC)
VALUES = {"loss": 0.5, "snake_case": 1}


def read(**body: Any) -> MetricReport:
    return reported("training", {"metrics": {"avgMetrics": VALUES}, **body}, NOW).report


@pytest.mark.parametrize(
    "body",
    [
        {"trialRunId": 2, "stepsCompleted": 7, "metrics": {"avgMetrics": VALUES, "batchMetrics": [{"a": 1}]}},
        {"trial_run_id": "2", "steps_completed": "7", "metrics": {"avg_metrics": VALUES, "batch_metrics": [{"a": 1}]}},
        {"trial_run_id": 2.0, "latest_batch": 7.0, "metrics": VALUES, "batch_metrics": [{"a": 1}]},
        {"trialRunId": 2, "stepsCompleted": None, "latestBatch": 7, "metrics": VALUES, "batchMetrics": [{"a": 1}]},
    ],
    ids=["camel case", "snake case", "the oldest form", "null beside the older name"],
)
def test_every_generation_says_the_same(body: dict[str, Any]) -> None:
    read_back = reported("training", body, NOW)
    assert read_back.run_id == 2
    assert read_back.report == MetricReport("training", 7, VALUES, NOW.timestamp(), [{"a": 1}])


def test_what_is_not_said_has_a_meaning() -> None:
    assert reported("g", {"metrics": {}}, NOW).run_id == 0
    assert reported("g", {"metrics": {}}, NOW).report == MetricReport("g", None, {}, NOW.timestamp(), None)
    assert read(metrics={"avgMetrics": VALUES, "batchMetrics": []}).batch_metrics is None


def test_metrics_that_are_called_like_a_field_are_metrics() -> None:
    assert read(metrics={"avgMetrics": 3, "loss": 1}).metrics == {"avgMetrics": 3, "loss": 1}


@pytest.mark.parametrize(
    ("time", "seconds"),
    [
        ("2026-11-15T04:00:01Z", NOW.timestamp() + 1),
        ("2026-11-15T09:30:01+05:30", NOW.timestamp() + 1),
        (1.5, 1.5),
        ("1.5", 1.5),
        (0, NOW.timestamp()),
        (None, NOW.timestamp()),
        ("", NOW.timestamp()),
    ],
)
def test_the_time_of_a_report_may_be_text_or_seconds(time: Any, seconds: float) -> None:
    assert read(reportTime=time).time == seconds


@pytest.mark.parametrize("time", ["noon", [1], {"seconds": 5}, True, math.nan, 1e300])
def test_a_time_that_is_none_is_refused_with_its_value(time: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"reportTime=.* is not a time; write it like 2026-11-15T04:00:00Z"):
        read(reportTime=time)


@pytest.mark.parametrize("name", ["stepsCompleted", "latestBatch", "trialRunId"])
@pytest.mark.parametrize("value", [1.5, "many", "1.0", True, False, [1], {}, math.inf, math.nan])
def test_a_count_that_is_no_whole_number_is_refused_with_its_name_and_value(name: str, value: Any) -> None:
    with pytest.raises(InvalidArgument, match=rf"{name}=.* is not a whole number"):
        read(**{name: value})


@pytest.mark.parametrize("metrics", [None, [], "loss", 5])
def test_a_report_without_metrics_is_refused(metrics: Any) -> None:
    with pytest.raises(InvalidArgument, match="the report has no `metrics`"):
        read(metrics=metrics)


@pytest.mark.parametrize("batches", [{}, "x", [1], [{"a": 1}, None]])
def test_metrics_of_batches_are_a_list_of_objects(batches: Any) -> None:
    with pytest.raises(InvalidArgument, match="batchMetrics must be a list of objects"):
        read(metrics={"avgMetrics": VALUES, "batchMetrics": batches})


def batch(values: list[float], times: list[str]) -> TrialProfilerMetricsBatch:
    labels = TrialProfilerMetricLabels(name="gpu_util", trial_id=3, agent_id="node0", gpu_uuid="GPU-1")
    return TrialProfilerMetricsBatch(batches=[], labels=labels, timestamps=times, values=values)


def test_each_value_of_the_older_profiler_has_its_time() -> None:
    reports = profiled(batch([0.5, 1.5], ["2026-11-15T04:00:01Z", ""]), NOW)
    assert [report.time for report in reports] == [NOW.timestamp() + 1, NOW.timestamp()]
    assert [report.metrics for report in reports] == [
        {"node0": {"GPU-1": {"gpu_util": 0.5}}},
        {"node0": {"GPU-1": {"gpu_util": 1.5}}},
    ]
    assert {(report.group, report.steps) for report in reports} == {("gpu", None)}


def test_values_and_times_of_the_profiler_must_be_as_many() -> None:
    with pytest.raises(InvalidArgument, match="the batch has 2 values but 1 timestamps"):
        profiled(batch([1.0, 2.0], ["2026-11-15T04:00:01Z"]), NOW)
    with pytest.raises(InvalidArgument, match="timestamps='noon' is not a time"):
        profiled(batch([1.0], ["noon"]), NOW)
