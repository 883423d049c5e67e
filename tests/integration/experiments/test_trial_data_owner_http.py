"""Who may write what a trial has measured: its owner, its own task, an administrator. Others may look."""

import json
from typing import Any

import pytest

UUID = "3f1d2a8e-0000-4000-8000-00000000000b"
METRICS: dict[str, Any] = {"trialRunId": 0, "stepsCompleted": 9, "metrics": {"avgMetrics": {"loss": 1.0}}}


@pytest.fixture
def eve(master: Any, admin: Any) -> Any:
    admin.post("/api/v1/users", {"user": {"username": "eve", "admin": False, "active": True}, "password": ""})
    return master.client("eve")


@pytest.fixture
def trial(user: Any, submit: Any, first_trial: Any) -> dict[str, Any]:
    found: dict[str, Any] = first_trial(user, submit(user)["experiment"]["id"])
    return found


def _reports(trial: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """Everything that says something new of a trial."""
    path = f"/api/v1/trials/{trial['id']}"
    checkpoint = {"uuid": UUID, "taskId": trial["taskId"], "metadata": {"steps_completed": 1}, "resources": {}}
    profile = {"labels": {"name": "cpu", "trialId": trial["id"]}, "values": [], "batches": [], "timestamps": []}
    return [
        ("POST", "/api/v1/checkpoints", checkpoint),
        ("POST", f"{path}/metrics", {"group": "g", "metrics": METRICS}),
        ("POST", f"{path}/training_metrics", METRICS),
        ("POST", f"{path}/validation_metrics", METRICS),
        ("POST", f"{path}/progress", 0.5),
        ("POST", f"{path}/runner/metadata", {"state": "x"}),
        ("POST", "/api/v1/trials/profiler/metrics", {"batches": [profile]}),
        ("POST", "/api/v1/task/logs", {"logs": [{"taskId": trial["taskId"], "log": "forged"}]}),
        ("POST", "/task-logs", [{"task_id": trial["taskId"], "log": "forged"}]),
        ("POST", f"{path}/searcher/completed_operation", {"op": {"length": "1"}, "searcherMetric": 1}),
        ("POST", f"{path}/early_exit", {"reason": "EXITED_REASON_INVALID_HP"}),
    ]


def _changes(trial: dict[str, Any], uuid: str) -> list[tuple[str, str, Any]]:
    """Return what may be changed of a trial that is over as well."""
    checkpoint = {"uuid": uuid, "metadata": {"note": "x"}, "resources": {}, "training": {}, "state": "STATE_COMPLETED"}
    left = {"checkpoints": [{"uuid": uuid, "resources": {"resources": {"weights.bin": "10"}}}]}
    return [
        ("POST", f"/api/v1/checkpoints/{uuid}/metadata", {"checkpoint": checkpoint}),
        ("PATCH", "/api/v1/checkpoints", left),
        ("POST", f"/api/v1/runs/{trial['id']}/metadata", {"metadata": {"note": "x"}}),
        ("POST", "/api/v1/runs/start", {"runId": trial["id"]}),
    ]


def _statuses(client: Any, calls: list[tuple[str, str, Any]]) -> dict[str, int]:
    return {f"{m} {path}": client.call(m, path, json.dumps(body).encode()).status for m, path, body in calls}


def test_nobody_writes_the_data_of_another_users_trial(
    user: Any, eve: Any, trial: dict[str, Any], checkpoint: Any
) -> None:
    uuid = checkpoint(user, trial, 1)
    answers = _statuses(eve, _reports(trial) + _changes(trial, uuid))
    assert not {call: status for call, status in answers.items() if status != 403}
    shown = user.get(f"/api/v1/checkpoints/{uuid}").json["checkpoint"]
    assert shown["metadata"] == {"steps_completed": 1, "framework": "none"}


def test_everybody_still_uses_the_verbs_of_any_experiment(eve: Any, trial: dict[str, Any]) -> None:
    path = f"/api/v1/experiments/{trial['experimentId']}"
    assert eve.put(f"{path}/labels/found").status == 200
    assert eve.patch(path, {"notes": "seen"}).status == 200
    assert eve.post(f"{path}/kill").status == 200


def test_owner_and_administrator_write_it(user: Any, admin: Any, trial: dict[str, Any], checkpoint: Any) -> None:
    uuid = checkpoint(user, trial, 1)
    for client in (user, admin):
        answers = _statuses(client, _reports(trial)[:9] + _changes(trial, uuid))
        assert not {call: status for call, status in answers.items() if status != 200}


def test_a_managed_trial_that_is_over_takes_no_more_reports(user: Any, trial: dict[str, Any], checkpoint: Any) -> None:
    uuid = checkpoint(user, trial, 1)
    user.post(f"/api/v1/experiments/{trial['experimentId']}/kill")
    answers = _statuses(user, _reports(trial))
    assert not {call: status for call, status in answers.items() if status != 400}
    noted = _statuses(user, _changes(trial, uuid))
    assert not {call: status for call, status in noted.items() if status != 200}, "its owner may annotate it"


def test_an_unmanaged_trial_belongs_to_the_owner_of_its_experiment(user: Any, eve: Any) -> None:
    config = json.dumps({"name": "u", "searcher": {"name": "single", "metric": "m"}})
    experiment = user.post("/api/v1/experiments", {"config": config, "unmanaged": True}).json["experiment"]["id"]
    new = {"experimentId": experiment, "hparams": {}, "unmanaged": True}
    assert eve.post("/api/v1/trials", new).status == 403
    assert eve.put("/api/v1/trials", {"createTrialRequest": new, "externalTrialId": "t"}).status == 403
    trial = user.post("/api/v1/trials", new).json["trial"]
    path = f"/api/v1/trials/{trial['id']}"
    assert eve.patch(path, {"state": "STATE_COMPLETED"}).status == 403
    assert eve.post(f"{path}/start", {"resume": False}).status == 403
    assert user.patch(path, {"state": "STATE_COMPLETED"}).status == 200
    late = {"logs": [{"taskId": trial["taskId"], "log": "late"}]}
    assert user.post("/api/v1/task/logs", late).status == 200, "its client decides when it is over"
    assert eve.post("/api/v1/task/logs", late).status == 403
    assert user.post("/api/v1/task/logs", {"logs": [{"taskId": "no.task", "log": "x"}]}).status == 404
