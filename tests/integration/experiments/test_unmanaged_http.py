"""Detached mode: the client makes experiments and trials, says how they stand, and may fall silent."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest

from determined.master.background import unmanaged
from determined.master.services.imported_id import prefix

FIRST = "3f1d2a8e-0000-4000-8000-000000000001"


@pytest.fixture
def experiment(user: Any) -> int:
    body = {"config": json.dumps({"name": "u", "searcher": {"name": "single", "metric": "m"}}), "unmanaged": True}
    answer = user.post("/api/v1/experiments", body)
    assert answer.status == 200, answer.raw
    made: dict[str, Any] = answer.json["experiment"]
    assert (made["state"], made["unmanaged"], made["numTrials"]) == ("STATE_PAUSED", True, 0)
    return int(made["id"])


def new_trial(client: Any, experiment: int) -> dict[str, Any]:
    answer = client.post("/api/v1/trials", {"experimentId": experiment, "hparams": {"a": 1}, "unmanaged": True})
    assert answer.status == 200, answer.raw
    trial: dict[str, Any] = answer.json["trial"]
    return trial


def patch(client: Any, trial: dict[str, Any], state: str | None = None) -> dict[str, Any]:
    body = {"trialId": trial["id"], **({"state": f"STATE_{state}"} if state else {})}
    answer = client.patch(f"/api/v1/trials/{trial['id']}", body)
    assert answer.status == 200, answer.raw
    changed: dict[str, Any] = answer.json["trial"]
    return changed


def state(client: Any, experiment: int) -> str:
    shown: str = client.get(f"/api/v1/experiments/{experiment}").json["experiment"]["state"]
    return shown.removeprefix("STATE_")


def test_the_client_says_how_its_trial_stands(user: Any, experiment: int) -> None:
    trial = new_trial(user, experiment)
    assert trial["taskId"]
    assert trial["hparams"] == {"a": 1}
    started = user.post(f"/api/v1/trials/{trial['id']}/start", {"trialId": trial["id"], "resume": True}).json
    assert started == {"trialRunId": 1, "stepsCompleted": 0, "latestCheckpoint": None}
    assert patch(user, trial, "RUNNING")["state"] == "STATE_RUNNING"
    assert state(user, experiment) == "RUNNING"
    for path in ("/api/v1/experiments", f"/api/v1/experiments/{experiment}/trials"):
        assert user.get(path, fields={"states": ["STATE_RUNNING"]}).json["pagination"]["total"] == 1
        assert user.get(path, fields={"states": ["STATE_QUEUED"]}).json["pagination"]["total"] == 0
    assert patch(user, trial)["state"] == "STATE_RUNNING"
    done = patch(user, trial, "COMPLETED")
    assert (done["state"], state(user, experiment)) == ("STATE_COMPLETED", "COMPLETED")
    assert done["endTime"]


def test_an_experiment_shows_its_most_advanced_trial(user: Any, experiment: int) -> None:
    first, second = new_trial(user, experiment), new_trial(user, experiment)
    patch(user, first, "ERROR")
    assert state(user, experiment) == "ERROR"
    patch(user, second, "RUNNING")
    assert state(user, experiment) == "RUNNING"
    patch(user, second, "COMPLETED")
    assert state(user, experiment) == "COMPLETED"


def test_resuming_goes_on_from_the_latest_checkpoint(user: Any, experiment: int) -> None:
    trial = new_trial(user, experiment)
    patch(user, trial, "RUNNING")
    report = {"uuid": FIRST, "taskId": trial["taskId"], "metadata": {"steps_completed": 7}, "resources": {}}
    assert user.post("/api/v1/checkpoints", report).status == 200
    path = f"/api/v1/trials/{trial['id']}/start"
    started = user.post(path, {"resume": True}).json
    assert started == {"trialRunId": 2, "stepsCompleted": 7, "latestCheckpoint": FIRST}


def test_external_ids_name_the_same_experiment_and_trial_again(user: Any) -> None:
    body = {"config": json.dumps({"searcher": {"name": "single", "metric": "m"}}), "unmanaged": True}
    first = user.put("/api/v1/experiments/by-external-id/my-exp", body)
    assert first.status == 200, first.raw
    again = user.put("/api/v1/experiments/by-external-id/my-exp", body).json
    experiment = first.json["experiment"]["id"]
    assert again["experiment"]["id"] == experiment
    assert again["experiment"]["externalExperimentId"] == "my-exp"
    made = {"createTrialRequest": {"experimentId": experiment, "unmanaged": True}, "externalTrialId": "t-1"}
    trial = user.put("/api/v1/trials", made).json["trial"]
    assert user.put("/api/v1/trials", made).json["trial"]["id"] == trial["id"]
    found = user.get("/api/v1/trials/by-external-id/my-exp/t-1")
    assert found.json["trial"]["id"] == trial["id"]
    assert user.get("/api/v1/trials/by-external-id/my-exp/t-2").status == 404
    assert user.get("/api/v1/trials/by-external-id/other/t-1").status == 404
    assert user.put("/api/v1/trials", {"externalTrialId": "t"}).status == 400


def test_the_task_of_a_trial_has_its_external_id(user: Any, experiment: int) -> None:
    made = {"createTrialRequest": {"experimentId": experiment, "unmanaged": True}, "externalTrialId": "t-1"}
    assert user.put("/api/v1/trials", made).json["trial"]["taskId"] == f"{experiment}.t-1"


def test_workers_that_ask_at_once_get_one_experiment(user: Any) -> None:
    body = {"config": json.dumps({"searcher": {"name": "single", "metric": "m"}}), "unmanaged": True}
    path = "/api/v1/experiments/by-external-id/shared"
    with ThreadPoolExecutor(4) as workers:
        answers = list(workers.map(lambda _: user.put(path, body), range(8)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.json["experiment"]["id"] for answer in answers}) == 1


def test_an_id_as_imports_make_them_is_refused(user: Any) -> None:
    """Whoever takes the id of a run first would get what an administrator imports."""
    body = {"config": json.dumps({"searcher": {"name": "single", "metric": "m"}}), "unmanaged": True}
    path = f"/api/v1/experiments/by-external-id/{quote(prefix('/srv/mlruns') + 'run-1', safe='')}"
    refused = user.put(path, body)
    assert (refused.status, "are for imported runs" in refused.message) == (400, True)


def test_an_external_id_of_a_managed_experiment_is_no_unmanaged_one(user: Any) -> None:
    config = {"searcher": {"name": "single", "metric": "m"}, "entrypoint": "true", "resources": {"slots_per_trial": 0}}
    path = "/api/v1/experiments/by-external-id/mine"
    assert user.put(path, {"config": json.dumps(config)}).status == 200
    refused = user.put(path, {"config": json.dumps(config), "unmanaged": True})
    assert (refused.status, "only unmanaged experiments are supported" in refused.message) == (400, True)
    forked = user.put(path + "2", {"config": json.dumps(config), "unmanaged": True, "parentId": 1})
    assert (forked.status, "cannot be a fork" in forked.message) == (400, True)
    assert user.put(path + "%0A", {"config": json.dumps(config), "unmanaged": True}).status == 400


def test_a_silent_trial_is_swept_into_error(master: Any, user: Any, experiment: int) -> None:
    quiet, spoken = new_trial(user, experiment), new_trial(user, experiment)
    patch(user, quiet, "RUNNING")

    class Later:
        def now(self) -> Any:
            return master.ctx.clock.now() + timedelta(minutes=6)

    began = master.ctx.clock.now()
    asyncio.run(unmanaged.sweep(master.ctx, began))
    assert state(user, experiment) == "RUNNING"
    asyncio.run(unmanaged.sweep(replace(master.ctx, clock=Later()), began))
    swept = user.get(f"/api/v1/trials/{quiet['id']}").json["trial"]
    assert swept["state"] == "STATE_ERROR"
    assert user.get(f"/api/v1/trials/{spoken['id']}").json["trial"]["state"] == "STATE_PAUSED"
    assert state(user, experiment) == "ERROR"


def test_a_managed_trial_takes_no_state_from_outside(user: Any, submit: Any, first_trial: Any) -> None:
    trial = first_trial(user, submit(user)["experiment"]["id"])
    refused = user.patch(f"/api/v1/trials/{trial['id']}", {"state": "STATE_COMPLETED"})
    assert refused.status == 400
    assert "managed" in refused.message
    assert user.post(f"/api/v1/trials/{trial['id']}/start", {"resume": True}).status == 400
    body = {"experimentId": trial["experimentId"], "unmanaged": True}
    assert user.post("/api/v1/trials", body).status == 400
    assert user.post("/api/v1/trials", {"experimentId": 99, "unmanaged": True}).status == 404


def test_progress_of_an_unmanaged_trial_is_that_of_its_experiment(user: Any, experiment: int) -> None:
    trial = new_trial(user, experiment)
    assert user.post(f"/api/v1/trials/{trial['id']}/progress", {"progress": 0.5, "isRaw": True}).status == 200
    assert user.get(f"/api/v1/experiments/{experiment}").json["experiment"]["progress"] == 0.5


def test_killing_an_unmanaged_experiment_ends_it(user: Any, experiment: int) -> None:
    patch(user, new_trial(user, experiment), "RUNNING")
    assert user.post(f"/api/v1/experiments/{experiment}/kill").status == 200
    assert state(user, experiment) == "CANCELED"
