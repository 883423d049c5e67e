"""Names that people read: nobody passes for somebody else, and no name moves the cursor of a terminal."""

import json
from typing import Any

import pytest

ESCAPE = "\x1b]0;title\x07name"
BAD = [ESCAPE, "nul\x00", "two\nlines", "bell\x07", "line\u2028end"]


def _user(admin: Any, name: str, **fields: Any) -> Any:
    user = {"username": name, "admin": False, "active": True, **fields}
    return admin.post("/api/v1/users", {"user": user, "password": "Secret123"})


@pytest.mark.parametrize("name", ["\u0430dmin", "ADM\u0406N", "zo\u00eb", "a", " b ", *BAD])
def test_a_user_name_is_two_or_more_printable_ascii_characters(admin: Any, user: Any, name: str) -> None:
    assert _user(admin, name).status == 400
    assert user.patch("/api/v1/users/2", {"username": name}).status == 400


def test_names_of_users_are_trimmed(admin: Any) -> None:
    made = _user(admin, "  Ann ", displayName="  Ann B  ").json["user"]
    assert (made["username"], made["displayName"]) == ("ann", "Ann B")


def test_nobody_but_an_administrator_becomes_admin_and_nobody_determined(admin: Any, user: Any) -> None:
    assert admin.patch("/api/v1/users/1", {"username": "root"}).status == 200
    for name in ("admin", "ADMIN", " Admin "):
        assert user.patch("/api/v1/users/2", {"username": name}).status == 400
        assert _user(admin, name).status == 400
    assert admin.patch("/api/v1/users/1", {"username": "admin"}).status == 200
    assert admin.patch("/api/v1/users/2", {"username": "somebody"}).status == 200
    assert _user(admin, "determined").status == 400


@pytest.mark.parametrize("name", ["admin", "ADMIN", " Admin", "\u0430dmin", "\uff41dmin", "Ann B", "ann b"])
def test_a_display_name_is_not_similar_to_anothers_name(admin: Any, user: Any, name: str) -> None:
    assert _user(admin, "ann", displayName="Ann B").status == 200
    refused = user.patch("/api/v1/users/2", {"displayName": name})
    assert refused.status == 400
    assert "similar" in refused.message
    assert _user(admin, "newcomer", displayName=name).status == 400


def test_ones_own_names_may_be_alike_and_a_blank_display_name_clears_it(user: Any) -> None:
    assert user.patch("/api/v1/users/2", {"displayName": "Determined"}).json["user"]["displayName"] == "Determined"
    assert user.patch("/api/v1/users/2", {"displayName": "Zo\u00eb \u0141"}).status == 200
    assert user.patch("/api/v1/users/2", {"displayName": ""}).json["user"]["displayName"] == ""


@pytest.mark.parametrize("name", BAD)
def test_no_name_has_control_characters(sqlite_world: Any, name: str) -> None:
    admin, trial = sqlite_world.admin, sqlite_world.trial
    experiment = f"/api/v1/experiments/{trial.experiment_id}"
    project = f"/api/v1/projects/{sqlite_world.project_id}"
    config = {"name": name, "entrypoint": "true", "searcher": {"name": "single", "metric": "loss"}}
    labelled = {**config, "name": "good", "labels": [name]}
    calls = [
        ("PATCH", "/api/v1/users/1", {"displayName": name}),
        ("POST", "/api/v1/workspaces", {"name": name}),
        ("POST", "/api/v1/workspaces/2/projects", {"name": name, "workspaceId": 2}),
        ("PATCH", project, {"name": name}),
        ("POST", f"{project}/views", {"name": name, "state": ""}),
        ("POST", f"{project}/notes", {"name": name, "contents": ""}),
        ("PATCH", experiment, {"name": name}),
        ("PATCH", experiment, {"labels": [name]}),
        ("POST", "/api/v1/experiments", {"config": json.dumps(config), "modelDefinition": []}),
        ("POST", "/api/v1/experiments", {"config": json.dumps(labelled), "modelDefinition": []}),
        ("POST", "/api/v1/tokens", {"userId": 1, "description": name}),
    ]
    for method, path, body in calls:
        answer = admin.call(method, path, body)
        assert answer.status == 400, (path, body, answer.raw)


def test_names_of_other_alphabets_are_fine(sqlite_world: Any) -> None:
    made = sqlite_world.admin.post("/api/v1/workspaces", {"name": "\u7814\u7a76\u5ba4 \U0001f52c"})
    assert made.status == 200, made.raw
