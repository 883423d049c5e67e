"""The model registry over HTTP: models, what their names may be, lists, patches, archive, move, delete."""

from typing import Any

import pytest
from registered_models import MODELS, at, model, names, refused, version


def test_a_model_is_made_and_found_by_name_and_id(user: Any) -> None:
    fields = {"description": "d", "notes": "n", "metadata": {"a": {"b": [1, None]}}, "labels": ["x", "y", "x"]}
    made = model(user, "Größe 学習 50%", **fields)
    assert (made["labels"], made["metadata"], made["notes"]) == (["x", "y"], {"a": {"b": [1, None]}}, "n")
    assert (made["workspaceId"], made["workspaceName"], made["username"]) == (1, "Uncategorized", "determined")
    assert (made["archived"], made["numVersions"], made["aliases"]) == (False, 0, {})
    assert user.get(at(made["name"])).json["model"] == user.get(at(made["id"])).json["model"] == made
    refused(user.get(at(made["name"].upper())), 404, f'model "{made["name"].upper()}" not found')


@pytest.mark.parametrize("word", ["none", "99", "9" * 30, "' OR 1=1 --", "%00", "\N{ARABIC-INDIC DIGIT ONE}"])
def test_what_names_no_model_is_not_found(user: Any, word: str) -> None:
    model(user, "m")
    for path in (at(word), at(word, "versions"), at(word, "aliases"), at(word, "alias-history")):
        refused(user.get(path), 404, f'model "{word}" not found')


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "cannot be blank"),
        (" ", "cannot be blank"),
        ("a  b", "excessive spacing"),
        ("a/b", "slashes"),
        ("a\\b", "slashes"),
        ("123", "only numbers"),
        ("\N{ARABIC-INDIC DIGIT ONE}", "only numbers"),
        ("..", "another path"),
        ("a\nb", "control character"),
        ("x" * 256, "256 characters"),
    ],
)
def test_names_that_a_path_could_not_carry_are_refused(user: Any, name: str, words: str) -> None:
    model(user, "m")
    refused(user.post(MODELS, {"name": name}), 400, words)
    refused(user.patch(at("m"), {"name": name}), 400, words)


def test_a_name_is_taken_once_in_the_cluster(user: Any, admin: Any) -> None:
    place = user.post("/api/v1/workspaces", {"name": "w"}).json["workspace"]["id"]
    model(user, "m")
    other = model(user, "M", workspaceId=place)
    refused(admin.post(MODELS, {"name": "m", "workspaceId": place}), 409, "avoid names equal to other models")
    refused(user.patch(at(other["id"]), {"name": "m"}), 409, "avoid names equal to other models")
    assert user.patch(at(other["id"]), {"name": "M"}).status == 200, "its own name"


def test_a_model_is_made_in_the_workspace_that_is_named(user: Any) -> None:
    place = user.post("/api/v1/workspaces", {"name": "w"}).json["workspace"]["id"]
    assert model(user, "a", workspaceId=place)["workspaceName"] == "w"
    assert model(user, "b", workspaceName="w")["workspaceId"] == place
    assert model(user, "c", workspaceId=0, workspaceName="")["workspaceId"] == 1
    refused(user.post(MODELS, {"name": "d", "workspaceName": "nowhere"}), 404, "workspace 'nowhere' not found")
    refused(user.post(MODELS, {"name": "d", "workspaceId": 99}), 404, "no workspace with id 99")
    user.post(f"/api/v1/workspaces/{place}/archive")
    refused(user.post(MODELS, {"name": "d", "workspaceId": place}), 400, "archived and takes no models")


def test_lists_are_filtered_sorted_and_paged(user: Any, admin: Any) -> None:
    place = user.post("/api/v1/workspaces", {"name": "w"}).json["workspace"]["id"]
    model(user, "beta", labels=["a,b"], description="Old")
    model(admin, "Alpha", labels=["a"])
    model(user, "gamma", workspaceId=place)
    assert names(user) == ["beta", "Alpha", "gamma"]
    assert names(user, sortBy="SORT_BY_NAME") == ["Alpha", "beta", "gamma"]
    assert names(user, sortBy="SORT_BY_NAME", orderBy="ORDER_BY_DESC", limit=1, offset=1) == ["beta"]
    assert names(user, users=["admin"]) == ["Alpha"]
    assert names(user, labels=["a", "zzz"]) == ["Alpha"]
    assert names(user, labels=["a,b"]) == ["beta"]
    assert names(user, description="oLD") == ["beta"]
    assert names(user, workspaceNames=["w", "nowhere"]) == ["gamma"]
    assert names(user, workspaceNames=["nowhere"]) == []
    assert names(user, workspaceIds=[place]) == ["gamma"]
    page = user.get(MODELS, fields={"limit": 2, "offset": -2}).json
    assert [m["name"] for m in page["models"]] == ["Alpha", "gamma"]
    assert page["pagination"] == {"offset": -2, "limit": 2, "startIndex": 1, "endIndex": 3, "total": 3}
    user.post(at("beta", "archive"))
    assert names(user, archived="true") == ["beta"]
    assert names(user, archived="false") == ["Alpha", "gamma"]
    assert user.get("/api/v1/model/labels").json == {"labels": ["a", "a,b"]}
    assert user.get("/api/v1/model/labels", fields={"workspaceId": place}).json == {"labels": []}


def test_a_patch_changes_only_what_it_names_and_answers_the_whole_model(user: Any) -> None:
    made = model(user, "m", description="d", metadata={"a": 1}, labels=["x"], notes="n")
    changed = user.patch(at("m"), {"metadata": {"b": 2}, "labels": [], "description": None}).json["model"]
    assert changed["lastUpdatedTime"] > made["lastUpdatedTime"]
    assert changed == {**made, "metadata": {"b": 2}, "labels": [], "lastUpdatedTime": changed["lastUpdatedTime"]}
    assert user.patch(at("m"), {"labels": [], "notes": "n"}).json["model"] == changed, "no change writes nothing"
    assert user.patch(at("m"), {"description": ""}).json["model"]["description"] == ""
    assert user.patch(at("m"), {"name": "renamed"}).json["model"]["id"] == made["id"]
    assert user.get(at("m")).status == 404


def test_notes_that_somebody_else_has_changed_are_not_overwritten(user: Any, trial: Any, checkpoint: Any) -> None:
    model(user, "m")
    version(user, "m", checkpoint(user, trial, 1))
    for path, field in ((at("m"), "model"), (at("m", "versions", 1), "modelVersion")):
        assert user.patch(path, {"notes": "first", "expectedNotes": ""}).json[field]["notes"] == "first"
        answer = user.patch(path, {"notes": "second", "expectedNotes": ""})
        refused(answer, 409, "have changed meanwhile")
        assert answer.json["error"]["details"] == {"current": "first"}
        assert user.get(path).json[field]["notes"] == "first"
        assert user.patch(path, {"notes": "second", "expectedNotes": "first"}).json[field]["notes"] == "second"
        assert user.patch(path, {"notes": "third"}).json[field]["notes"] == "third", "as upstream's clients send it"


def test_an_archived_model_is_moved_and_deleted_but_not_changed(user: Any) -> None:
    place = user.post("/api/v1/workspaces", {"name": "w"}).json["workspace"]["id"]
    model(user, "m")
    for _ in range(2):
        assert user.post(at("m", "archive")).json == {}
    assert user.get(at("m")).json["model"]["archived"] is True
    refused(user.patch(at("m"), {"notes": "x"}), 400, "is archived and cannot have attributes updated")
    assert user.patch(at("m"), {"workspaceName": "w"}).json["model"]["workspaceId"] == place
    move = {"modelName": "m", "destinationWorkspaceId": 1}
    assert user.post(at("m", "move"), move).status == 200
    assert user.get(at("m")).json["model"]["workspaceId"] == 1
    assert user.post(at("m", "unarchive")).status == 200
    assert user.patch(at("m"), {"notes": "x"}).json["model"]["notes"] == "x"
    user.post(at("m", "archive"))
    assert user.delete(at("m")).json == {}
    assert user.get(at("m")).status == 404


def test_a_model_moves_to_a_workspace_that_takes_it(user: Any) -> None:
    place = user.post("/api/v1/workspaces", {"name": "w"}).json["workspace"]["id"]
    model(user, "m")
    refused(user.post(at("m", "move"), {"destinationWorkspaceId": 99}), 404, "no workspace with id 99")
    refused(user.patch(at("m"), {"workspaceName": "nowhere"}), 404, "workspace 'nowhere' not found")
    user.post(f"/api/v1/workspaces/{place}/archive")
    refused(user.post(at("m", "move"), {"destinationWorkspaceId": place}), 400, "archived and takes no models")


def test_everybody_changes_a_model_and_its_owner_or_an_administrator_deletes_it(master: Any, admin: Any) -> None:
    for name in ("ann", "bob"):
        admin.post("/api/v1/users", {"user": {"username": name, "admin": False, "active": True}})
    ann, bob = master.client("ann"), master.client("bob")
    model(ann, "m")
    assert bob.patch(at("m"), {"notes": "by bob"}).status == 200
    refused(bob.delete(at("m")), 403, "non-admin users may not delete other users' models")
    assert ann.delete(at("m")).status == 200
    model(ann, "m")
    assert admin.delete(at("m")).status == 200


def test_a_workspace_with_models_is_not_deleted(user: Any) -> None:
    place = user.post("/api/v1/workspaces", {"name": "w"}).json["workspace"]["id"]
    model(user, "m", workspaceId=place)
    words = "contains models; move or delete models first"
    refused(user.delete(f"/api/v1/workspaces/{place}"), 400, words)
    user.post(at("m", "move"), {"destinationWorkspaceId": 1})
    assert user.delete(f"/api/v1/workspaces/{place}").json == {"completed": True}
    assert user.get(at("m")).status == 200


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "not valid JSON"),
        ({}, "name"),
        ({"name": 5}, "name"),
        ({"name": "m", "labels": "x"}, "labels"),
        ({"name": "m", "labels": ["x" * 201]}, "201 characters"),
        ({"name": "m", "labels": ["x"] * 501}, "501 entries"),
        ({"name": "m", "labels": ["a\x1b[0m"]}, "control character"),
        ({"name": "m", "metadata": {"x": "y" * 70_000}}, "70000 characters"),
        ({"name": "m", "metadata": []}, "metadata"),
        ({"name": "m", "workspaceId": 2**70}, "does not fit into"),
    ],
)
def test_bodies_that_make_no_sense_are_refused(user: Any, body: Any, words: str) -> None:
    answer = user.post(MODELS, body)
    assert (answer.status, words in answer.message) == (400, True), answer.raw
    assert names(user) == []


def test_a_body_that_is_too_large_is_refused(user: Any) -> None:
    assert user.post(MODELS, {"name": "m", "notes": "x" * 2**21}).status in (400, 413)
    assert user.get(MODELS, fields={"name": "x" * 60_000}).status in (400, 414, 431)


def test_a_version_counts_as_a_change_of_its_model(user: Any, trial: Any, checkpoint: Any) -> None:
    made = model(user, "m")
    version(user, "m", checkpoint(user, trial, 1))
    now = user.get(at("m")).json["model"]
    assert (now["numVersions"], now["lastUpdatedTime"] > made["lastUpdatedTime"]) == (1, True)
