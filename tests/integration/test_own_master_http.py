"""A user's token goes to the user's own master alone, whoever has its port meanwhile, and wherever it comes back."""

import secrets
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from determined.api import own_master
from determined.api.login import login
from determined.api.own_master import MasterState
from determined.api.session import Session
from determined.errors import MasterNotFound
from small_relay import relaying

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "api"))

from small_master import serving

IDENTITY = secrets.token_hex(32)
YES = {("GET", "/info"): (200, {}), ("GET", "/api/v1/me"): (200, {"user": {}})}


@pytest.fixture
def state_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path / "state"))
    path = tmp_path / "state" / "embedded" / "state.json"
    path.parent.mkdir(parents=True, mode=0o700)
    return path


def write(path: Path, url: str, *past: str) -> None:
    state = MasterState(
        url=url, pid=1, version="1", identity=IDENTITY, password="", data_dir=str(path.parent), past_urls=list(past)
    )
    own_master.save(path, state)


def session(url: str, token: str = "the token") -> Session:
    return Session(url, token=token, retries=0)


def token_of(master: Any) -> str:
    body = {"username": "determined", "password": ""}
    return str(master.anonymous.post("/api/v1/auth/login", body).json["token"])


def port_of(url: str) -> int:
    return urlsplit(url).port or 0


def test_stranger_on_the_port_sees_neither_token_nor_password(state_file: Path) -> None:
    with serving(YES) as stranger:
        write(state_file, stranger.url)
        for url in (stranger.url, stranger.url.replace("127.0.0.1", "localhost")):
            with session(url) as own, pytest.raises(MasterNotFound, match="is not your master"):
                own.get("/api/v1/me")
            with pytest.raises(MasterNotFound):
                login(url, "determined", "the password")
        assert {path.partition("?")[0] for path in stranger.paths()} == {"GET /info"}
        assert stranger.tokens() == []


def test_port_that_changes_hands_while_a_session_is_open_gets_no_token(
    start_master: Any, sqlite_url: str, state_file: Path
) -> None:
    with relaying(None) as front:
        master = start_master(sqlite_url, identity_secret=IDENTITY.encode(), advertised_url=front.url)
        front.target = master.url
        write(state_file, front.url)
        with session(front.url, token_of(master)) as own:
            assert own.get("/api/v1/me")["user"]["username"] == "determined"
            assert own.answers()
            front.close()
            with serving(YES, port=port_of(front.url)) as stranger:
                assert not own.answers()
                with pytest.raises(MasterNotFound):
                    own.get("/api/v1/me")
                assert stranger.tokens() == []


def test_session_follows_its_master_to_another_port_past_a_relay_on_the_old_one(
    start_master: Any, sqlite_url: str, state_file: Path
) -> None:
    master = start_master(sqlite_url, identity_secret=IDENTITY.encode())
    token = token_of(master)
    with relaying(master.url) as relay:
        write(state_file, relay.url)
        with session(relay.url, token) as own:
            write(state_file, master.url, relay.url)
            assert own.get("/api/v1/me")["user"]["username"] == "determined"
            assert own.master_url == master.url
        with session(relay.url, token) as named_by_the_old_address:
            assert named_by_the_old_address.post("/api/v1/auth/logout") == {}
        assert relay.saw(b"/info?challenge=") and not relay.saw(b"Bearer")


def test_master_that_is_not_ones_own_is_asked_for_nothing(start_master: Any, sqlite_url: str, state_file: Path) -> None:
    master = start_master(sqlite_url)
    write(state_file, "http://127.0.0.1:1")
    with session(master.url, token_of(master)) as other:
        assert other.get("/api/v1/me")["user"]["username"] == "determined"
