"""Logging in and out over HTTP, and what a browser may send."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from determined.constants import PASSWORD_SALT

LOGIN = "/api/v1/auth/login"


class MovableClock:
    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 15, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment


def _hashed(password: str) -> str:
    return hashlib.sha512((PASSWORD_SALT + password).encode()).hexdigest()


def test_login_answers_a_token_that_me_accepts(master: Any) -> None:
    answer = master.anonymous.post(LOGIN, {"username": "determined", "password": "", "isHashed": True})
    assert answer.status == 200
    assert answer.json["user"]["username"] == "determined"
    assert answer.json["user"]["id"] == 2
    me = master.anonymous.get("/api/v1/me", headers={"Authorization": f"Bearer {answer.json['token']}"})
    assert me.status == 200
    assert me.json["user"]["admin"] is False
    assert me.json["user"]["lastAuthAt"] is not None


def test_the_name_is_read_without_case(master: Any) -> None:
    assert master.anonymous.post(LOGIN, {"username": "Determined", "password": ""}).status == 200


def test_plain_and_hashed_passwords_are_the_same_password(master: Any, admin: Any) -> None:
    body = {"user": {"username": "ann", "admin": False, "active": True}, "password": "Secret123"}
    assert admin.post("/api/v1/users", body).status == 200
    for sent in ({"password": "Secret123"}, {"password": _hashed("Secret123"), "isHashed": True}):
        assert master.anonymous.post(LOGIN, {"username": "ann", **sent}).status == 200


@pytest.mark.parametrize(
    "body",
    [
        {"username": "determined", "password": "wrong"},
        {"username": "nobody", "password": "wrong"},
        {"username": "nobody", "password": ""},
        {"username": "", "password": ""},
    ],
)
def test_a_wrong_name_and_a_wrong_password_look_alike(master: Any, body: dict[str, str]) -> None:
    answer = master.anonymous.post(LOGIN, body)
    assert answer.status == 401
    assert answer.json["error"]["reason"] == "unauthenticated"
    assert answer.message.startswith("wrong user name or password")


def test_an_inactive_user_is_told_so_but_only_with_the_right_password(master: Any, admin: Any) -> None:
    body = {"user": {"username": "ann", "admin": False, "active": False}, "password": "Secret123"}
    admin.post("/api/v1/users", body)
    refused = master.anonymous.post(LOGIN, {"username": "ann", "password": "Secret123"})
    assert (refused.status, refused.message) == (403, "user is not active")
    assert master.anonymous.post(LOGIN, {"username": "ann", "password": "Wrong123"}).status == 401


def test_logout_ends_the_token_at_once_and_leaves_others(master: Any) -> None:
    one, other = master.client("determined"), master.client("determined")
    assert one.post("/api/v1/auth/logout").status == 200
    assert one.get("/api/v1/me").status == 401
    assert other.get("/api/v1/me").status == 200


def test_deactivating_a_user_ends_their_sessions_at_once(master: Any, admin: Any, user: Any) -> None:
    assert admin.patch("/api/v1/users/2", {"active": False}).status == 200
    assert user.get("/api/v1/me").status == 401


def test_a_session_ends_after_seven_days_and_not_before(start_master: Any, sqlite_url: str) -> None:
    clock = MovableClock()
    master = start_master(sqlite_url, clock=clock)
    user = master.client("determined")
    clock.moment += timedelta(days=7) - timedelta(seconds=1)
    assert user.get("/api/v1/me").status == 200
    clock.moment += timedelta(seconds=2)
    assert user.get("/api/v1/me").status == 401


def test_tokens_survive_a_restart_and_are_not_stored_as_they_are(start_master: Any, db_url: str) -> None:
    first = start_master(db_url)
    token = first.client("determined").headers["Authorization"].removeprefix("Bearer ")
    first.stop()
    second = start_master(db_url)
    answer = second.anonymous.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    assert answer.status == 200
    if db_url.startswith("sqlite"):
        assert token.encode() not in Path(db_url.removeprefix("sqlite:///")).read_bytes()


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Basic abc", "Bearer nonsense", "Bearer det-alloc.YQ.x", "bearer  \t"]
)
def test_a_senseless_authorization_is_unauthenticated(master: Any, header: str) -> None:
    assert master.anonymous.get("/api/v1/me", headers={"Authorization": header}).status == 401


def test_only_a_browser_gets_a_cookie_and_may_use_it(master: Any) -> None:
    assert "set-cookie" not in master.anonymous.post(LOGIN, {"username": "admin", "password": ""}).headers
    answer = master.anonymous.post(
        LOGIN, {"username": "admin", "password": ""}, headers={"Sec-Fetch-Site": "same-origin"}
    )
    cookie = answer.headers["set-cookie"]
    assert "httponly" in cookie.lower()
    sent = {"Cookie": cookie.partition(";")[0]}
    assert master.anonymous.get("/api/v1/me", headers=sent).json["user"]["username"] == "admin"


@pytest.mark.parametrize("headers", [{"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_another_site_cannot_use_the_cookie_or_log_a_browser_in(master: Any, headers: dict[str, str]) -> None:
    token = master.anonymous.post(LOGIN, {"username": "admin", "password": ""}).json["token"]
    with_cookie = {"Cookie": f"auth={token}", **headers}
    refused = master.anonymous.post("/api/v1/workspaces", {"name": "stolen"}, headers=with_cookie)
    assert refused.status == 403
    assert master.anonymous.post(LOGIN, {"username": "admin", "password": ""}, headers=headers).status == 403
    with_bearer = {"Authorization": f"Bearer {token}", **headers}
    assert master.anonymous.post("/api/v1/workspaces", {"name": "mine"}, headers=with_bearer).status == 200


def test_a_foreign_host_name_is_refused_even_on_public_paths(master: Any) -> None:
    assert master.anonymous.get("/info", headers={"Host": "evil.example"}).status == 403


def test_the_first_password_is_random_and_in_a_private_file(start_master: Any, tmp_path: Path) -> None:
    master = start_master(security={})
    secret = tmp_path / "data" / "initial-password"
    assert secret.stat().st_mode & 0o777 == 0o600
    assert master.anonymous.post(LOGIN, {"username": "admin", "password": ""}).status == 401
    password = secret.read_text().strip()
    for name in ("admin", "determined"):
        assert master.anonymous.post(LOGIN, {"username": name, "password": password}).status == 200


def test_the_configured_first_password_holds_for_both_users_and_only_at_first_start(start_master: Any) -> None:
    first = start_master(security={"initial_user_password": "Chosen123"})
    for name in ("admin", "determined"):
        assert first.anonymous.post(LOGIN, {"username": name, "password": "Chosen123"}).status == 200
    first.stop()
    second = start_master(security={"initial_user_password": "Other1234"})
    assert second.anonymous.post(LOGIN, {"username": "admin", "password": "Other1234"}).status == 401
    assert second.anonymous.post(LOGIN, {"username": "admin", "password": "Chosen123"}).status == 200


def test_a_name_longer_than_any_user_has_is_refused_before_anything(master: Any) -> None:
    answer = master.anonymous.post(LOGIN, {"username": "x" * 251, "password": "wrong"})
    assert answer.status == 400
    assert answer.message == "username has 251 characters; at most 250 are taken"
    assert not master.app.state.throttle._failures


def test_parallel_guesses_at_a_name_are_made_one_after_the_other(master: Any, user: Any) -> None:
    """Of many at once a few wait and the rest are refused; whoever is signed in notices nothing."""
    with ThreadPoolExecutor(40) as pool:
        guesses = [
            pool.submit(master.anonymous.post, LOGIN, {"username": "admin", "password": str(n)}) for n in range(40)
        ]
        assert user.get("/api/v1/me").status == 200
        statuses = [guess.result().status for guess in guesses]
    assert set(statuses) <= {401, 429}
    assert 429 in statuses
