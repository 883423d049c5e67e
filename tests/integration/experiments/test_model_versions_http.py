"""Versions of models over HTTP: registered, changed, deleted, by number and alias, and the checkpoints they keep."""

from typing import Any

import pytest
from registered_models import at, model, refused, version
from sqlalchemy import text
from stored_checkpoints import states

NOWHERE = "3f1d2a8e-0000-4000-8000-00000000000a"


@pytest.fixture
def uuid(user: Any, trial: dict[str, Any], checkpoint: Any) -> str:
    stored: str = checkpoint(user, trial, 4)
    return stored


def test_a_version_shows_its_checkpoint_and_its_model(user: Any, uuid: str, trial: Any, validate: Any) -> None:
    validate(trial["id"], 4, loss=0.5)
    model(user, "m")
    fields = {"name": "first", "comment": "c", "notes": "n", "labels": ["x", "x"], "metadata": {"k": 1}}
    made = version(user, "m", uuid, **fields)
    assert (made["version"], made["name"], made["comment"], made["notes"]) == (1, "first", "c", "n")
    assert (made["labels"], made["metadata"], made["aliases"]) == (["x"], {"k": 1}, [])
    assert (made["checkpoint"]["uuid"], made["username"]) == (uuid, "determined")
    assert made["checkpoint"]["training"]["validationMetrics"]["avgMetrics"] == {"loss": 0.5}
    assert (made["model"]["name"], made["model"]["numVersions"]) == ("m", 1)
    assert user.get(at("m", "versions", 1)).json["modelVersion"] == made
    assert user.get(at("m", "versions", "latest")).json["modelVersion"] == made
    assert user.get(f"/api/v1/checkpoints/{uuid}/model-versions").json["modelVersions"] == [made]


def test_what_names_no_version_is_not_found(user: Any, uuid: str) -> None:
    model(user, "m")
    refused(user.get(at("m", "versions", "latest")), 404, 'version latest for model "m" not found')
    version(user, "m", uuid)
    for word in ("2", "0", "-1", "9" * 30, "production", "1.0", "' OR 1=1 --"):
        for path in (
            at("m", "versions", word),
            at("m", "versions", word, "files"),
            at("m", "versions", word, "trials"),
        ):
            refused(user.get(path), 404, f'version {word} for model "m" not found')
    refused(user.get(f"/api/v1/checkpoints/{NOWHERE}/model-versions"), 404, "not found")
    refused(user.get(f"/api/v1/checkpoints/{NOWHERE}/trials"), 404, "not found")


def test_versions_are_listed_in_the_order_that_is_asked_for(user: Any, uuid: str) -> None:
    model(user, "m")
    for _ in range(3):
        version(user, "m", uuid)

    def numbers(**fields: Any) -> list[int]:
        return [v["version"] for v in user.get(at("m", "versions"), fields=fields).json["modelVersions"]]

    assert numbers() == [1, 2, 3]
    assert numbers(orderBy="ORDER_BY_DESC", sortBy="SORT_BY_VERSION", limit=1) == [3]
    assert numbers(orderBy="ORDER_BY_DESC", sortBy="SORT_BY_CREATION_TIME", offset=1) == [2, 1]
    answer = user.get(at("m", "versions"), fields={"limit": 2}).json
    assert (answer["model"]["name"], answer["pagination"]["total"]) == ("m", 3)


def test_the_number_of_a_deleted_version_is_not_given_again(user: Any, uuid: str) -> None:
    model(user, "m")
    for _ in range(2):
        version(user, "m", uuid)
    assert user.delete(at("m", "versions", 2)).json == {}
    assert user.get(at("m")).json["model"]["numVersions"] == 1
    assert user.get(at("m", "versions", "latest")).json["modelVersion"]["version"] == 1
    assert version(user, "m", uuid)["version"] == 3


def test_only_a_complete_checkpoint_is_registered_and_only_in_a_model_that_is_open(
    user: Any, uuid: str, trial: Any, checkpoint: Any, collect_until: Any
) -> None:
    model(user, "m")
    refused(user.post(at("m", "versions"), {"checkpointUuid": NOWHERE}), 404, f"checkpoint {NOWHERE} not found")
    user.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [uuid]})
    refused(user.post(at("m", "versions"), {"checkpointUuid": uuid}), 400, "must be in a COMPLETED state")
    collect_until(lambda: states(user, trial) == {4: "DELETED"})
    refused(user.post(at("m", "versions"), {"checkpointUuid": uuid}), 400, "must be in a COMPLETED state")
    user.post(at("m", "archive"))
    refused(
        user.post(at("m", "versions"), {"checkpointUuid": checkpoint(user, trial, 5)}),
        400,
        "cannot register new versions",
    )
    assert user.get(at("m")).json["model"]["numVersions"] == 0


def test_a_checkpoint_of_an_experiment_that_is_being_deleted_is_not_registered(
    user: Any, uuid: str, trial: Any, write: Any
) -> None:
    model(user, "m")
    write(lambda conn: conn.execute(text("UPDATE experiments SET state = 'DELETE_FAILED'")))
    refused(user.post(at("m", "versions"), {"checkpointUuid": uuid}), 400, "is being deleted")


def test_a_patch_of_a_version_changes_only_what_it_names(user: Any, uuid: str) -> None:
    model(user, "m")
    made = version(user, "m", uuid, name="a", notes="n", metadata={"k": 1}, labels=["x"])
    user.post(at("m", "archive"))
    body = {"name": "b", "metadata": {}, "labels": ["y", "y"], "notes": None, "checkpoint": None}
    changed = user.patch(at("m", "versions", 1), body).json["modelVersion"]
    assert (changed["name"], changed["metadata"], changed["labels"], changed["notes"]) == ("b", {}, ["y"], "n")
    assert (changed["checkpoint"]["uuid"], changed["lastUpdatedTime"] > made["lastUpdatedTime"]) == (uuid, True)
    assert user.patch(at("m", "versions", 1), {"name": "b"}).json["modelVersion"] == changed


def test_a_version_is_deleted_by_its_owner_its_models_owner_and_an_administrator(
    master: Any, admin: Any, user: Any, uuid: str
) -> None:
    for name in ("ann", "bob"):
        admin.post("/api/v1/users", {"user": {"username": name, "admin": False, "active": True}})
    ann, bob = master.client("ann"), master.client("bob")
    model(ann, "m")
    for registrar in (bob, bob, admin):
        version(registrar, "m", uuid)
    words = "non-admin users may not delete other users' model versions"
    refused(bob.delete(at("m", "versions", 3)), 403, words)
    assert bob.delete(at("m", "versions", 1)).status == 200
    assert ann.delete(at("m", "versions", 2)).status == 200
    assert admin.delete(at("m", "versions", 3)).status == 200


def test_whoever_trained_a_checkpoint_deletes_the_versions_that_hold_it(
    master: Any, admin: Any, user: Any, uuid: str
) -> None:
    admin.post("/api/v1/users", {"user": {"username": "bob", "admin": False, "active": True}})
    bob = master.client("bob")
    model(bob, "pin")
    version(bob, "pin", uuid)
    assert user.delete(at("pin", "versions", 1)).status == 200


def test_a_registered_checkpoint_keeps_its_files(
    user: Any, uuid: str, trial: Any, checkpoint: Any, collect_until: Any
) -> None:
    model(user, "m")
    version(user, "m", uuid)
    uuids = [checkpoint(user, trial, 5), uuid]
    words = "in the model registry and cannot be deleted"
    refused(user.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": uuids}), 400, words)
    refused(user.post("/api/v1/checkpoints/rm", {"checkpointUuids": uuids, "checkpointGlobs": ["**/*"]}), 400, words)
    patch = {"checkpoints": [{"uuid": uuid, "resources": {"resources": {}}}]}
    refused(user.patch("/api/v1/checkpoints", patch), 400, "in the model registry and cannot be patched")
    for step in (6, 7):
        checkpoint(user, trial, step)
    user.post(f"/api/v1/experiments/{trial['experimentId']}/kill")
    collect_until(lambda: states(user, trial) == {4: "COMPLETED", 5: "DELETED", 6: "DELETED", 7: "COMPLETED"})


def test_an_experiment_with_registered_checkpoints_is_not_deleted(user: Any, uuid: str, trial: Any) -> None:
    experiment = trial["experimentId"]
    model(user, "m")
    version(user, "m", uuid)
    user.post(f"/api/v1/experiments/{experiment}/kill")
    words = "checkpoints are registered as model versions"
    refused(user.delete(f"/api/v1/experiments/{experiment}"), 400, words)
    body = {"experimentIds": [experiment]}
    [result] = user.call("DELETE", "/api/v1/projects/1/experiments/delete", body).json["results"]
    assert words in result["error"]
    assert user.get(f"/api/v1/experiments/{experiment}").status == 200
    assert user.delete(at("m")).status == 200, "the model alone"
    assert user.get(f"/api/v1/checkpoints/{uuid}").json["checkpoint"]["state"] == "STATE_COMPLETED"
    assert user.delete(f"/api/v1/experiments/{experiment}").status == 200


def test_trials_that_use_a_version_are_listed_with_all_their_metrics(
    user: Any, uuid: str, submit: Any, first_trial: Any, validate: Any
) -> None:
    made = model(user, "m")
    version(user, "m", uuid)
    user.put(at("m", "aliases", "production"), {"version": 1})
    inference, tuning = (first_trial(user, submit(user)["experiment"]["id"]) for _ in range(2))
    for one, kind in ((inference, "INFERENCE"), (tuning, "FINE_TUNING")):
        source = {"trialId": one["id"], "checkpointUuid": uuid, "modelId": made["id"], "modelVersion": 1}
        info = {**source, "trialSourceInfoType": f"TRIAL_SOURCE_INFO_TYPE_{kind}"}
        assert user.post("/api/v1/trial-source-info", {"trialSourceInfo": info}).status == 200
    for step in range(1, 1102):
        validate(inference["id"], step, group="inference", speed=float(step))
    validate(inference["id"], 1, loss=0.5)
    validate(tuning["id"], 1, loss=0.25)
    only = {"trialSourceInfoType": "TRIAL_SOURCE_INFO_TYPE_INFERENCE"}
    for path in (at("m", "versions", 1), at("m", "versions", "production"), f"/api/v1/checkpoints/{uuid}"):
        using = user.get(f"{path}/trials").json["trials"]
        assert [(t["trialId"], t["experimentId"]) for t in using] == [
            (inference["id"], inference["experimentId"]),
            (tuning["id"], tuning["experimentId"]),
        ]
        assert (using[0]["modelId"], using[0]["modelVersion"], using[0]["username"]) == (made["id"], 1, "determined")
        assert [t["trialId"] for t in user.get(f"{path}/trials", fields=only).json["trials"]] == [inference["id"]]
        reports = user.get(f"{path}/metrics", fields=only).json["metrics"]
        assert len(reports) == 1102, "upstream ends at 1000"
        grouped = user.get(f"{path}/metrics", fields={"metricGroup": "validation"}).json["metrics"]
        assert [r["trialId"] for r in grouped] == [inference["id"], tuning["id"]]
    assert user.get(at("m", "versions", 1)).json["modelVersion"]["checkpoint"]["uuid"] == uuid


def test_a_trial_names_a_version_only_with_its_checkpoint(user: Any, uuid: str, trial: Any, checkpoint: Any) -> None:
    made = model(user, "m")
    version(user, "m", uuid)
    base = {"trialId": trial["id"], "checkpointUuid": uuid, "trialSourceInfoType": "TRIAL_SOURCE_INFO_TYPE_INFERENCE"}

    def report(**fields: Any) -> Any:
        return user.post("/api/v1/trial-source-info", {"trialSourceInfo": {**base, **fields}})

    refused(report(modelId=made["id"]), 400, "belong together")
    refused(report(modelId=99, modelVersion=1), 404, 'model "99" not found')
    refused(report(modelId=made["id"], modelVersion=2), 404, 'version 2 for model "m" not found')
    other = checkpoint(user, trial, 9)
    refused(report(modelId=made["id"], modelVersion=1, checkpointUuid=other), 400, f"is checkpoint {uuid}")
    assert report(modelId=made["id"], modelVersion=1).status == 200
