"""Submitting experiments: what is accepted, stored and refused."""

import base64
import io
import json
import tarfile
import time
from collections.abc import Callable
from typing import Any


def test_a_submitted_experiment_is_stored_paused_with_its_first_trial(user: Any, submit: Any) -> None:
    made = submit(user)
    experiment = made["experiment"]
    assert experiment["state"] == "STATE_PAUSED"
    assert experiment["name"] == "test"
    assert experiment["username"] == "determined"
    assert experiment["numTrials"] == 1
    assert experiment["searcherType"] == "single"
    assert made["config"]["max_restarts"] == 5
    assert json.loads(experiment["originalConfig"])["name"] == "test"


def test_activate_queues_the_experiment_in_the_same_request(user: Any, submit: Any) -> None:
    experiment = submit(user, activate=True)["experiment"]
    assert experiment["state"] == "STATE_QUEUED"
    answer = user.get(f"/api/v1/experiments/{experiment['id']}").json
    assert answer["experiment"]["state"] == "STATE_QUEUED"
    assert answer["experiment"]["trialIds"]
    (queued,) = wait_for(lambda: user.get("/api/v1/job-queues-v2").json["jobs"])
    assert queued["full"]["jobId"] == experiment["jobId"]
    assert user.get(f"/api/v1/experiments/{experiment['id']}").json["jobSummary"] == queued["full"]["summary"]


def wait_for(get: Callable[[], Any]) -> Any:
    """The scheduler works beside the request: ask until it has something to show."""
    deadline = time.monotonic() + 60
    while not (found := get()):
        assert time.monotonic() < deadline, "nothing was shown within a minute"
        time.sleep(0.02)
    return found


def test_a_webhook_that_does_not_exist_is_told_of_at_the_submit(user: Any, submit: Any, config: Any) -> None:
    named = {"webhooks": {"webhook_name": ["mine", "mine"]}}
    told = "no webhook 'mine' here; alerts reach nobody (det webhook list)"
    assert submit(user, integrations=named)["messages"] == [told]
    assert submit(user, integrations={"webhooks": {"webhook_id": [7]}})["messages"] == [told.replace("'mine'", "7")]
    assert submit(user, integrations={"webhooks": {"webhook_name": ["mine"], "exclude": True}})["messages"] == []
    body = {"config": json.dumps(config(integrations=named)), "unmanaged": True}
    made = user.put("/api/v1/experiments/by-external-id/named", body).json
    assert made["messages"] == [told]
    assert user.put("/api/v1/experiments/by-external-id/named", body).json["messages"] == [], "it was there before"
    made = user.post("/api/v1/experiments/dry-run", {"config": json.dumps(config(integrations=named))}).json
    assert told in made["warnings"]


def test_every_violation_of_a_config_is_named(user: Any, config: Any) -> None:
    body = {"config": json.dumps(config(sercher={}, max_restarts=-1))}
    answer = user.post("/api/v1/experiments", body)
    assert answer.status == 400
    assert "searcher" in answer.message
    assert "max_restarts" in answer.message


def test_text_that_is_not_yaml_is_refused_with_its_place(user: Any) -> None:
    answer = user.post("/api/v1/experiments", {"config": "a: [1, 2"})
    assert answer.status == 400
    assert "line" in answer.message


def test_an_empty_config_is_refused(user: Any) -> None:
    assert user.post("/api/v1/experiments", {"config": ""}).status == 400
    assert user.post("/api/v1/experiments", {}).status == 400


def test_validate_only_stores_nothing(user: Any, config: Any) -> None:
    answer = user.post("/api/v1/experiments", {"config": json.dumps(config()), "validateOnly": True})
    assert answer.status == 200
    assert answer.json["config"]["name"] == "test"
    assert user.get("/api/v1/experiments").json["pagination"]["total"] == 0


def test_an_unknown_template_is_not_found(user: Any, config: Any) -> None:
    answer = user.post("/api/v1/experiments", {"config": json.dumps(config()), "template": "nope"})
    assert answer.status == 404
    assert "template 'nope' not found" in answer.message
    assert "det template list" in answer.message


def test_an_unknown_project_is_not_found(user: Any, config: Any) -> None:
    by_id = user.post("/api/v1/experiments", {"config": json.dumps(config()), "projectId": 99})
    by_name = user.post("/api/v1/experiments", {"config": json.dumps(config(workspace="w", project="p"))})
    half = user.post("/api/v1/experiments", {"config": json.dumps(config(workspace="w"))})
    assert (by_id.status, by_name.status, half.status) == (404, 404, 400)


def test_an_unknown_pool_is_refused_by_name(user: Any, config: Any) -> None:
    raw = config(resources={"slots_per_trial": 0, "resource_pool": "gpus"})
    answer = user.post("/api/v1/experiments", {"config": json.dumps(raw)})
    assert answer.status == 400
    assert "gpus" in answer.message


def test_more_slots_than_the_pool_has_are_refused(user: Any, config: Any) -> None:
    raw = config(resources={"slots_per_trial": 64})
    answer = user.post("/api/v1/experiments", {"config": json.dumps(raw)})
    assert answer.status == 400
    assert "64" in answer.message


def test_the_model_definition_comes_back_as_it_was_sent(user: Any, submit: Any, files: Any) -> None:
    sent = [files("pkg", directory=True), files("pkg/a.py", b"x = 1\n"), files("train.py", b"print(1)\n")]
    experiment_id = submit(user, files=sent)["experiment"]["id"]
    packed = base64.b64decode(user.get(f"/api/v1/experiments/{experiment_id}/model_def").json["b64Tgz"])
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        assert sorted(archive.getnames()) == ["pkg", "pkg/a.py", "train.py"]
    tree = user.get(f"/api/v1/experiments/{experiment_id}/file_tree").json["files"]
    assert [(n["name"], n["isDir"]) for n in tree] == [("pkg", True), ("train.py", False)]
    assert [n["path"] for n in tree[0]["files"]] == ["pkg/a.py"]
    one = user.post(f"/api/v1/experiments/{experiment_id}/file", {"path": "pkg/a.py"})
    assert base64.b64decode(one.json["file"]) == b"x = 1\n"
    assert user.post(f"/api/v1/experiments/{experiment_id}/file", {"path": "nope"}).status == 404


def test_an_experiment_without_files_has_an_empty_model_definition(user: Any, submit: Any) -> None:
    experiment_id = submit(user)["experiment"]["id"]
    packed = base64.b64decode(user.get(f"/api/v1/experiments/{experiment_id}/model_def").json["b64Tgz"])
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        assert archive.getnames() == []
    assert user.get("/api/v1/experiments/99/model_def").status == 404


def test_a_fork_takes_over_the_files_of_its_parent(user: Any, submit: Any, files: Any) -> None:
    parent = submit(user, files=[files("train.py", b"1")])["experiment"]["id"]
    fork = submit(user, parentId=parent)["experiment"]
    assert fork["forkedFrom"] == parent
    tree = user.get(f"/api/v1/experiments/{fork['id']}/file_tree").json["files"]
    assert [n["name"] for n in tree] == ["train.py"]


def test_forking_what_does_not_exist_is_not_found(user: Any, config: Any) -> None:
    answer = user.post("/api/v1/experiments", {"config": json.dumps(config()), "parentId": 77})
    assert answer.status == 404
    assert "77" in answer.message


def test_a_run_from_outside_of_the_cluster_is_forked_only_with_code(user: Any, config: Any, files: Any) -> None:
    tracked = user.post("/api/v1/experiments", {"config": json.dumps(config()), "unmanaged": True})
    fork = {"config": json.dumps(config()), "parentId": tracked.json["experiment"]["id"]}
    answer = user.post("/api/v1/experiments", fork)
    assert answer.status == 400
    assert "has no code to fork" in answer.message
    answer = user.post("/api/v1/experiments", {**fork, "modelDefinition": [files("train.py", b"1")]})
    assert answer.status == 200, answer.message


def test_a_context_over_the_limit_names_detignore(start_master: Any, files: Any, config: Any) -> None:
    user = start_master().client("determined")
    sent = [files(f"f{i}", b"0" * (24 * 1024 * 1024)) for i in range(4)]
    answer = user.post("/api/v1/experiments", {"config": json.dumps(config()), "modelDefinition": sent})
    assert answer.status == 413
    assert ".detignore" in answer.message


def test_a_file_outside_the_context_is_refused(user: Any, files: Any, config: Any) -> None:
    body = {"config": json.dumps(config()), "modelDefinition": [files("../evil", b"x")]}
    assert user.post("/api/v1/experiments", body).status == 400


def test_warm_start_from_a_trial_uses_its_latest_checkpoint(
    user: Any, submit: Any, first_trial: Any, checkpoint: Any, config: Any
) -> None:
    trial = first_trial(user, submit(user)["experiment"]["id"])
    searcher = {"name": "single", "metric": "loss", "source_trial_id": trial["id"]}
    refused = user.post("/api/v1/experiments", {"config": json.dumps(config(searcher=searcher))})
    assert refused.status == 400
    assert f"source trial {trial['id']}" in refused.message
    checkpoint(user, trial, 5)
    latest = checkpoint(user, trial, 9)
    checkpoint(user, trial, 7)
    second = first_trial(user, submit(user, searcher=searcher)["experiment"]["id"])
    assert second["warmStartCheckpointUuid"] == latest
    assert second["id"] != trial["id"]


def test_warm_start_from_an_unknown_source_is_not_found(user: Any, config: Any) -> None:
    for source in ({"source_trial_id": 9}, {"source_checkpoint_uuid": "7d9a8a30-2f11-4a6c-9e9f-000000000000"}):
        raw = config(searcher={"name": "single", "metric": "loss", **source})
        assert user.post("/api/v1/experiments", {"config": json.dumps(raw)}).status == 404


def test_a_submission_without_credentials_is_refused(master: Any) -> None:
    assert master.anonymous.post("/api/v1/experiments", {"config": "{}"}).status == 401
