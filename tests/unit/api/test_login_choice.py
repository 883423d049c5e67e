"""Who is logged in: arguments, environment, token store, default; in that order."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_master import SmallMaster, serving

from determined.api.login import login_with_cache, salted
from determined.api.token_store import TokenStore
from determined.errors import BadMaster, DeterminedError, Unauthenticated

LOGIN = ("POST", "/api/v1/auth/login")
ME = ("GET", "/api/v1/me")
USER = {"username": "x", "admin": False, "active": True}
DENIED = (401, {"error": {"code": 16, "reason": "unauthenticated", "error": "invalid credentials"}})


@pytest.fixture
def master() -> Iterator[SmallMaster]:
    with serving({LOGIN: (200, {"token": "FRESH", "user": USER}), ME: (200, {"user": USER})}) as small:
        yield small


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DET_USER", "DET_PASS", "DET_USER_TOKEN", "DET_MASTER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DET_DEBUG_CONFIG_PATH", str(tmp_path))


def _logged_in(master: SmallMaster) -> dict[str, str]:
    body: dict[str, str] = json.loads(next(b for m, p, _, b in master.asked if (m, p) == LOGIN))
    return body


def test_an_explicit_user_wins(master: SmallMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DET_USER", "env")
    monkeypatch.setenv("DET_PASS", "env-pass")
    TokenStore(master.url, tmp_path).activate("active")
    session = login_with_cache(master.url, "ann", "secret")
    assert session.username == "ann"
    assert _logged_in(master) == {"username": "ann", "password": salted("secret"), "isHashed": True}


def test_user_and_password_of_the_environment_come_next(
    master: SmallMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DET_USER", "env")
    monkeypatch.setenv("DET_PASS", "env-pass")
    TokenStore(master.url, tmp_path).activate("active")
    assert login_with_cache(master.url).username == "env"


def test_a_user_alone_in_the_environment_does_not_win_over_the_active_one(
    master: SmallMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DET_USER", "env")
    store = TokenStore(master.url, tmp_path)
    store.save("active", "KEPT")
    store.activate("active")
    session = login_with_cache(master.url)
    assert (session.username, session.token) == ("active", "KEPT")


def test_a_cached_token_is_used_without_a_login(master: SmallMaster, tmp_path: Path) -> None:
    TokenStore(master.url, tmp_path).save("ann", "KEPT")
    assert login_with_cache(master.url, "ann").token == "KEPT"
    assert master.paths() == ["GET /api/v1/me"]


def test_an_expired_token_is_dropped_and_the_password_asked_for(master: SmallMaster, tmp_path: Path) -> None:
    master.answers[ME] = DENIED
    TokenStore(master.url, tmp_path).save("ann", "OLD")
    asked: list[str] = []

    def ask(user: str) -> str:
        asked.append(user)
        return "secret"

    session = login_with_cache(master.url, "ann", ask_password=ask)
    assert (session.token, asked) == ("FRESH", ["ann"])
    assert TokenStore(master.url, tmp_path).token("ann") == "FRESH"


def test_the_token_of_a_task_is_used_when_nobody_else_was_asked_for(
    master: SmallMaster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DET_USER", "owner")
    monkeypatch.setenv("DET_USER_TOKEN", "TASK")
    session = login_with_cache(master.url)
    assert (session.username, session.token) == ("owner", "TASK")
    assert master.asked == []


def test_the_last_resort_is_determined_with_a_blank_password(master: SmallMaster) -> None:
    assert login_with_cache(master.url).username == "determined"
    assert _logged_in(master)["password"] == ""


def test_a_refused_last_resort_says_to_log_in(master: SmallMaster) -> None:
    master.answers[LOGIN] = DENIED
    with pytest.raises(Unauthenticated, match="user login"):
        login_with_cache(master.url)


def test_a_wrong_password_is_told_as_the_master_told_it(master: SmallMaster) -> None:
    master.answers[LOGIN] = DENIED
    with pytest.raises(Unauthenticated, match="invalid credentials"):
        login_with_cache(master.url, "ann", "wrong")


def test_with_nobody_to_ask_the_command_to_type_is_named(master: SmallMaster) -> None:
    with pytest.raises(Unauthenticated, match=r"det -m http://127.0.0.1:\d+ user login ann"):
        login_with_cache(master.url, "ann")


def test_logging_in_does_not_change_the_active_user(master: SmallMaster, tmp_path: Path) -> None:
    store = TokenStore(master.url, tmp_path)
    store.activate("bob")
    login_with_cache(master.url, "ann", "secret")
    assert store.active_user() == "bob"


def test_a_user_of_whom_nothing_is_known_is_asked_for_once_and_remembered(master: SmallMaster, tmp_path: Path) -> None:
    questions: list[str] = []

    def ask(user: str) -> str:
        questions.append(user)
        return "secret"

    for _ in range(2):
        assert login_with_cache(master.url, "ann", ask_password=ask).token == "FRESH"
    assert questions == ["ann"]
    assert _logged_in(master)["password"] == salted("secret")


def test_the_active_user_is_asked_for_a_password_when_the_token_is_gone(master: SmallMaster, tmp_path: Path) -> None:
    TokenStore(master.url, tmp_path).activate("ann")
    with pytest.raises(Unauthenticated, match="user login ann"):
        login_with_cache(master.url)
    assert login_with_cache(master.url, password="secret").username == "ann"


def test_the_token_of_a_task_is_not_used_for_somebody_else(
    master: SmallMaster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DET_USER", "owner")
    monkeypatch.setenv("DET_USER_TOKEN", "TASK")
    assert login_with_cache(master.url, "ann", "secret").token == "FRESH"
    assert login_with_cache(master.url, "owner").token == "TASK"


def test_a_forbidden_user_is_not_logged_in_and_the_cached_token_goes(master: SmallMaster, tmp_path: Path) -> None:
    master.answers[ME] = (403, {"error": {"code": 7, "reason": "forbidden", "error": "deactivated"}})
    store = TokenStore(master.url, tmp_path)
    store.save("ann", "OLD")
    store.save("bob", "HIS")
    with pytest.raises(Unauthenticated):
        login_with_cache(master.url, "ann")
    assert store.users() == ["bob"]


@pytest.mark.parametrize("answer", [(500, {"error": {"error": "incident 7"}}), (404, b"<html>")])
def test_a_token_stays_when_the_master_fails_to_say_whose_it_is(
    master: SmallMaster, tmp_path: Path, answer: tuple[int, object]
) -> None:
    master.answers[ME] = answer
    store = TokenStore(master.url, tmp_path)
    store.save("ann", "KEPT")
    with pytest.raises(DeterminedError):
        login_with_cache(master.url, "ann")
    assert store.token("ann") == "KEPT"


def test_no_token_is_kept_after_a_refused_login(master: SmallMaster, tmp_path: Path) -> None:
    master.answers[LOGIN] = DENIED
    with pytest.raises(Unauthenticated):
        login_with_cache(master.url, "ann", "wrong")
    assert not (tmp_path / "auth.json").exists()


def test_an_answer_to_a_login_without_a_token_is_no_master(master: SmallMaster) -> None:
    master.answers[LOGIN] = (200, {"user": USER})
    with pytest.raises(BadMaster, match="token"):
        login_with_cache(master.url, "ann", "secret")


def test_a_password_travels_salted_and_a_blank_one_blank() -> None:
    assert salted("") == ""
    assert salted("secret") != salted("Secret")
    assert len(salted("secret")) == 128 and "secret" not in salted("secret")
