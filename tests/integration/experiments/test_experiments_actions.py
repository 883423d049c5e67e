"""Verbs on experiments, changes, labels, moves, bulk actions, continue."""

import json
from typing import Any

import pytest


def state(client: Any, experiment_id: int) -> str:
    answer = client.get(f"/api/v1/experiments/{experiment_id}")
    assert answer.status == 200, answer.raw
    shown: str = answer.json["experiment"]["state"]
    return shown.removeprefix("STATE_")


def act(client: Any, experiment_id: int, verb: str) -> Any:
    return client.post(f"/api/v1/experiments/{experiment_id}/{verb}")


@pytest.fixture
def experiment(user: Any, submit: Any) -> int:
    made: int = submit(user)["experiment"]["id"]
    return made


@pytest.fixture
def ended(user: Any, experiment: int) -> int:
    assert act(user, experiment, "kill").status == 200
    assert state(user, experiment) == "CANCELED"
    return experiment


def test_verbs_change_the_state(user: Any, experiment: int) -> None:
    assert act(user, experiment, "activate").status == 200
    assert state(user, experiment) == "QUEUED"
    assert act(user, experiment, "activate").status == 200
    assert act(user, experiment, "pause").status == 200
    assert state(user, experiment) == "PAUSED"
    assert act(user, experiment, "cancel").status == 200
    assert state(user, experiment) == "CANCELED"
    refused = act(user, experiment, "activate")
    assert refused.status == 400
    assert "incompatible state" in refused.message


def test_only_an_ended_experiment_is_archived(user: Any, experiment: int) -> None:
    assert act(user, experiment, "archive").status == 400
    act(user, experiment, "kill")
    assert act(user, experiment, "archive").status == 200
    assert user.get("/api/v1/experiments", fields={"archived": "false"}).json["experiments"] == []
    assert user.patch(f"/api/v1/experiments/{experiment}", {"name": "x"}).status == 400
    assert act(user, experiment, "unarchive").status == 200


def test_a_verb_on_what_does_not_exist_is_not_found(user: Any) -> None:
    for verb in ("activate", "pause", "cancel", "kill", "archive", "unarchive"):
        answer = act(user, 12345, verb)
        assert answer.status == 404
        assert "12345" in answer.message


def test_notes_and_a_description_that_somebody_else_has_changed_are_not_overwritten(user: Any, submit: Any) -> None:
    experiment = submit(user, description="first")["experiment"]["id"]
    path = f"/api/v1/experiments/{experiment}"
    assert user.patch(path, {"notes": "theirs", "expectedNotes": ""}).status == 200
    refused = user.patch(path, {"notes": "mine", "expectedNotes": ""})
    assert (refused.status, refused.json["error"]["details"]) == (409, {"current": "theirs"})
    assert user.patch(path, {"notes": "mine", "expectedNotes": "theirs"}).status == 200
    refused = user.patch(path, {"description": "mine", "expectedDescription": "other"})
    assert (refused.status, refused.json["error"]["details"]) == (409, {"current": "first"})
    assert user.patch(path, {"description": "older clients expect nothing"}).status == 200


def test_a_patch_changes_what_is_given_and_nothing_else(user: Any, submit: Any) -> None:
    experiment = submit(user, description="old", labels=["x"])["experiment"]["id"]
    path = f"/api/v1/experiments/{experiment}"
    changed = user.patch(path, {"id": experiment, "name": "new", "notes": "n", "labels": ["b", "a", "b"]})
    shown = changed.json["experiment"]
    assert (shown["name"], shown["description"], shown["notes"]) == ("new", "old", "n")
    assert shown["labels"] == ["b", "a"]
    assert (shown["config"]["name"], shown["config"]["labels"]) == ("new", ["b", "a"])
    cleared = user.patch(path, {"description": None, "notes": None, "labels": None}).json["experiment"]
    assert (cleared["name"], cleared["description"], cleared["notes"]) == ("new", None, "")
    assert cleared["labels"] == []
    for blank in ("", "  ", None):
        assert user.patch(path, {"name": blank}).status == 400


def test_resources_change_only_while_the_experiment_lives(user: Any, experiment: int) -> None:
    path = f"/api/v1/experiments/{experiment}"
    changed = user.patch(path, {"resources": {"priority": 10, "weight": 2.5, "maxSlots": 3}})
    resources = changed.json["experiment"]["config"]["resources"]
    assert (resources["priority"], resources["weight"], resources["max_slots"]) == (10, 2.5, 3)
    cleared = user.patch(path, {"resources": {"maxSlots": None}})
    assert cleared.json["experiment"]["config"]["resources"]["max_slots"] is None
    assert cleared.json["experiment"]["config"]["resources"]["priority"] == 10
    for wrong in ({"priority": 0}, {"priority": 100}, {"weight": 0}):
        assert user.patch(path, {"resources": wrong}).status == 400
    act(user, experiment, "kill")
    assert user.patch(path, {"resources": {"priority": 11}}).status == 400


def test_labels_are_added_and_removed_one_by_one(user: Any, experiment: int) -> None:
    path = f"/api/v1/experiments/{experiment}/labels"
    assert user.put(f"{path}/one").json["labels"] == ["one"]
    assert user.put(f"{path}/two%20words").json["labels"] == ["one", "two words"]
    assert user.put(f"{path}/one").json["labels"] == ["one", "two words"]
    assert user.delete(f"{path}/one").json["labels"] == ["two words"]
    assert user.put("/api/v1/experiments/99/labels/x").status == 404


def test_an_experiment_moves_to_another_project(user: Any, experiment: int, new_project: Any) -> None:
    project = new_project(user)
    moved = user.post(f"/api/v1/experiments/{experiment}/move", {"destinationProjectId": project})
    assert moved.status == 200, moved.raw
    shown = user.get(f"/api/v1/experiments/{experiment}").json["experiment"]
    assert (shown["projectId"], shown["workspaceName"]) == (project, "lab")
    assert user.post(f"/api/v1/experiments/{experiment}/move", {"destinationProjectId": 99}).status == 404
    user.post(f"/api/v1/projects/{project}/archive")
    back = user.post(f"/api/v1/experiments/{experiment}/move", {"destinationProjectId": 1})
    assert back.status == 400
    assert "archived" in back.message


def test_bulk_verbs_answer_for_each_experiment(user: Any, submit: Any) -> None:
    ids = [submit(user)["experiment"]["id"] for _ in range(3)]
    act(user, ids[2], "kill")
    answer = user.post("/api/v1/projects/1/experiments/activate", {"experimentIds": [*ids, 99], "projectId": 1})
    assert answer.status == 200, answer.raw
    results = {r["id"]: r["error"] for r in answer.json["results"]}
    assert (results[ids[0]], results[ids[1]]) == ("", "")
    assert results[ids[2]] == f"experiment in terminal state: experiment {ids[2]} is CANCELED"
    assert "not found" in results[99]
    assert state(user, ids[0]) == "QUEUED"


def test_bulk_verbs_take_filters(user: Any, submit: Any) -> None:
    ids = [submit(user, name=name)["experiment"]["id"] for name in ("one", "two", "three")]
    filters = {"name": "t", "excludedExperimentIds": [ids[2]], "projectId": 1}
    body = {"experimentIds": [], "projectId": 1, "filters": filters}
    killed = user.post("/api/v1/projects/1/experiments/kill", body)
    assert [r["id"] for r in killed.json["results"]] == [ids[1]]
    assert state(user, ids[0]) == "PAUSED"
    assert user.post("/api/v1/projects/1/experiments/kill", {"experimentIds": []}).status == 400


def test_a_filter_without_states_means_what_the_verb_applies_to(user: Any, submit: Any, new_project: Any) -> None:
    paused, active, ended = (submit(user, name="mine")["experiment"]["id"] for _ in range(3))
    elsewhere = submit(user, name="mine too", projectId=new_project(user))["experiment"]["id"]
    act(user, active, "activate")
    act(user, ended, "kill")

    def changed(verb: str, **filters: Any) -> list[int]:
        body = {"experimentIds": [999], "projectId": -1, "filters": {"name": "MINE", **filters}}
        answer = user.post(f"/api/v1/projects/-1/experiments/{verb}", body)
        assert answer.status == 200, answer.raw
        assert all(result["error"] == "" for result in answer.json["results"]), answer.raw
        return [result["id"] for result in answer.json["results"]]

    assert changed("pause") == [active]
    assert changed("activate") == [paused, active, elsewhere]
    assert changed("archive") == [ended]
    assert changed("kill", excludedExperimentIds=[paused]) == [active, elsewhere]
    assert changed("cancel") == [paused]


def test_every_bulk_verb_is_there(user: Any, experiment: int) -> None:
    for verb in ("activate", "pause", "kill", "archive", "unarchive"):
        answer = user.post(f"/api/v1/projects/1/experiments/{verb}", {"experimentIds": [experiment]})
        (result,) = answer.json["results"]
        assert (result["id"], result["error"], result["previousProjectId"]) == (experiment, "", None)


def test_bulk_move_and_retention(user: Any, experiment: int, first_trial: Any, new_project: Any) -> None:
    project = new_project(user)
    body = {"experimentIds": [experiment], "destinationProjectId": project}
    assert user.post("/api/v1/projects/1/experiments/move", body).json["results"][0]["error"] == ""
    kept = user.put(
        f"/api/v1/projects/{project}/experiments/retain_logs", {"experimentIds": [experiment], "numDays": 7}
    )
    assert kept.json["results"][0]["error"] == ""
    assert first_trial(user, experiment)["logRetentionDays"] == 7
    assert user.put(f"/api/v1/experiments/{experiment}/retain_logs", {"numDays": -1}).status == 200
    assert user.put(f"/api/v1/experiments/{experiment}/retain_logs", {"numDays": -2}).status == 400


def test_deleting_needs_the_owner_or_an_administrator(master: Any, admin: Any, user: Any, ended: int) -> None:
    admin.post("/api/v1/users", {"user": {"username": "eve", "admin": False, "active": True}, "password": ""})
    eve = master.client("eve")
    assert eve.delete(f"/api/v1/experiments/{ended}").status == 403
    bulk = eve.call("DELETE", "/api/v1/projects/1/experiments/delete", {"experimentIds": [ended]})
    assert "owner" in bulk.json["results"][0]["error"]
    assert user.delete(f"/api/v1/experiments/{ended}").status == 200


def test_a_live_experiment_is_not_deleted(user: Any, experiment: int) -> None:
    answer = user.delete(f"/api/v1/experiments/{experiment}")
    assert answer.status == 400
    assert "incompatible state" in answer.message


def test_continue_takes_up_the_same_trial(user: Any, ended: int, first_trial: Any) -> None:
    before = first_trial(user, ended)
    answer = user.post("/api/v1/experiments/continue", {"id": ended, "overrideConfig": "{}\n"})
    assert answer.status == 200, answer.raw
    assert answer.json["experiment"]["state"] == "STATE_QUEUED"
    after = first_trial(user, ended)
    assert after["id"] == before["id"]
    assert after["taskId"] == before["taskId"] + "-1"
    assert len(after["taskIds"]) == 2


def test_continue_merges_the_override(user: Any, ended: int) -> None:
    override = json.dumps({"max_restarts": 2, "hyperparameters": {"lr": 0.5}})
    answer = user.post("/api/v1/experiments/continue", {"id": ended, "overrideConfig": override})
    assert answer.status == 200, answer.raw
    config = answer.json["experiment"]["config"]
    assert config["max_restarts"] == 2
    assert config["hyperparameters"]["lr"] == {"type": "const", "val": 0.5}
    assert config["hyperparameters"]["net"]["width"] == {"type": "const", "val": 32}


def test_continue_names_the_keys_of_the_override_that_have_no_effect(user: Any, ended: int) -> None:
    override = json.dumps({"max_restarts": 2, "pbs": {"slots_per_node": 2}})
    answer = user.post("/api/v1/experiments/continue", {"id": ended, "overrideConfig": override})
    assert answer.json["messages"] == ["pbs: accepted, but has no effect"]


@pytest.mark.parametrize("searched", [{"type": "double", "minval": 0, "maxval": 1}, 0.1])
def test_a_continued_single_trial_trains_with_the_changed_hyperparameters(
    user: Any, submit: Any, first_trial: Any, searched: Any
) -> None:
    drawn = {"type": "double", "minval": 1, "maxval": 2}
    space = {"a": searched, "kept": drawn, "net": {"width": 32, "depth": {"type": "int", "minval": 1, "maxval": 99}}}
    experiment = submit(user, hyperparameters=space)["experiment"]["id"]
    before = first_trial(user, experiment)
    user.post(f"/api/v1/experiments/{experiment}/kill")
    override = json.dumps({"hyperparameters": {"a": 65, "net": {"width": 64}, "new": "x"}})
    answer = user.post("/api/v1/experiments/continue", {"id": experiment, "overrideConfig": override})
    assert answer.status == 200, answer.raw
    assert answer.json["experiment"]["numTrials"] == 1
    after = first_trial(user, experiment)
    assert after["id"] == before["id"]
    was = before["hparams"]
    kept = {"kept": was["kept"], "net": {"width": 64, "depth": was["net"]["depth"]}}
    assert after["hparams"] == {"a": 65, "new": "x", **kept}


def test_only_a_completed_experiment_is_wholly_done(user: Any, experiment: int) -> None:
    user.post(f"/api/v1/experiments/{experiment}/kill")
    shown = user.get(f"/api/v1/experiments/{experiment}").json["experiment"]
    assert shown["state"] == "STATE_CANCELED"
    assert shown["progress"] < 1


def test_continue_refuses_what_it_cannot_do(user: Any, ended: int, submit: Any) -> None:
    def attempt(experiment_id: int, **override: Any) -> Any:
        body = {"id": experiment_id, "overrideConfig": json.dumps(override)}
        return user.post("/api/v1/experiments/continue", body)

    assert "move" in attempt(ended, project="p").message
    assert attempt(ended, workspace="w").status == 400
    assert attempt(ended, searcher={"name": "random", "max_trials": 2}).status == 400
    assert attempt(ended, nonsense=1).status == 400
    assert attempt(999).status == 404
    live = submit(user)["experiment"]["id"]
    assert "non terminal" in attempt(live).message
    assert "non terminal" in attempt(live, max_restarts=1).message
