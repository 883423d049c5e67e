"""Trials: what is shown, lists, progress, classic operations, workloads."""

from typing import Any

import pytest

from determined.wire.experiment import GetExperimentTrialsRequestSortBy


@pytest.fixture
def trial(user: Any, submit: Any, first_trial: Any) -> dict[str, Any]:
    shown: dict[str, Any] = first_trial(user, submit(user)["experiment"]["id"])
    return shown


def shown(client: Any, trial: dict[str, Any]) -> dict[str, Any]:
    answer = client.get(f"/api/v1/trials/{trial['id']}")
    assert answer.status == 200, answer.raw
    found: dict[str, Any] = answer.json["trial"]
    return found


def test_a_trial_shows_its_metrics_and_checkpoints(
    user: Any, trial: dict[str, Any], validate: Any, checkpoint: Any
) -> None:
    validate(trial["id"], 1, loss=2.0, acc=0.5)
    validate(trial["id"], 2, loss=1.0, acc=0.7)
    validate(trial["id"], 3, loss=4.0, acc=0.1)
    validate(trial["id"], 3, group="training", loss=9.0)
    first, best, last = (checkpoint(user, trial, n) for n in (1, 2, 3))
    found = shown(user, trial)
    assert found["state"] == "STATE_PAUSED"
    assert found["hparams"] == {"lr": 0.1, "net": {"width": 32}}
    assert found["totalBatchesProcessed"] == 3
    assert found["bestValidation"]["metrics"]["avgMetrics"] == {"loss": 1.0, "acc": 0.7}
    assert found["bestValidation"]["totalBatches"] == 2
    assert found["latestValidation"]["metrics"]["avgMetrics"] == {"loss": 4.0, "acc": 0.1}
    assert found["latestValidation"]["totalBatches"] == 3
    assert found["bestCheckpoint"]["uuid"] == best
    assert found["searcherMetricValue"] == 1.0
    assert found["checkpointCount"] == 3
    assert int(found["totalCheckpointSize"]) > 0
    assert set(found["summaryMetrics"]) == {"validation_metrics", "avg_metrics"}
    assert found["taskIds"] == [found["taskId"]]
    assert {first, last} != {best}


def test_nan_metrics_travel_as_text(user: Any, trial: dict[str, Any], validate: Any) -> None:
    validate(trial["id"], 1, loss=float("nan"), acc=float("inf"))
    assert shown(user, trial)["latestValidation"]["metrics"]["avgMetrics"] == {"loss": "NaN", "acc": "Infinity"}


def test_what_does_not_exist_is_not_found(user: Any) -> None:
    for path in ("trials/77", "trials/77/checkpoints", "trials/77/workloads", "trials/77/searcher/operation"):
        answer = user.get(f"/api/v1/{path}")
        assert answer.status == 404
        assert "77" in answer.message
    assert user.get("/api/v1/experiments/77/trials").status == 404
    assert user.post("/api/v1/trials/77/kill").status == 404
    assert user.post("/api/v1/trials/77/progress", 0.5).status == 404
    assert user.post("/api/v1/trials/77/runner/metadata", {"state": "x"}).status == 404


def test_trials_sort_by_every_key(user: Any, submit: Any) -> None:
    searcher = {"name": "random", "metric": "loss", "max_trials": 4}
    experiment = submit(user, searcher=searcher)["experiment"]["id"]
    for key in GetExperimentTrialsRequestSortBy:
        fields = {"sortBy": key.value, "orderBy": "ORDER_BY_DESC", "limit": 3}
        page = user.get(f"/api/v1/experiments/{experiment}/trials", fields=fields).json
        assert len(page["trials"]) == 3
        assert page["pagination"]["total"] == 4


def test_trials_are_ordered_by_their_metric_with_unmeasured_ones_last(user: Any, submit: Any, validate: Any) -> None:
    searcher = {"name": "random", "metric": "loss", "max_trials": 3}
    experiment = submit(user, searcher=searcher)["experiment"]["id"]
    ids = [t["id"] for t in user.get(f"/api/v1/experiments/{experiment}/trials").json["trials"]]
    validate(ids[0], 1, loss=2.0)
    validate(ids[2], 1, loss=1.0)
    for order, wanted in (("ASC", [ids[2], ids[0], ids[1]]), ("DESC", [ids[0], ids[2], ids[1]])):
        fields = {"sortBy": "SORT_BY_BEST_VALIDATION_METRIC", "orderBy": f"ORDER_BY_{order}"}
        page = user.get(f"/api/v1/experiments/{experiment}/trials", fields=fields).json
        assert [t["id"] for t in page["trials"]] == wanted


def test_trials_filter_by_displayed_state(user: Any, submit: Any) -> None:
    experiment = submit(user, activate=True)["experiment"]["id"]
    path = f"/api/v1/experiments/{experiment}/trials"
    assert len(user.get(path, fields={"states": ["STATE_QUEUED"]}).json["trials"]) == 1
    assert len(user.get(path, fields={"states": ["STATE_ACTIVE"]}).json["trials"]) == 1
    assert user.get(path, fields={"states": ["STATE_RUNNING", "STATE_ERROR"]}).json["trials"] == []


def test_killing_the_only_trial_ends_the_experiment(user: Any, trial: dict[str, Any]) -> None:
    assert user.post(f"/api/v1/trials/{trial['id']}/kill").status == 200
    assert shown(user, trial)["state"] == "STATE_CANCELED"
    assert user.post(f"/api/v1/trials/{trial['id']}/kill").status == 200


def test_progress_reaches_the_experiment(user: Any, trial: dict[str, Any]) -> None:
    path = f"/api/v1/trials/{trial['id']}/progress"
    assert user.post(path, {"progress": 0.25, "is_raw": True}).status == 200
    experiment = user.get(f"/api/v1/experiments/{trial['experimentId']}").json["experiment"]
    assert experiment["progress"] == pytest.approx(0.25)
    assert user.post(path, {"progress": 1.5, "isRaw": True}).status == 400
    assert user.post(path, {"progress": "much"}).status == 400
    assert user.post(path, b"[]").status == 400


def test_runner_state_is_shown(user: Any, trial: dict[str, Any]) -> None:
    assert user.post(f"/api/v1/trials/{trial['id']}/runner/metadata", {"state": "training"}).status == 200
    assert shown(user, trial)["runnerState"] == "training"


def test_only_invalid_hyperparameters_are_an_early_exit(user: Any, trial: dict[str, Any]) -> None:
    path = f"/api/v1/trials/{trial['id']}/early_exit"
    assert user.post(path, {"reason": "EXITED_REASON_TIRED"}).status == 400
    assert user.post(path, {}).status == 400
    assert user.post(path, {"reason": "EXITED_REASON_INVALID_HP"}).status == 200
    again = user.post(path, {"reason": "EXITED_REASON_INVALID_HP"})
    assert (again.status, "takes no more reports" in again.message) == (400, True)


def test_a_classic_trial_is_driven_by_operations(user: Any, submit: Any, first_trial: Any) -> None:
    searcher = {"name": "single", "metric": "loss", "max_length": {"batches": 100}}
    experiment = submit(user, searcher=searcher, activate=True)["experiment"]["id"]
    trial = first_trial(user, experiment)
    path = f"/api/v1/trials/{trial['id']}/searcher"
    operation = user.get(f"{path}/operation").json
    assert (operation["op"]["validateAfter"]["length"], operation["completed"]) == (100, False)
    wrong = user.post(f"{path}/completed_operation", {"op": {"length": 50}, "searcherMetric": 0.1})
    assert wrong.status == 400
    done = user.post(f"{path}/completed_operation", {"op": {"length": "100"}, "searcherMetric": "NaN"})
    assert done.status == 200, done.raw
    assert user.post(f"{path}/completed_operation", {"searcherMetric": 1}).status == 400


def test_workloads_list_reports_and_checkpoints_in_order(
    user: Any, trial: dict[str, Any], validate: Any, checkpoint: Any
) -> None:
    for step in (1, 2):
        validate(trial["id"], step, group="training", loss=10.0 - step)
        validate(trial["id"], step, loss=float(step))
    checkpoint(user, trial, 2)
    path = f"/api/v1/trials/{trial['id']}/workloads"

    def kinds(**fields: Any) -> list[str]:
        found = user.get(path, fields=fields).json["workloads"]
        return [next(k for k in ("training", "validation", "checkpoint") if w[k]) for w in found]

    assert kinds() == ["training", "validation", "training", "validation", "checkpoint"]
    assert kinds(filter="FILTER_OPTION_CHECKPOINT") == ["checkpoint"]
    assert kinds(filter="FILTER_OPTION_VALIDATION") == ["validation", "validation"]
    assert kinds(filter="FILTER_OPTION_CHECKPOINT_OR_VALIDATION") == ["validation", "validation", "checkpoint"]
    assert kinds(metricType="METRIC_TYPE_VALIDATION", limit=1) == ["validation"]
    assert kinds(orderBy="ORDER_BY_DESC")[0] == "checkpoint"


def test_workloads_are_sorted_by_a_metric_with_those_that_lack_it_last(
    user: Any, trial: dict[str, Any], validate: Any, checkpoint: Any
) -> None:
    for step, loss in enumerate((3.0, 1, float("nan"), 2.0, 1.0), 1):
        validate(trial["id"], step, loss=loss)
    validate(trial["id"], 6, other=1.0)
    checkpoint(user, trial, 2)

    def steps(order: str, **more: Any) -> list[int]:
        fields = {"sortKey": "loss", "orderBy": f"ORDER_BY_{order}", **more}
        found = user.get(f"/api/v1/trials/{trial['id']}/workloads", fields=fields).json["workloads"]
        return [(w["validation"] or w["checkpoint"])["totalBatches"] for w in found]

    assert steps("ASC") == [2, 5, 4, 1, 2, 3, 6]
    assert steps("DESC") == [1, 4, 5, 2, 6, 3, 2]
    assert steps("DESC", limit=2, offset=1) == [4, 5]
    assert steps("ASC", sortKey="absent") == [1, 2, 2, 3, 4, 5, 6]


def test_log_retention_of_a_trial_is_kept(user: Any, trial: dict[str, Any]) -> None:
    path = f"/api/v1/trials/{trial['id']}"
    assert user.get(f"{path}/remaining_log_retention_days").json["remainingDays"] == -1
    assert user.put(f"{path}/retain_logs", {"numDays": 3}).status == 200
    assert user.get(f"{path}/remaining_log_retention_days").json["remainingDays"] == 3
    assert user.put(f"{path}/retain_logs", {"numDays": 40000}).status == 400


def test_validation_history_holds_each_new_best(user: Any, trial: dict[str, Any], validate: Any) -> None:
    path = f"/api/v1/experiments/{trial['experimentId']}"
    assert user.get(f"{path}/searcher/best_searcher_validation_metric").status == 404
    for step, loss in ((1, 3.0), (2, 5.0), (3, 2.0)):
        validate(trial["id"], step, loss=loss, time=float(step))
    history = user.get(f"{path}/validation-history").json["validationHistory"]
    assert [h["searcherMetric"] for h in history] == [3.0, 2.0]
    best = user.get(f"{path}/searcher/best_searcher_validation_metric").json
    assert best["metric"] == 2.0


def test_a_source_checkpoint_is_recorded(user: Any, trial: dict[str, Any], checkpoint: Any) -> None:
    uuid = checkpoint(user, trial, 1)
    info = {
        "trialId": trial["id"],
        "checkpointUuid": uuid,
        "trialSourceInfoType": "TRIAL_SOURCE_INFO_TYPE_INFERENCE",
    }
    answer = user.post("/api/v1/trial-source-info", {"trialSourceInfo": info})
    assert answer.json == {"trialId": trial["id"], "checkpointUuid": uuid}
    missing = {**info, "checkpointUuid": "nope"}
    assert user.post("/api/v1/trial-source-info", {"trialSourceInfo": missing}).status == 404
