"""Passwords, logins and access tokens: what a thief of one of them does not gain."""

from typing import Any

import pytest

from determined.master.auth.password import client_hash

PASSWORD = "Secret123"
STRONGER = "Stronger456"
WEAK = ["a", "short1A", "alllower1", "ALLUPPER1", "NoDigitsHere"]


@pytest.fixture
def ann(master: Any, admin: Any) -> Any:
    """An ordinary user with a password."""
    user = {"username": "ann", "admin": False, "active": True}
    assert admin.post("/api/v1/users", {"user": user, "password": PASSWORD}).status == 200
    return master.client("ann", PASSWORD)


def _path(client: Any) -> str:
    return f"/api/v1/users/{client.get('/api/v1/me').json['user']['id']}"


def _token(client: Any) -> tuple[int, Any]:
    me = client.get("/api/v1/me").json["user"]["id"]
    made = client.post("/api/v1/tokens", {"userId": me})
    assert made.status == 200, made.raw
    return made.json["tokenId"], type(client)(client.url, {"Authorization": f"Bearer {made.json['token']}"})


def _by_link(client: Any, anonymous: Any) -> Any:
    """A session that a link of this client has opened."""
    code = client.post("/api/v1/auth/link", {}).json["code"]
    token = anonymous.post("/api/v1/auth/link/redeem", {"code": code}).json["token"]
    return type(client)(client.url, {"Authorization": f"Bearer {token}"})


def _browser(client: Any) -> Any:
    """The same session as a browser has it."""
    token = client.headers["Authorization"].partition(" ")[2]
    return type(client)(client.url, {"Cookie": f"auth={token}", "Sec-Fetch-Site": "same-origin"})


@pytest.mark.parametrize("password", WEAK)
def test_a_weak_password_is_refused_by_the_master(admin: Any, ann: Any, password: str) -> None:
    user = {"username": "new", "admin": False, "active": True}
    made = admin.post("/api/v1/users", {"user": user, "password": password})
    assert made.status == 400
    assert "too weak; it needs" in made.message
    assert ann.patch(_path(ann), {"password": password}).status == 400
    assert ann.post(_path(ann) + "/password", password).status == 400


def test_a_hash_that_is_none_is_refused(ann: Any) -> None:
    for wrong in ("x", STRONGER, client_hash(STRONGER)[:-1], client_hash(STRONGER).upper()):
        assert ann.patch(_path(ann), {"password": wrong, "isHashed": True}).status == 400
    assert ann.patch(_path(ann), {"password": client_hash(STRONGER), "isHashed": True}).status == 200


def test_a_remote_user_gets_no_password(admin: Any) -> None:
    user = {"username": "sso", "admin": False, "active": True, "remote": True}
    assert admin.post("/api/v1/users", {"user": user, "password": PASSWORD}).status == 400


def test_a_login_from_a_terminal_changes_the_password_as_the_official_client_does(master: Any, ann: Any) -> None:
    changed = ann.patch(_path(ann), {"password": client_hash(STRONGER), "isHashed": True})
    assert changed.status == 200
    assert master.client("ann", STRONGER)


def test_a_browser_must_say_the_old_password(master: Any, ann: Any) -> None:
    page, path = _browser(ann), _path(ann)
    missing = page.patch(path, {"password": STRONGER})
    assert missing.status == 403 and "oldPassword" in missing.message
    assert page.post(path + "/password", STRONGER).status == 403
    assert page.patch(path, {"password": STRONGER, "oldPassword": "Guessed123"}).status == 403
    assert master.client("ann", PASSWORD), "nothing was changed"
    assert page.patch(path, {"password": STRONGER, "oldPassword": PASSWORD}).status == 200
    assert page.get("/api/v1/me").status == 200
    assert master.client("ann", STRONGER)


def test_an_old_password_that_is_given_must_be_right(ann: Any) -> None:
    assert ann.patch(_path(ann), {"password": STRONGER, "oldPassword": "Guessed123"}).status == 403
    assert ann.patch(_path(ann), {"password": STRONGER, "oldPassword": PASSWORD}).status == 200


def test_an_administrator_resets_a_password_without_knowing_it(admin: Any, ann: Any) -> None:
    assert _browser(admin).patch(_path(ann), {"password": STRONGER}).status == 200


def test_an_access_token_neither_changes_the_password_nor_makes_tokens(master: Any, ann: Any) -> None:
    me = ann.get("/api/v1/me").json["user"]["id"]
    _, token = _token(ann)
    for held in (token, _by_link(token, master.anonymous)):
        assert held.get("/api/v1/me").status == 200
        assert held.patch(_path(ann), {"password": STRONGER}).status == 403
        assert held.post(_path(ann) + "/password", STRONGER).status == 403
        refused = held.post("/api/v1/tokens", {"userId": me})
        assert refused.status == 403 and "log in" in refused.message
    assert master.client("ann", PASSWORD)


def test_revoking_a_token_ends_the_sessions_that_its_links_have_opened(master: Any, ann: Any) -> None:
    token_id, token = _token(ann)
    opened = _by_link(token, master.anonymous)
    again = _by_link(opened, master.anonymous)
    assert ann.patch(f"/api/v1/tokens/{token_id}", {"tokenId": token_id, "setRevoked": True}).status == 200
    for held in (token, opened, again):
        assert held.get("/api/v1/me").status == 401
    assert ann.get("/api/v1/me").status == 200


def test_logging_out_ends_the_sessions_that_links_have_opened(master: Any, ann: Any) -> None:
    opened = _by_link(ann, master.anonymous)
    other = master.client("ann", PASSWORD)
    assert ann.post("/api/v1/auth/logout").status == 200
    assert opened.get("/api/v1/me").status == 401
    assert other.get("/api/v1/me").status == 200


def test_logging_out_of_a_page_keeps_the_login_that_opened_it(master: Any, ann: Any) -> None:
    opened = _by_link(ann, master.anonymous)
    assert opened.post("/api/v1/auth/logout").status == 200
    assert ann.get("/api/v1/me").status == 200


def test_a_new_password_ends_every_other_session_and_token(master: Any, ann: Any) -> None:
    _, token = _token(ann)
    others = [token, master.client("ann", PASSWORD), _by_link(token, master.anonymous)]
    page = _by_link(ann, master.anonymous)
    assert page.patch(_path(ann), {"password": STRONGER}).status == 200
    assert page.get("/api/v1/me").status == 200, "the session that changed it goes on"
    for held in (*others, ann):
        assert held.get("/api/v1/me").status == 401


def test_an_administrator_who_resets_a_password_ends_all_sessions_of_that_user_and_none_of_their_own(
    admin: Any, ann: Any
) -> None:
    _, token = _token(ann)
    assert admin.patch(_path(ann), {"password": STRONGER}).status == 200
    assert [held.get("/api/v1/me").status for held in (ann, token, admin)] == [401, 401, 200]


@pytest.mark.parametrize("many", [False, True])
def test_a_deactivated_user_gets_no_session_back_when_activated_again(admin: Any, ann: Any, many: bool) -> None:
    path, (_, token) = _path(ann), _token(ann)
    for active in (False, True):
        ids = {"userIds": [int(path.rpartition("/")[2])], "activate": active}
        answer = admin.patch("/api/v1/users", ids) if many else admin.patch(path, {"active": active})
        assert answer.status == 200
    assert [held.get("/api/v1/me").status for held in (ann, token)] == [401, 401]


def test_a_password_change_does_not_end_others_sessions(user: Any, ann: Any) -> None:
    _, theirs = _token(user)
    assert ann.patch(_path(ann), {"password": STRONGER}).status == 200
    assert [held.get("/api/v1/me").status for held in (user, theirs)] == [200, 200]


def test_a_stolen_token_of_an_administrator_makes_no_administrators(admin: Any, ann: Any) -> None:
    _, token = _token(admin)
    user = {"username": "thief", "admin": True, "active": True}
    assert token.post("/api/v1/users", {"user": user, "password": PASSWORD}).status == 403
    assert token.patch(_path(ann), {"admin": True}).status == 403
    assert token.post("/api/v1/users", {"user": {**user, "admin": False}, "password": PASSWORD}).status == 200
