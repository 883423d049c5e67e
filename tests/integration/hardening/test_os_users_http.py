"""Whom tasks run as is for administrators to say: a link to an OS user is a key to that user's files."""

from typing import Any

import pytest

ROOT = {"agentUid": 0, "agentGid": 0, "agentUser": "root", "agentGroup": "root"}
ADA = {"agentUid": 2001, "agentGid": 2001, "agentUser": "ada", "agentGroup": "ada"}
NOTHING = {"agentUid": None, "agentGid": None, "agentUser": None, "agentGroup": None}


def _workspace(owner: Any, **fields: Any) -> int:
    answer = owner.post("/api/v1/workspaces", {"name": "mine", **fields})
    assert answer.status == 200, answer.raw
    return int(answer.json["workspace"]["id"])


def test_an_ordinary_user_makes_no_workspace_that_runs_as_root(user: Any) -> None:
    for link in (ROOT, ADA, {"agentUid": 0}, {"agentGroup": "root"}):
        answer = user.post("/api/v1/workspaces", {"name": "mine", "agentUserGroup": link})
        assert answer.status == 403, answer.raw
        assert "administrator" in answer.message
    assert not user.get("/api/v1/workspaces", fields={"name": "mine"}).json["workspaces"]


def test_an_ordinary_user_links_no_workspace_of_their_own(user: Any) -> None:
    path = f"/api/v1/workspaces/{_workspace(user)}"
    for link in (ROOT, ADA, {"agentUid": 0}, {"agentGroup": "root"}):
        assert user.patch(path, {"agentUserGroup": link, "name": "taken"}).status == 403
    assert user.get(path).json["workspace"]["name"] == "mine"


@pytest.mark.parametrize("link", [None, {}, NOTHING, {"agentUid": 2001}])
def test_an_ordinary_user_takes_no_link_away(admin: Any, user: Any, link: Any) -> None:
    path = f"/api/v1/workspaces/{_workspace(user)}"
    assert admin.patch(path, {"agentUserGroup": ADA}).status == 200
    assert user.patch(path, {"agentUserGroup": link}).status == 403
    assert user.get(path).json["workspace"]["agentUserGroup"] == ADA


def test_what_changes_no_link_needs_no_administrator(admin: Any, user: Any) -> None:
    path = f"/api/v1/workspaces/{_workspace(user, agentUserGroup=None)}"
    assert user.patch(path, {"agentUserGroup": None, "name": "other"}).status == 200
    assert admin.patch(path, {"agentUserGroup": ADA}).status == 200
    assert user.patch(path, {"agentUserGroup": ADA, "name": "same link"}).status == 200


def test_a_task_links_nothing(sqlite_world: Any) -> None:
    task, anonymous = sqlite_world.task_headers, sqlite_world.master.anonymous
    made = anonymous.post("/api/v1/workspaces", {"name": "mine", "agentUserGroup": ROOT}, headers=task)
    assert made.status == 403


def test_an_administrator_links_a_workspace_in_part_or_whole(admin: Any) -> None:
    partial = {"agentGid": 100, "agentGroup": "staff"}
    path = f"/api/v1/workspaces/{_workspace(admin, agentUserGroup=partial)}"
    assert admin.get(path).json["workspace"]["agentUserGroup"] == NOTHING | partial
    assert admin.patch(path, {"agentUserGroup": ADA}).json["workspace"]["agentUserGroup"] == ADA
    assert admin.patch(path, {"agentUserGroup": None}).json["workspace"]["agentUserGroup"] is None


@pytest.mark.parametrize(
    "bad",
    [{"agentUid": -1}, {"agentGid": -5}, {"agentUid": 2**31}, {"agentUser": "a\x1b[31m"}, {"agentGroup": " "}],
)
def test_an_impossible_os_user_is_refused_everywhere(admin: Any, bad: dict[str, Any]) -> None:
    link = ADA | bad
    assert admin.post("/api/v1/workspaces", {"name": "mine", "agentUserGroup": link}).status == 400
    user = {"username": "ann", "admin": False, "active": True, "agentUserGroup": link}
    assert admin.post("/api/v1/users", {"user": user, "password": "Secret123"}).status == 400
    answer = admin.patch("/api/v1/users/2", {"agentUserGroup": link})
    assert answer.status == 400, answer.raw


@pytest.mark.parametrize("missing", sorted(ADA))
def test_the_link_of_a_user_is_whole_or_absent(admin: Any, missing: str) -> None:
    partial = {key: value for key, value in ADA.items() if key != missing}
    user = {"username": "ann", "admin": False, "active": True, "agentUserGroup": partial}
    refused = admin.post("/api/v1/users", {"user": user, "password": "Secret123"})
    assert refused.status == 400
    assert missing in refused.message and "cannot be empty" in refused.message
    assert admin.patch("/api/v1/users/2", {"agentUserGroup": ADA}).status == 200
    assert admin.patch("/api/v1/users/2", {"agentUserGroup": partial}).status == 400
    assert admin.get("/api/v1/users/2").json["user"]["agentUserGroup"] == ADA


def test_a_user_without_any_field_of_a_link_has_none(admin: Any) -> None:
    user = {"username": "ann", "admin": False, "active": True, "agentUserGroup": {}}
    made = admin.post("/api/v1/users", {"user": user, "password": "Secret123"})
    assert made.json["user"]["agentUserGroup"] is None
