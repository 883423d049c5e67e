"""Charts over HTTP: series cut into buckets, comparisons of trials, only what is new, CSV."""

import csv
import math
from typing import Any

import pytest
from metric_reports import SubmitTrial, metric
from tracked import Tracked, one

from determined.master.services import metric_buckets


def test_a_series_is_cut_into_buckets_of_last_min_and_max(trial: Tracked, admin: Any) -> None:
    trial.send(*(metric(i, loss=float(i % 10)) for i in range(1000)))
    path = f"/api/v1/trials/{trial.trial_id}/metrics/series"
    answer = admin.get(path, fields={"group": "training", "name": "loss", "points": 100}).json
    assert (answer["exact"], answer["total"], len(answer["steps"])) == (False, 1000, 100)
    assert (answer["steps"][0], answer["steps"][-1]) == (9, 999)
    assert set(answer["last"]) == {9.0}
    assert set(answer["min"]) == {0.0}
    assert set(answer["max"]) == {9.0}
    part = admin.get(path, fields={"name": "loss", "from": 10, "to": 14}).json
    assert (part["exact"], part["steps"], part["last"]) == (True, [10, 11, 12, 13, 14], [0.0, 1.0, 2.0, 3.0, 4.0])
    assert admin.get(path, fields={"name": "none"}).json["steps"] == []
    assert admin.get(path).status == 400
    assert admin.get(path, fields={"name": "loss", "points": 0}).status == 400


def test_non_numbers_are_left_out_of_a_series(trial: Tracked, admin: Any) -> None:
    trial.send(metric(1, loss="x"), metric(2, loss=2.0), metric(3, acc=1.0), metric(4, loss=math.inf))
    answer = admin.get(f"/api/v1/trials/{trial.trial_id}/metrics/series", fields={"name": "loss"}).json
    assert (answer["steps"], answer["last"]) == ([2, 4], [2.0, "Infinity"])


def test_trials_are_compared_side_by_side(submit_trial: SubmitTrial, admin: Any) -> None:
    a, b = submit_trial(), submit_trial()
    for trial, scale in ((a, 1.0), (b, 2.0)):
        trial.send(*(metric(i, loss=scale * i, epoch=i / 100) for i in range(1, 301)))
        trial.send(*(metric(i, "validation", acc=scale) for i in (100, 200, 300)))
    fields: dict[str, Any] = {"trialIds": [a.trial_id, b.trial_id], "metricIds": ["training.loss", "validation.acc"]}
    answer = admin.get("/api/v1/trials/time-series", fields=fields | {"maxDatapoints": 10}).json
    assert [t["trial"]["id"] for t in answer["trials"]] == [a.trial_id, b.trial_id]
    training, validation = answer["trials"][1]["metrics"]
    assert (training["group"], training["type"], len(training["data"])) == ("training", "METRIC_TYPE_TRAINING", 10)
    last = training["data"][-1]
    assert (last["batches"], last["values"], last["epoch"]) == (300, {"loss": 600.0}, 3.0)
    assert (last["min"], last["max"]) == ({"loss": 542.0}, {"loss": 600.0})
    assert [p["batches"] for p in validation["data"]] == [100, 200, 300]
    assert "min" not in validation["data"][0]


def test_a_comparison_honours_range_and_filter(trial: Tracked, admin: Any) -> None:
    trial.send(*(metric(i, loss=float(i), epoch=i // 10) for i in range(100)))

    def batches(**fields: Any) -> list[int]:
        base = {"trialIds": trial.trial_id, "metricNames": "loss", "metricType": "METRIC_TYPE_TRAINING"}
        found = admin.get("/api/v1/trials/time-series", fields=base | fields).json["trials"][0]["metrics"]
        return [p["batches"] for m in found for p in m["data"]]

    assert batches(startBatches=10, endBatches=12) == [10, 11, 12]
    assert batches(**{"timeSeriesFilter.name": "epoch", "timeSeriesFilter.doubleRange.gt": 8}) == list(range(90, 100))
    assert batches(**{"timeSeriesFilter.name": "batches", "timeSeriesFilter.integerRange.incl": [3, 5]}) == [3, 5]
    late = {"timeSeriesFilter.name": "time", "timeSeriesFilter.timeRange.gte": "1970-01-12T13:48:15Z"}
    assert batches(**late) == [95, 96, 97, 98, 99]
    path = "/api/v1/trials/time-series"
    base = {"trialIds": trial.trial_id, "metricNames": "loss"}
    assert admin.get(path, fields=base | {"timeSeriesFilter.doubleRange.gt": 1}).status == 400
    bad = {"timeSeriesFilter.name": "epoch", "timeSeriesFilter.doubleRange.gt": "x"}
    assert admin.get(path, fields=base | bad).status == 400
    assert admin.get(path, fields={"trialIds": trial.trial_id, "metricIds": "loss"}).status == 400


def test_a_chart_of_a_hundred_thousand_points_is_small(trial: Tracked, admin: Any) -> None:
    for start in range(0, 100_000, 5000):
        trial.send(*(metric(start + i, loss=math.sin(start + i)) for i in range(5000)))
    answer = admin.get(f"/api/v1/trials/{trial.trial_id}/metrics/series", fields={"name": "loss", "points": 2000})
    assert len(answer.raw) <= 200_000
    assert answer.json["total"] == 100_000
    assert one(trial.master, "SELECT count(*) FROM metric_chunks") == 196


def test_buckets_are_exact_for_few_points_and_hide_no_spike_of_many(trial: Tracked, admin: Any) -> None:
    spike = dict.fromkeys(range(3000), 1.0) | {1234: 99.0}
    trial.send(*(metric(i, loss=value, epoch=i // 100) for i, value in spike.items()))
    trial.send(metric(10, "validation", loss=0.5))

    def chart(**fields: Any) -> list[Any]:
        base = {"trialIds": trial.trial_id, "metricNames": "loss", "sampling": "bucket", "maxDatapoints": 100}
        (found,) = admin.get("/api/v1/trials/time-series", fields=base | fields).json["trials"]
        assert found["trialId"] == trial.trial_id
        charts: list[Any] = found["metrics"]
        return charts

    training, validation = chart()
    assert (training["group"], training["exact"], training["total"]) == ("training", False, 3000)
    columns = [training[name] for name in ("x", "last", "min", "max", "count")]
    assert {len(column) for column in columns} == {94}
    assert (max(training["max"]), sum(training["count"]), training["x"][-1]) == (99.0, 3000, 2999)
    assert (validation["exact"], validation["x"], validation["last"], validation["count"]) == (True, [10], [0.5], [1])
    (zoomed,) = chart(group="training", startBatches=1230, endBatches=1239)
    assert (zoomed["exact"], zoomed["x"]) == (True, list(range(1230, 1240)))
    assert zoomed["last"] == zoomed["min"] == zoomed["max"] == [spike[i] for i in range(1230, 1240)]
    assert chart(group="training") == [training]


def test_buckets_against_epochs_and_time_have_bounds_of_their_own(trial: Tracked, admin: Any) -> None:
    trial.send(*(metric(i, loss=float(i), epoch=i / 10) for i in range(100)))
    base = {"trialIds": trial.trial_id, "metricIds": "training.loss", "sampling": "bucket"}

    def places(**fields: Any) -> list[Any]:
        (found,) = admin.get("/api/v1/trials/time-series", fields=base | fields).json["trials"][0]["metrics"]
        found_x: list[Any] = found["x"]
        return found_x

    assert places(xAxis="epoch", start=2.05, end=2.3) == [2.1, 2.2, 2.3]
    first, *_ = places(xAxis="time")
    assert places(xAxis="time", start=first + 3, end=first + 4) == [first + 3, first + 4]
    assert places(xAxis="epoch", startBatches=98) == [9.8, 9.9]
    path = "/api/v1/trials/time-series"
    assert admin.get(path, fields=base | {"xAxis": "moon"}).status == 400
    assert admin.get(path, fields=base | {"sampling": "random"}).status == 400
    filtered = {"timeSeriesFilter.name": "epoch", "timeSeriesFilter.doubleRange.gt": 8}
    assert admin.get(path, fields=base | filtered).status == 400
    assert admin.get(path, fields=base | {"trialIds": 99}).status == 404


def test_buckets_take_late_and_odd_reports_in_the_order_of_their_steps(trial: Tracked, admin: Any) -> None:
    trial.send(*(metric(i, loss=float(i)) for i in range(0, 1200, 2)))
    trial.send(metric(5, loss=5.0), metric(701, loss=math.nan), metric(1300, loss=True), metric(1301, other=1.0))
    trial.send(metric(1302, loss=math.inf), metric(1303, loss=7))
    fields = {"trialIds": trial.trial_id, "metricIds": "training.loss", "sampling": "bucket", "maxDatapoints": 2000}
    (found,) = admin.get("/api/v1/trials/time-series", fields=fields).json["trials"][0]["metrics"]
    assert found["x"] == sorted([*range(0, 1200, 2), 5, 701, 1302, 1303])
    values = dict(zip(found["x"], found["last"], strict=True))
    assert (values[5], values[701], values[1302], values[1303]) == (5.0, "NaN", "Infinity", 7)


def test_a_reader_who_comes_back_is_given_only_what_is_new(trial: Tracked, admin: Any) -> None:
    fields = {"trialIds": trial.trial_id, "metricIds": ["training.loss", "training.acc"], "sampling": "bucket"}

    def read(since: str | None) -> tuple[dict[str, list[int]], str, bool]:
        asked = {**fields, "since": since} if since else fields
        (found,) = admin.get("/api/v1/trials/time-series", fields=asked).json["trials"]
        (position,) = found["positions"]
        token = f"{trial.trial_id}/{position['group']}/{position['token']}"
        return {one["name"]: one["x"] for one in found["metrics"]}, token, position["continues"]

    trial.send(*(metric(step, loss=1.0) for step in range(1, 701)))
    everything, token, continues = read(None)
    assert (len(everything["loss"]), continues) == (700, False)
    nothing, token, continues = read(token)
    assert (nothing["loss"], continues) == ([700], True), "the last step is told again: it may have got more metrics"
    trial.send(metric(700, acc=2.0), metric(701, loss=1.0))
    new, token, continues = read(token)
    assert (new, continues) == ({"loss": [700, 701], "acc": [700]}, True)
    trial.send(metric(703, loss=1.0))
    _, token, _ = read(token)
    trial.send(metric(702, loss=1.0))  # late: what was read has a hole
    everything, token, continues = read(token)
    assert (len(everything["loss"]), continues) == (703, False)
    assert read(token)[2] is True
    assert admin.get("/api/v1/trials/time-series", fields={**fields, "since": "nonsense"}).status == 400


def test_buckets_count_what_is_not_finite_at_every_size(trial: Tracked, admin: Any) -> None:
    values = {7: math.nan, 8: math.inf}
    trial.send(*(metric(step, loss=values.get(step, 1.0)) for step in range(1, 101)))
    for points in (200, 10, 2):
        fields = {"trialIds": trial.trial_id, "metricIds": "training.loss", "sampling": "bucket"}
        answer = admin.get("/api/v1/trials/time-series", fields={**fields, "maxDatapoints": points}).json
        (series,) = answer["trials"][0]["metrics"]
        assert sum(series["notFinite"]) == 2, points
        assert len(series["notFinite"]) == len(series["x"])


def test_every_point_comes_as_csv(trial: Tracked, admin: Any) -> None:
    trial.send(*(metric(step, loss=step / 2, name="text") for step in range(1, 1301)))
    trial.send(metric(1300, group="validation", loss=math.nan))
    fields = {"trialIds": trial.trial_id, "metricIds": ["training.loss", "validation.loss", "training.name"]}
    answer = admin.get("/api/v1/trials/time-series.csv", fields=fields)
    assert answer.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(answer.raw.decode().splitlines()))
    assert [int(row["batches"]) for row in rows if row["metric"] == "training.loss"] == list(range(1, 1301))
    assert [row["value"] for row in rows if row["metric"] == "validation.loss"] == ["nan"]
    assert {row["trial"] for row in rows} == {str(trial.trial_id)}
    assert admin.get("/api/v1/trials/time-series.csv", fields={**fields, "trialIds": 9999}).status == 404


def test_buckets_against_epochs_have_no_place_for_infinity(trial: Tracked, admin: Any) -> None:
    for step, epoch in enumerate((0.5, math.inf, math.nan, 1.5), 1):
        trial.send(metric(step, loss=float(step), epoch=epoch))
    fields = {"trialIds": trial.trial_id, "metricIds": "training.loss", "sampling": "bucket", "xAxis": "epoch"}
    [series] = admin.get("/api/v1/trials/time-series", fields=fields).json["trials"][0]["metrics"]
    assert (series["x"], series["last"]) == ([0.5, 1.5], [1.0, 4.0])


def test_charts_of_more_points_than_can_be_answered_are_refused(
    trial: Tracked, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in range(3):
        trial.send(metric(step, loss=1.0))
    fields = {"trialIds": trial.trial_id, "metricIds": "training.loss", "sampling": "bucket"}
    monkeypatch.setattr(metric_buckets, "_MOST_BUCKETS", 3)
    assert admin.get("/api/v1/trials/time-series", fields=fields).status == 200
    monkeypatch.setattr(metric_buckets, "_MOST_BUCKETS", 2)
    answer = admin.get("/api/v1/trials/time-series", fields=fields)
    assert answer.status == 400 and "name fewer trials" in answer.message
