"""Reports of a machine whose clock is wrong: they are kept, and everything that shows them goes on."""

import math
from typing import Any

import pytest
from tracked import Tracked

from determined.wire.report import MetricReport

EPOCH = "1970-01-01T00:00:00.000000Z"
BROKEN = [math.nan, math.inf, -math.inf, 1e300, -1e300, 1e15]


@pytest.fixture
def reported(trial: Tracked) -> Tracked:
    """A validation and a training report at each of the times that no clock shows, then one of a good clock."""
    for step, moment in enumerate([*BROKEN, 5.0], 1):
        trial.send(
            MetricReport("training", step, {"loss": 1.0 / step}, moment),
            MetricReport("validation", step, {"loss": 1.0 / step}, moment),
        )
    return trial


def test_workloads_are_listed_with_the_epoch_for_a_time_that_no_clock_shows(reported: Tracked, admin: Any) -> None:
    answer = admin.get(f"/api/v1/trials/{reported.trial_id}/workloads", fields={"limit": 100})
    assert answer.status == 200, answer.raw
    found = [w["validation"] for w in answer.json["workloads"] if w.get("validation")]
    assert [w["totalBatches"] for w in found] == list(range(1, len(BROKEN) + 2))
    assert [w["endTime"] for w in found] == [EPOCH] * len(BROKEN) + ["1970-01-01T00:00:05.000000Z"]


def test_the_history_of_the_best_validation_is_told(reported: Tracked, admin: Any) -> None:
    answer = admin.get(f"/api/v1/experiments/{reported.experiment_id}/validation-history")
    assert answer.status == 200, answer.raw
    history = answer.json["validationHistory"]
    assert history, "somebody was the best"
    assert {entry["endTime"] for entry in history} <= {EPOCH, "1970-01-01T00:00:05.000000Z"}


def test_charts_against_time_leave_out_what_has_no_time(reported: Tracked, admin: Any) -> None:
    fields = {"trialIds": reported.trial_id, "metricIds": "training.loss", "sampling": "bucket", "xAxis": "time"}
    [series] = admin.get("/api/v1/trials/time-series", fields=fields).json["trials"][0]["metrics"]
    assert all(isinstance(x, int | float) and math.isfinite(x) for x in series["x"])
    assert series["x"] == sorted(series["x"])
    assert 5.0 in series["x"]


SHOWING = [
    "/api/v1/trials/{trial}",
    "/api/v1/experiments/{experiment}",
    "/api/v1/experiments/{experiment}/trials",
    "/api/v1/trials/{trial}/metrics/series?name=loss",
    "/api/v1/trials/time-series?trialIds={trial}&metricNames=loss",
    "/api/v1/trials/time-series.csv?trialIds={trial}&metricIds=training.loss",
    "/api/v1/trials/metrics/validation_metrics?trialIds={trial}",
]


def test_everything_else_that_shows_the_trial_goes_on(reported: Tracked, admin: Any) -> None:
    for path in SHOWING:
        answer = admin.get(path.format(trial=reported.trial_id, experiment=reported.experiment_id))
        assert answer.status == 200, (path, answer.raw)
