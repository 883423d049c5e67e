"""`/stream` of models and their versions, as upstream's client asks for them."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from listening import Listener
from tracked import Tracked

NOW = {"since": -1}

Listen = Callable[..., Listener]


@pytest.fixture
def listen(master: Any, admin: Any) -> Iterator[Listen]:
    opened: list[Listener] = []

    def start() -> Listener:
        opened.append(Listener(master.url, admin.headers))
        return opened[-1]

    yield start
    for listener in opened:
        listener.close()


@pytest.fixture
def checkpoint(admin: Any, trial: Tracked) -> str:
    name = str(uuid.uuid4())
    body = {"uuid": name, "taskId": trial.task_id, "metadata": {"steps_completed": 1}, "resources": {}, "training": {}}
    assert admin.post("/api/v1/checkpoints", body).status == 200
    return name


def _model(client: Any, name: str, **fields: Any) -> int:
    answer = client.post("/api/v1/models", {"name": name, **fields})
    assert answer.status == 200, answer.raw
    made: int = answer.json["model"]["id"]
    return made


def test_a_model_is_told_with_upstreams_fields(listen: Listen, admin: Any) -> None:
    made = _model(admin, "m", metadata={"k": 1}, labels=["x"], notes="n", description="d")
    [row] = [m["model"] for m in listen().subscribe(models={}) if "model" in m]
    assert {key: row[key] for key in ("id", "name", "description", "archived", "notes")} == {
        "id": made,
        "name": "m",
        "description": "d",
        "archived": False,
        "notes": "n",
    }
    assert (row["workspace_id"], row["user_id"], row["metadata"], row["labels"]) == (1, 1, {"k": 1}, ["x"])
    assert isinstance(row["creation_time"], float) and row["last_updated_time"] >= row["creation_time"]
    assert set(row) == {
        "id", "name", "description", "archived", "creation_time", "notes", "workspace_id", "user_id",
        "last_updated_time", "metadata", "labels", "seq",
    }  # fmt: skip


def test_changes_and_deletions_of_models_and_versions_are_told(listen: Listen, admin: Any, checkpoint: str) -> None:
    listener = listen()
    done = listener.subscribe(models=NOW, modelversions=NOW)[-1]
    made = _model(admin, "m")
    listener.until(lambda m: m.get("model", {}).get("id") == made)
    registered = admin.post(f"/api/v1/models/{made}/versions", {"checkpointUuid": checkpoint}).json["modelVersion"]
    row = listener.until(lambda m: "modelversion" in m)["modelversion"]
    assert (row["id"], row["version"], row["model_id"], row["workspace_id"]) == (registered["id"], 1, made, "1")
    assert set(row) == {
        "id", "name", "version", "checkpoint_uuid", "creation_time", "last_updated_time", "metadata", "model_id",
        "user_id", "comment", "labels", "notes", "workspace_id", "seq",
    }  # fmt: skip
    admin.patch(f"/api/v1/models/{made}/versions/1", {"name": "first"})
    listener.until(lambda m: m.get("modelversion", {}).get("name") == "first")
    admin.delete(f"/api/v1/models/{made}")
    assert listener.until(lambda m: "models_deleted" in m)["models_deleted"] == str(made)
    gone = listener.until(lambda m: "modelversions_deleted" in m)
    assert gone["modelversions_deleted"] == str(registered["id"])
    missed = listen().subscribe(
        epoch=done["epoch"], models={"since": done["seq"]}, modelversions={"since": done["seq"]}
    )
    assert [m for m in missed if "models_deleted" in m] == [{"models_deleted": str(made)}]


def test_a_moved_and_a_removed_alias_are_told_as_changes_of_the_model(
    listen: Listen, admin: Any, checkpoint: str
) -> None:
    made = _model(admin, "m")
    admin.post(f"/api/v1/models/{made}/versions", {"checkpointUuid": checkpoint})
    alias = f"/api/v1/models/{made}/aliases/production"
    for method, body in (("PUT", {"version": 1}), ("DELETE", None)):
        listener = listen()
        listener.subscribe(models=NOW)
        assert admin.call(method, alias, body).status == 200
        listener.until(lambda m: m.get("model", {}).get("id") == made)


def test_models_are_asked_for_by_id_workspace_and_owner(listen: Listen, admin: Any, user: Any) -> None:
    place = admin.post("/api/v1/workspaces", {"name": "w"}).json["workspace"]["id"]
    mine, placed, theirs = _model(admin, "a"), _model(admin, "b", workspaceId=place), _model(user, "c")
    owner = user.get("/api/v1/me").json["user"]["id"]

    def ids(**spec: Any) -> set[int]:
        return {m["model"]["id"] for m in listen().subscribe(models=spec) if "model" in m}

    assert ids() == {mine, placed, theirs}
    assert ids(model_ids=[mine]) == {mine}
    assert ids(workspace_ids=[place]) == {placed}
    assert ids(user_ids=[owner]) == {theirs}
    assert ids(workspace_ids=[place], user_ids=[owner]) == {placed, theirs}
    assert ids(user_ids=[]) == set()
    listener = listen()
    listener.subscribe(models={**NOW, "user_ids": [owner]})
    admin.patch(f"/api/v1/models/{mine}", {"notes": "not theirs"})
    user.patch(f"/api/v1/models/{theirs}", {"notes": "theirs"})
    listener.until(lambda m: m.get("model", {}).get("notes") == "theirs")
    assert {row["id"] for row in listener.rows("model")} == {theirs}


def test_a_model_that_moves_away_has_left_and_its_versions_name_the_new_workspace(
    listen: Listen, admin: Any, checkpoint: str
) -> None:
    place = admin.post("/api/v1/workspaces", {"name": "w"}).json["workspace"]["id"]
    made = _model(admin, "m")
    admin.post(f"/api/v1/models/{made}/versions", {"checkpointUuid": checkpoint})
    listener = listen()
    listener.subscribe(models={"workspace_ids": [1]}, modelversions={"model_ids": [made]})
    admin.post(f"/api/v1/models/{made}/move", {"destinationWorkspaceId": place})
    assert listener.until(lambda m: "models_deleted" in m)["models_deleted"] == str(made)
    listener.until(lambda m: m.get("modelversion", {}).get("workspace_id") == str(place))
