"""Signing in from a browser: the cookie and its limits, and links that open the page signed in, once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

LOGIN = "/api/v1/auth/login"
LINK = "/api/v1/auth/link"
REDEEM = "/api/v1/auth/link/redeem"
BROWSER = {"Sec-Fetch-Site": "same-origin"}


class MovableClock:
    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 15, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment


def _cookie(answer: Any) -> dict[str, str]:
    """Attributes by lower-case name; the value of the cookie under `auth`."""
    parts = [part.strip().partition("=") for part in answer.headers["set-cookie"].split(";")]
    return {name.lower(): value for name, _, value in parts}


def _log_in(master: Any, **headers: str) -> Any:
    return master.anonymous.post(LOGIN, {"username": "determined", "password": ""}, headers=headers)


def test_the_cookie_of_a_browser_is_out_of_reach_of_scripts_and_other_sites_and_ends_with_the_session(
    master: Any,
) -> None:
    cookie = _cookie(_log_in(master, **BROWSER))
    assert "httponly" in cookie
    assert cookie["samesite"].lower() == "strict"
    assert cookie["path"] == "/"
    assert int(cookie["max-age"]) == 7 * 24 * 3600
    assert "secure" not in cookie


def test_a_browser_that_names_only_its_origin_gets_the_cookie_too(master: Any) -> None:
    assert _cookie(_log_in(master, Origin=master.url))["auth"]


def test_the_cookie_is_secure_where_tls_ends_at_a_proxy(master: Any) -> None:
    host = master.url.removeprefix("http://")
    assert "secure" in _cookie(_log_in(master, Origin=f"https://{host}"))


def test_logging_out_ends_the_session_and_clears_the_cookie(master: Any) -> None:
    sent = {"Cookie": f"auth={_cookie(_log_in(master, **BROWSER))['auth']}", **BROWSER}
    cleared = _cookie(master.anonymous.post("/api/v1/auth/logout", {}, headers=sent))
    assert cleared["max-age"] == "0"
    assert cleared["auth"].strip('"') == ""
    assert cleared["path"] == "/"
    assert master.anonymous.get("/api/v1/me", headers=sent).status == 401


def test_a_link_signs_a_browser_in_once(master: Any, user: Any) -> None:
    code = user.post(LINK, {}).json["code"]
    answer = master.anonymous.post(REDEEM, {"code": code}, headers=BROWSER)
    assert answer.status == 200
    assert answer.json["user"]["username"] == "determined"
    sent = {"Cookie": f"auth={_cookie(answer)['auth']}"}
    assert master.anonymous.get("/api/v1/me", headers=sent).json["user"]["username"] == "determined"
    again = master.anonymous.post(REDEEM, {"code": code}, headers=BROWSER)
    assert again.status == 401
    assert "det open" in again.message


def test_loading_the_page_of_a_link_does_not_use_it_up(master: Any, user: Any) -> None:
    code = user.post(LINK, {}).json["code"]
    assert master.anonymous.get(f"/det/login?code={code}").status == 200
    assert master.anonymous.get(REDEEM, fields={"code": code}).status == 405
    assert master.anonymous.post(REDEEM, {"code": code}).status == 200


def test_only_somebody_who_is_logged_in_gets_a_link_and_another_site_cannot_use_one(master: Any, user: Any) -> None:
    assert master.anonymous.post(LINK, {}).status == 401
    code = user.post(LINK, {}).json["code"]
    for foreign in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}):
        assert master.anonymous.post(REDEEM, {"code": code}, headers=foreign).status == 403
    assert master.anonymous.post(REDEEM, {"code": code}).status == 200


@pytest.mark.parametrize("code", ["", "x", "a" * 10_000])
def test_a_senseless_code_is_refused(master: Any, code: str) -> None:
    assert master.anonymous.post(REDEEM, {"code": code}).status == 401


def test_a_link_lasts_a_minute(start_master: Any, db_url: str) -> None:
    clock = MovableClock()
    master = start_master(db_url, clock=clock)
    client = master.client("determined")
    made = client.post(LINK, {}).json
    assert made["expiresAt"].startswith("2026-11-15T00:01:00")
    clock.moment += timedelta(seconds=60)
    assert master.anonymous.post(REDEEM, {"code": made["code"]}).status == 401


def test_a_link_is_void_once_the_login_behind_it_has_ended(master: Any) -> None:
    client = master.client("determined")
    code = client.post(LINK, {}).json["code"]
    client.post("/api/v1/auth/logout", {})
    assert master.anonymous.post(REDEEM, {"code": code}).status == 401


def test_a_session_from_a_link_ends_with_the_access_token_behind_it(start_master: Any, db_url: str) -> None:
    clock = MovableClock()
    master = start_master(db_url, clock=clock)
    client = master.client("determined")
    token = client.post("/api/v1/tokens", {"userId": 2, "lifespan": "1h"}).json["token"]
    bearer = {"Authorization": f"Bearer {token}"}
    code = master.anonymous.post(LINK, {}, headers=bearer).json["code"]
    answer = master.anonymous.post(REDEEM, {"code": code}, headers=BROWSER)
    assert int(_cookie(answer)["max-age"]) == 3600
    mine = {"Authorization": f"Bearer {answer.json['token']}"}
    clock.moment += timedelta(minutes=59)
    assert master.anonymous.get("/api/v1/me", headers=mine).status == 200
    clock.moment += timedelta(minutes=2)
    assert master.anonymous.get("/api/v1/me", headers=mine).status == 401


def test_a_websocket_of_another_site_is_refused_and_our_own_is_let_in(master: Any) -> None:
    cookie = f"auth={_cookie(_log_in(master, **BROWSER))['auth']}"
    assert _handshake(master, cookie, "http://evil.example") == 403
    assert _handshake(master, cookie, master.url) == 101
    assert _handshake(master, "auth=wrong", master.url) in (401, 403)


def _handshake(master: Any, cookie: str, origin: str) -> int:
    """The status a browser's WebSocket to /stream gets."""
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        "Cookie": cookie,
        "Origin": origin,
    }
    pool = master.anonymous.pool
    answer = pool.request("GET", f"{master.url}/stream", headers=headers, preload_content=False, timeout=60)
    try:
        return int(answer.status)
    finally:
        answer.close()
