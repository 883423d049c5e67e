"""Logging in and out: which user, which password, which token goes where, and what is kept."""

import argparse
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded_master import Det, Terminal, error, page, user
from small_master import SmallMaster

from determined._version import __version__
from determined.api.login import salted
from determined.api.own_master import MasterState
from determined.api.token_store import TokenStore
from determined.cli import connection
from determined.errors import Unauthenticated

LOGIN = ("POST", "/api/v1/auth/login")
DENIED = error(401, "unauthenticated", "wrong user name or password")


@pytest.fixture
def store(master: SmallMaster, surroundings: Path) -> TokenStore:
    return TokenStore(master.url, surroundings / "config")


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """`types(*passwords)`: what a person types, in turn (Ctrl-D after that); returns the prompts as they come."""

    def at(*passwords: str) -> list[str]:
        left, prompts = list(passwords), []

        def getpass(prompt: str) -> str:
            prompts.append(prompt)
            if not left:
                raise EOFError
            return left.pop(0)

        monkeypatch.setattr("getpass.getpass", getpass)
        return prompts

    return at


def _logins(master: SmallMaster) -> list[tuple[str, str]]:
    bodies = [json.loads(body) for method, path, _, body in master.asked if (method, path) == LOGIN]
    return [(body["username"], body["password"]) for body in bodies]


def test_password_is_read_from_standard_input_and_the_user_stays_active(
    det: Det, master: SmallMaster, store: TokenStore
) -> None:
    done = det("user", "login", "ann", stdin="Secret1x\n")
    assert done.out == f"Logged in as ann at {master.url}\n"
    assert _logins(master) == [("ann", salted("Secret1x"))]
    assert (store.active_user(), store.token("ann")) == ("ann", "FRESH")


def test_password_is_asked_for_on_a_terminal(det: Det, master: SmallMaster, types: Callable[..., list[str]]) -> None:
    prompts = types("Secret1x")
    assert det("user", "login", "ann", typed="").status == 0
    assert prompts == ["Password for user 'ann': "]
    assert _logins(master) == [("ann", salted("Secret1x"))]


@pytest.mark.parametrize("words", [["user", "login", "ann"], ["-u", "ann", "e", "list"]])
def test_ctrl_d_at_a_password_is_told_without_a_traceback(
    det: Det, master: SmallMaster, types: Callable[..., list[str]], words: list[str]
) -> None:
    types()
    done = det(*words, typed="")
    assert done.status == 1
    assert done.err.endswith("no password was typed\n") and "Traceback" not in done.err
    assert _logins(master) == []


def test_refused_login_keeps_nothing(det: Det, master: SmallMaster, store: TokenStore) -> None:
    master.answers[LOGIN] = DENIED
    done = det("user", "login", "ann", stdin="x\n")
    assert (done.status, done.err) == (1, "Failed to log in user: wrong user name or password\n")
    assert (store.active_user(), store.token("ann")) == (None, None)


def test_user_of_a_login_is_the_named_the_override_the_active_or_the_default(
    det: Det, master: SmallMaster, store: TokenStore
) -> None:
    det("user", "login", stdin="\n")
    store.activate("bob")
    det("user", "login", stdin="\n")
    det("-u", "eve", "user", "login", stdin="\n")
    det("-u", "eve", "user", "login", "ann", stdin="\n")
    assert [name for name, _ in _logins(master)] == ["determined", "bob", "eve", "ann"]


def test_logging_out_ends_the_session_at_the_master_and_here(det: Det, master: SmallMaster, store: TokenStore) -> None:
    master.answers["POST", "/api/v1/auth/logout"] = (200, {})
    store.save("ann", "KEPT")
    store.activate("ann")
    assert det("user", "logout").out == "Logged out ann\n"
    assert "Bearer KEPT" in master.tokens() and "POST /api/v1/auth/logout" in master.paths()
    assert (store.active_user(), store.token("ann")) == (None, None)


def test_logging_out_of_a_master_that_does_not_take_it_forgets_the_token_all_the_same(
    det: Det, master: SmallMaster, store: TokenStore
) -> None:
    master.answers["POST", "/api/v1/auth/logout"] = error(500, "internal", "no")
    store.save("ann", "KEPT")
    store.activate("ann")
    done = det("user", "logout")
    assert (done.status, store.token("ann")) == (0, None)
    assert "the token is forgotten here and ends by itself" in done.err


def test_logging_out_everybody_names_each(det: Det, master: SmallMaster, store: TokenStore) -> None:
    master.answers["POST", "/api/v1/auth/logout"] = (200, {})
    for name in ("ann", "bob"):
        store.save(name, f"KEPT-{name}")
    assert sorted(det("user", "logout", "-a").out.splitlines()) == ["Logged out ann", "Logged out bob"]
    assert {"Bearer KEPT-ann", "Bearer KEPT-bob"} <= set(master.tokens())
    assert det("user", "logout", "-a").out == ""


def test_new_password_is_asked_for_twice_on_a_terminal(
    det: Det, master: SmallMaster, types: Callable[..., list[str]]
) -> None:
    prompts = types("Chang3dPass", "Chang3dPast")
    done = det("user", "change-password", typed="")
    assert (done.status, "the passwords do not match" in done.err) == (2, True)
    assert prompts == ["New password for user 'determined': ", "Confirm password: "]
    assert not [path for path in master.paths() if path.startswith("PATCH")]


def test_weak_password_is_refused_here_with_the_rules(det: Det, master: SmallMaster) -> None:
    done = det("user", "create", "bob", "--password", "-", stdin="weak\n")
    assert done.status == 1
    assert "the password is too weak; it needs:" in done.err and "✗" in done.err
    assert "POST /api/v1/users" not in master.paths()


def test_changed_password_logs_in_anew_for_oneself_alone(det: Det, master: SmallMaster, store: TokenStore) -> None:
    for name, number in (("determined", 2), ("bob", 5)):
        master.answers["GET", f"/api/v1/users/{name}/by-username"] = (200, {"user": user(name, id=number)})
        master.answers["PATCH", f"/api/v1/users/{number}"] = (200, {"user": user(name)})
    store.save("bob", "OLD")
    assert det("user", "change-password", "bob", stdin="Chang3dPass\n").status == 0
    assert store.token("bob") is None
    det("user", "change-password", stdin="Chang3dPass\n")
    assert _logins(master)[-1] == ("determined", salted("Chang3dPass"))


def test_access_token_logs_in_whom_it_belongs_to_and_is_warned_of(
    det: Det, master: SmallMaster, store: TokenStore
) -> None:
    master.answers["GET", "/api/v1/me"] = (200, {"user": user("script")})
    done = det("token", "login", "v2.abc")
    assert done.out == f"Logged in as script at {master.url}\n"
    assert "(ps)" in done.err and "v2.abc" not in done.err
    assert (store.active_user(), store.token("script")) == ("script", "v2.abc")
    assert det("token", "login", "-", stdin="v2.def\n").err == ""
    assert store.token("script") == "v2.def"


def test_void_access_token_is_not_kept(det: Det, master: SmallMaster, store: TokenStore) -> None:
    master.answers["GET", "/api/v1/me"] = error(401, "unauthenticated", "the token has expired")
    done = det("token", "login", "-", stdin="v2.abc\n")
    assert (done.status, store.users()) == (1, [])


@pytest.mark.parametrize(
    ("days", "lifespan"), [([], None), (["-e", "2"], "48h"), (["-e", "-1"], "-1"), (["-e", "0"], "0h")]
)
def test_life_of_an_access_token_is_sent_in_hours(
    det: Det, master: SmallMaster, days: list[str], lifespan: str | None
) -> None:
    master.answers["POST", "/api/v1/tokens"] = (200, {"token": "v2.new", "tokenId": 3})
    assert det("token", "create", *days).out == "TokenID: 3\nAccess-Token: v2.new\n"
    body = json.loads(next(b for m, p, _, b in master.asked if p == "/api/v1/tokens"))
    assert (body["userId"], body.get("lifespan")) == (2, lifespan)


def test_unknown_access_tokens_are_named_together(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/tokens"] = page("tokenInfo", {"id": 1, "userId": 2})
    done = det("token", "describe", "1", "8", "9")
    assert (done.status, done.out) == (1, "")
    assert "no access token [8, 9]; list them with: det token list --show-inactive" in done.err


def _own(master: SmallMaster, directory: Path) -> MasterState:
    return MasterState(url=master.url, pid=1, version="1", identity="i", password="kept", data_dir=str(directory))


def test_own_master_is_logged_in_to_with_the_password_of_its_file_once(master: SmallMaster, surroundings: Path) -> None:
    state = _own(master, surroundings)
    assert connection.own_session(state).username == "determined"
    assert connection.own_session(state).token == "FRESH"
    assert _logins(master) == [("determined", salted("kept"))]


def test_stale_token_of_an_own_master_is_replaced(master: SmallMaster, surroundings: Path, store: TokenStore) -> None:
    store.save("determined", "STALE")
    master.answers["GET", "/api/v1/me"] = DENIED
    assert connection.own_session(_own(master, surroundings)).token == "FRESH"
    assert store.token("determined") == "FRESH"


def test_other_user_of_an_own_master_is_asked_for_a_password(
    master: SmallMaster, surroundings: Path, types: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = types("typed")
    monkeypatch.setattr("sys.stdin", Terminal())
    master.answers[LOGIN] = [DENIED, (200, {"token": "FRESH", "user": user("ann")})]
    assert connection.own_session(_own(master, surroundings), "ann").username == "ann"
    assert (_logins(master)[-1], prompts) == (("ann", salted("typed")), ["Password for user 'ann': "])


def test_user_and_password_of_the_environment_win_over_the_file(
    master: SmallMaster, surroundings: Path, monkeypatch: pytest.MonkeyPatch, store: TokenStore
) -> None:
    monkeypatch.setenv("DET_USER", "env")
    monkeypatch.setenv("DET_PASS", "secret")
    assert connection.own_session(_own(master, surroundings)).username == "env"
    assert _logins(master) == [("env", salted("secret"))]
    assert store.users() == [], "it is not kept"


def test_without_a_terminal_the_ways_to_log_in_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(Unauthenticated, match="run 'det user login ann' or set DET_USER and DET_PASS"):
        connection.ask_password("ann")


def test_master_of_another_version_is_warned_of_once_a_command(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/info"] = (200, {"serverVersion": "0.1"})
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces")
    done = det("w", "list")
    assert done.status == 0
    assert done.err.count("talks to a master of version 0.1; upgrade the older one if something fails") == 1


@pytest.mark.parametrize(
    "info", [(200, {"serverVersion": __version__}), (200, {}), (200, []), error(500, "internal", "x")]
)
def test_master_of_this_version_or_of_none_is_used_without_a_word(det: Det, master: SmallMaster, info: Any) -> None:
    master.answers["GET", "/info"] = info
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces")
    assert (det("w", "list").status, det("w", "list").err) == (0, "")


def test_address_without_a_scheme_is_completed(surroundings: Path) -> None:
    args = argparse.Namespace(master="example.com:99", user_override=None)
    assert connection.address(args) == "http://example.com:99"
