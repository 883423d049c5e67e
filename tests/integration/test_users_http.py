"""Users over HTTP: who may change what."""

from typing import Any

import pytest

LINK = {"agentUid": 7, "agentUser": "ann", "agentGid": 7, "agentGroup": "ann"}


def _make(admin: Any, name: str, **fields: Any) -> dict[str, Any]:
    body = {"user": {"username": name, "admin": False, "active": True, **fields}, "password": "Secret123"}
    answer = admin.post("/api/v1/users", body)
    assert answer.status == 200, answer.raw
    created: dict[str, Any] = answer.json["user"]
    return created


def test_an_administrator_creates_a_user_who_can_log_in(master: Any, admin: Any) -> None:
    created = _make(admin, "Ann", displayName="Ann B", agentUserGroup=LINK)
    assert created["username"] == "ann"
    assert created["displayName"] == "Ann B"
    assert created["agentUserGroup"]["agentUid"] == 7
    assert admin.get(f"/api/v1/users/{created['id']}").json["user"] == created
    assert admin.get("/api/v1/users/ann/by-username").json["user"]["id"] == created["id"]
    assert master.client("ann", "Secret123").get("/api/v1/me").json["user"]["id"] == created["id"]


def test_an_ordinary_user_creates_nobody(user: Any) -> None:
    answer = user.post("/api/v1/users", {"user": {"username": "x", "admin": True, "active": True}})
    assert answer.status == 403
    assert "not an administrator" in answer.message


def test_a_name_exists_once(admin: Any) -> None:
    _make(admin, "ann")
    again = admin.post("/api/v1/users", {"user": {"username": "ANN", "admin": False, "active": True}})
    assert again.status == 409
    assert again.json["error"]["reason"] == "already_exists"


@pytest.mark.parametrize("name", ["", "  ", "a", "a/b", "a\nb", "x" * 300, "nul\x00", "ta\tb"])
def test_an_unusable_name_is_refused(admin: Any, name: str) -> None:
    answer = admin.post("/api/v1/users", {"user": {"username": name, "admin": False, "active": True}})
    assert answer.status == 400, answer.raw


def test_users_are_filtered_sorted_and_paged(admin: Any) -> None:
    for name in ("zoe", "ann"):
        _make(admin, name, active=name != "zoe")
    names = [u["username"] for u in admin.get("/api/v1/users", fields={"sortBy": "SORT_BY_USER_NAME"}).json["users"]]
    assert names == ["admin", "ann", "determined", "zoe"]
    inactive = admin.get("/api/v1/users", fields={"active": "false"}).json
    assert [u["username"] for u in inactive["users"]] == ["zoe"]
    paged = admin.get("/api/v1/users", fields={"limit": 1, "offset": 1, "orderBy": "ORDER_BY_DESC"}).json
    assert [u["username"] for u in paged["users"]] == ["zoe"]
    assert paged["pagination"] == {"offset": 1, "limit": 1, "startIndex": 1, "endIndex": 2, "total": 4}


@pytest.mark.parametrize("query", [{"limit": "x"}, {"limit": 2**70}, {"sortBy": "nope"}, {"active": "maybe"}])
def test_a_senseless_query_is_a_bad_request(admin: Any, query: dict[str, Any]) -> None:
    answer = admin.get("/api/v1/users", fields=query)
    assert answer.status == 400
    assert answer.json["error"]["code"] == 3


@pytest.mark.parametrize("path", ["/api/v1/users/99", "/api/v1/users/nobody/by-username", f"/api/v1/users/{2**63 - 1}"])
def test_an_unknown_user_is_not_found(admin: Any, path: str) -> None:
    answer = admin.get(path)
    assert answer.status == 404
    assert "there is no user" in answer.message


@pytest.mark.parametrize("path", [f"/api/v1/users/{2**63}", f"/api/v1/users/{10**40}"])
def test_an_id_beyond_64_bits_is_a_bad_request(admin: Any, path: str) -> None:
    assert admin.get(path).status == 400


def test_users_change_their_own_name_and_password_and_nothing_else(master: Any, user: Any) -> None:
    other_session = master.client("determined")
    changed = user.patch("/api/v1/users/2", {"displayName": "Me", "password": "Better123", "isHashed": False})
    assert changed.json["user"]["displayName"] == "Me"
    assert user.get("/api/v1/me").status == 200, "the session that changed the password goes on"
    assert other_session.get("/api/v1/me").status == 401, "others must give the new password"
    assert master.client("determined", "Better123")
    for body in ({"admin": True}, {"active": False}, {"agentUserGroup": LINK}, {"remote": True}):
        assert user.patch("/api/v1/users/2", body).status == 403
    assert user.patch("/api/v1/users/1", {"displayName": "You"}).status == 403


def test_the_password_endpoint_takes_a_bare_json_string(master: Any, user: Any, admin: Any) -> None:
    assert user.post("/api/v1/users/2/password", "Better123").status == 200
    assert master.client("determined", "Better123")
    assert user.post("/api/v1/users/1/password", "Better123").status == 403
    assert admin.post("/api/v1/users/2/password", "Reset1234").status == 200
    assert user.get("/api/v1/me").status == 401


def test_blank_passwords_are_refused_unless_the_config_chose_them(start_master: Any) -> None:
    admin = start_master(security={"initial_user_password": "Chosen123"}).client("admin", "Chosen123")
    answer = admin.post("/api/v1/users", {"user": {"username": "ann", "admin": False, "active": True}})
    assert answer.status == 400
    assert "blank" in answer.message
    assert admin.patch("/api/v1/users/2", {"password": ""}).status == 400


def test_a_remote_user_has_no_password_to_log_in_with(master: Any, admin: Any) -> None:
    body = {"user": {"username": "sso", "admin": False, "active": True, "remote": True}}
    assert admin.post("/api/v1/users", body).json["user"]["remote"] is True
    for password in ("", "!", "Secret123"):
        answer = master.anonymous.post("/api/v1/auth/login", {"username": "sso", "password": password})
        assert answer.status == 401


def test_the_last_administrator_stays(admin: Any) -> None:
    assert admin.patch("/api/v1/users/1", {"admin": False}).status == 400
    assert admin.patch("/api/v1/users/1", {"active": False}).status == 400
    assert admin.get("/api/v1/me").json["user"]["admin"] is True


def test_several_users_are_deactivated_with_a_result_each(admin: Any) -> None:
    ann = _make(admin, "ann")["id"]
    answer = admin.patch("/api/v1/users", {"activate": False, "userIds": [ann, 99]})
    results = {r["id"]: r["error"] for r in answer.json["results"]}
    assert results[ann] == ""
    assert "no user" in results[99]
    assert admin.get(f"/api/v1/users/{ann}").json["user"]["active"] is False


def test_settings_belong_to_their_user_and_can_be_reset(admin: Any, user: Any) -> None:
    given = [
        {"key": "theme", "storagePath": "ui", "value": '"dark"'},
        {"key": "theme", "storagePath": "ui", "value": "1"},
    ]
    assert user.post("/api/v1/users/setting", {"settings": given}).status == 200
    assert user.get("/api/v1/users/setting").json["settings"] == [given[1]]
    assert admin.get("/api/v1/users/setting").json["settings"] == []
    assert user.post("/api/v1/users/setting/reset").status == 200
    assert user.get("/api/v1/users/setting").json["settings"] == []
