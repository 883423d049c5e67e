"""Metrics over HTTP: older report endpoints, whole reports, live streams, system metrics."""

import json
import math
from typing import Any

import pytest
from metric_reports import SubmitTrial, finish, metric, results
from tracked import Tracked, write

from determined.wire.report import MetricReport


def test_reports_come_back_in_the_official_shape(trial: Tracked, admin: Any) -> None:
    trial.send(
        MetricReport("training", 1, {"loss": 0.5, "n": 3}, 10.0, [{"loss": 0.4}]),
        metric(1, "validation", loss=math.nan),
        metric(2, "mine", x="text"),
    )
    path = "/api/v1/trials/metrics/"
    (page,) = results(admin, path + "training_metrics", trialIds=trial.trial_id)
    (report,) = page["metrics"]
    assert report["metrics"] == {"avg_metrics": {"loss": 0.5, "n": 3}, "batch_metrics": [{"loss": 0.4}]}
    assert (report["totalBatches"], report["trialRunId"], report["archived"]) == (1, 1, False)
    assert report["endTime"] == "1970-01-01T00:00:10.000000Z"
    (page,) = results(admin, path + "validation_metrics", trialIds=trial.trial_id)
    assert page["metrics"][0]["metrics"] == {"validation_metrics": {"loss": "NaN"}}
    groups = [
        r["group"] for page in results(admin, path + "trial_metrics", trialIds=trial.trial_id) for r in page["metrics"]
    ]
    assert sorted(groups) == ["mine", "training", "validation"]


def test_metrics_of_unknown_trials_are_not_found(admin: Any, trial: Tracked) -> None:
    assert admin.get("/api/v1/trials/metrics/trial_metrics", fields={"trialIds": 99}).status == 404
    assert admin.get("/api/v1/trials/99/metrics/series", fields={"name": "loss"}).status == 404
    assert admin.get("/api/v1/trials/time-series", fields={"trialIds": 99}).status == 404
    assert admin.get("/api/v1/trials/metrics/trial_metrics").status == 400


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (
            "metrics",
            {
                "group": "training",
                "metrics": {
                    "trialId": 1, "trialRunId": 1, "stepsCompleted": "7", "reportTime": "2026-11-15T04:00:00Z",
                    "metrics": {"avgMetrics": {"loss": "NaN", "acc": 1}, "batchMetrics": []},
                },
            },
        ),
        (
            "training_metrics",
            {"trialRunId": 1, "stepsCompleted": 7, "metrics": {"avgMetrics": {"loss": "NaN", "acc": 1}}},
        ),
        (
            "training_metrics",
            {"trial_run_id": 1, "latest_batch": 7, "metrics": {"loss": "NaN", "acc": 1}, "batch_metrics": [{}]},
        ),
    ],
)  # fmt: skip
def test_older_harnesses_report_in_their_own_forms(trial: Tracked, admin: Any, path: str, body: Any) -> None:
    answer = admin.post(f"/api/v1/trials/{trial.trial_id}/{path}", body)
    assert (answer.status, answer.json) == (200, {})
    (page,) = results(admin, "/api/v1/trials/metrics/training_metrics", trialIds=trial.trial_id)
    assert page["metrics"][0]["metrics"]["avg_metrics"] == {"loss": "NaN", "acc": 1}
    assert page["metrics"][0]["totalBatches"] == 7


def test_older_reports_are_checked(trial: Tracked, admin: Any) -> None:
    path = f"/api/v1/trials/{trial.trial_id}/validation_metrics"
    good = {"trialRunId": 1, "stepsCompleted": 1, "metrics": {"avgMetrics": {"loss": 1.0}}}
    stale = admin.post(path, good | {"trialRunId": 9})
    assert (stale.status, "invalid run id" in stale.message) == (400, True)
    assert admin.post(path, good).status == 200
    assert admin.post(path, good).status == 200
    assert admin.post(path, good | {"metrics": {"avgMetrics": {"loss": 2.0}}}).status == 409
    for bad in (
        {}, [], {"metrics": 3}, good | {"stepsCompleted": "x"}, good | {"stepsCompleted": 1.5},
        good | {"stepsCompleted": -1},
        good | {"metrics": {"avgMetrics": {"a": None}}, "stepsCompleted": 2}, good | {"reportTime": "yesterday"},
        good | {"stepsCompleted": 10**30}, good | {"metrics": {"avgMetrics": {"epoch": "one"}}, "stepsCompleted": 3},
    ):  # fmt: skip
        assert admin.post(path, bad).status == 400, bad
    assert admin.post("/api/v1/trials/99/validation_metrics", good).status == 404
    huge = {"trialRunId": 1, "stepsCompleted": 4, "metrics": {"avgMetrics": {"a": 10**400, "b": 10**25}}}
    assert admin.post(f"/api/v1/trials/{trial.trial_id}/training_metrics", json.dumps(huge).encode()).status in (
        200,
        400,
    )


def test_a_task_reports_only_its_own_trial(submit_trial: SubmitTrial) -> None:
    mine, other = submit_trial(), submit_trial()
    body = {"trialRunId": 1, "stepsCompleted": 1, "metrics": {"avgMetrics": {"loss": 1.0}}}
    headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {mine.launch.token}"}
    post = mine.master.anonymous.post
    assert post(f"/api/v1/trials/{mine.trial_id}/training_metrics", body, headers=headers).status == 200
    assert post(f"/api/v1/trials/{other.trial_id}/training_metrics", body, headers=headers).status == 403


def test_metric_names_are_streamed_until_the_experiment_ends(trial: Tracked, admin: Any) -> None:
    trial.send(metric(1, loss=1.0), metric(1, "validation", loss=1.0), metric(1, "mine", x=1))
    path = "/api/v1/experiments/metrics-stream/metric-names"
    stream = admin.lines(path, fields={"ids": trial.experiment_id, "periodSeconds": 1})
    first = next(stream)["result"]
    assert first["searcherMetrics"] == ["loss"]
    assert first["trainingMetrics"] == ["loss"]
    assert {"group": "mine", "name": "x"} in first["metricNames"]
    trial.send(metric(2, acc=1.0))
    assert next(stream)["result"]["trainingMetrics"] == ["acc"]
    finish(trial)
    assert list(stream) == []
    assert admin.get(path, fields={"ids": 99}).status == 404


def test_batches_snapshot_and_sample_of_an_ended_experiment(trial: Tracked, admin: Any) -> None:
    trial.send(*(metric(i, "validation", loss=1 / i) for i in (10, 20, 30)))
    finish(trial)
    path = f"/api/v1/experiments/{trial.experiment_id}/metrics-stream"
    key = {"metricName": "loss", "metricType": "METRIC_TYPE_VALIDATION"}
    assert results(admin, f"{path}/batches", **key) == [{"batches": [10, 20, 30]}]
    (snapshot,) = results(admin, f"{path}/trials-snapshot", **key, batchesProcessed=19, batchesMargin=5)
    (found,) = snapshot["trials"]
    assert (found["trialId"], found["metric"], found["batchesProcessed"]) == (trial.trial_id, 0.05, 20)
    (sample,) = results(admin, f"{path}/trials-sample", metricName="loss", group="validation", maxTrials=5)
    assert (sample["promotedTrials"], sample["demotedTrials"]) == ([trial.trial_id], [])
    assert [p["values"]["loss"] for p in sample["trials"][0]["data"]] == [1 / 10, 1 / 20, 1 / 30]
    assert admin.get(f"{path}/batches", fields={"metricName": "loss"}).status == 400
    assert admin.get("/api/v1/experiments/99/metrics-stream/batches", fields=key).status == 404


def test_system_metrics_are_series_of_their_own(trial: Tracked, admin: Any) -> None:
    for i in range(3):
        trial.send(
            metric(None, "gpu", node0={"GPU-1": {"gpu_util": 0.5 + i}, "GPU-2": {"gpu_util": 0.1}}),
            metric(None, "cpu", node0={"cpu_util_simple": 10.0 * i}),
        )
    path = f"/api/v1/trials/{trial.trial_id}/profiler"
    (labels,) = results(admin, f"{path}/available_series")
    found = {(x["name"], x["agentId"], x["gpuUuid"]) for x in labels["labels"]}
    assert found == {("gpu_util", "node0", "GPU-1"), ("gpu_util", "node0", "GPU-2"), ("cpu_util_simple", "node0", "")}
    fields = {"labels.name": "gpu_util", "labels.agentId": "node0", "labels.gpuUuid": "GPU-1"}
    (answer,) = results(admin, f"{path}/metrics", **fields)
    assert answer["batch"]["values"] == [0.5, 1.5, 2.5]
    assert answer["batch"]["batches"] == [0, 1, 2]


def test_system_metrics_beyond_a_batch_are_only_the_new_ones(trial: Tracked, admin: Any) -> None:
    fields = {"labels.name": "cpu_util_simple", "labels.agentId": "node0"}
    path = f"/api/v1/trials/{trial.trial_id}/profiler/metrics"
    trial.send(*(metric(None, "cpu", node0={"cpu_util_simple": 10.0 * i}) for i in range(3)))
    assert results(admin, path, **fields, after=2) == []
    trial.send(metric(None, "cpu", node0={"cpu_util_simple": 30.0}))
    (answer,) = results(admin, path, **fields, after=2)
    assert (answer["batch"]["batches"], answer["batch"]["values"]) == ([3], [30.0])
    (answer,) = results(admin, path, **fields, after=-1)
    assert answer["batch"]["batches"] == [0, 1, 2, 3]
    for bad in ("-2", "x", str(2**63)):
        assert admin.get(path, fields={**fields, "after": bad}).status == 400


def test_the_older_profiler_posts_values_with_times(trial: Tracked, admin: Any) -> None:
    labels = {"trialId": trial.trial_id, "name": "gpu_util", "agentId": "node0", "gpuUuid": "GPU-1"}
    times = ["2026-11-15T04:00:00Z", "2026-11-15T04:00:01Z"]
    batch = {"values": [0.5, 0.75], "batches": [0, 0], "timestamps": times, "labels": labels}
    path = "/api/v1/trials/profiler/metrics"
    assert admin.post(path, {"batches": [batch]}).status == 200
    fields = {"labels.name": "gpu_util", "labels.agentId": "node0", "labels.gpuUuid": "GPU-1"}
    (answer,) = results(admin, f"/api/v1/trials/{trial.trial_id}/profiler/metrics", **fields)
    assert answer["batch"]["values"] == [0.5, 0.75]
    assert admin.post(path, {"batches": [batch | {"timestamps": times[:1]}]}).status == 400


def test_metrics_of_trials_that_use_a_checkpoint(trial: Tracked, admin: Any) -> None:
    trial.send(metric(5, "inference", acc=0.5))

    def use(conn: Any) -> None:
        conn.exec_driver_sql(
            "INSERT INTO checkpoints (uuid, task_id, state, steps_completed, metadata, resources, size, report_time)"
            f" VALUES ('c', '{trial.task_id}', 'COMPLETED', 1, '{{}}', '{{}}', 0, 0)"
        )
        conn.exec_driver_sql(
            "INSERT INTO trial_source_infos (trial_id, checkpoint_uuid, type)"
            f" VALUES ({trial.trial_id}, 'c', 'INFERENCE')"
        )

    write(trial.master, use)
    path = "/api/v1/checkpoints/c/metrics"
    (report,) = admin.get(path).json["metrics"]
    assert (report["group"], report["metrics"]) == ("inference", {"avg_metrics": {"acc": 0.5}})
    assert admin.get(path, fields={"trialSourceInfoType": "TRIAL_SOURCE_INFO_TYPE_FINE_TUNING"}).json["metrics"] == []


def test_a_report_has_a_bounded_number_of_metrics(trial: Tracked, admin: Any) -> None:
    """Each has a summary that is read and written while nobody else can write."""
    values = {f"m{n}": 1.0 for n in range(2001)}
    body = {"group": "training", "metrics": {"trialRunId": 1, "stepsCompleted": 1, "metrics": {"avgMetrics": values}}}
    token = {"Grpc-Metadata-x-allocation-token": f"Bearer {trial.launch.token}"}
    answer = trial.master.anonymous.post(f"/api/v1/trials/{trial.trial_id}/metrics", body, headers=token)
    assert answer.status == 400
    assert "has 2001 metrics; at most 2000 are taken in one" in answer.message
    trial.send(MetricReport("training", 1, values, 1.0), metric(2, loss=0.5))
    (page,) = results(admin, "/api/v1/trials/metrics/training_metrics", trialIds=trial.trial_id)
    assert [report["totalBatches"] for report in page["metrics"]] == [2], "the others of the batch are kept"
