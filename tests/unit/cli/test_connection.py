"""Which master a command talks to when none is named, and what it says when there is none."""

import argparse
from pathlib import Path

import pytest

from determined._version import __version__
from determined.api import own_master
from determined.api.own_master import MasterState
from determined.cli import connection
from determined.deploy import embedded
from determined.errors import MasterNotFound

ARGS = argparse.Namespace(master=None, user_override=None)


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DET_MASTER", "DET_MASTER_ADDR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path))
    return tmp_path


def _state(directory: Path, version: str) -> MasterState:
    return MasterState(
        url="http://127.0.0.1:5", pid=1, version=version, identity="i", password="p", data_dir=str(directory)
    )


def _running(monkeypatch: pytest.MonkeyPatch, state: MasterState | None) -> list[str]:
    """Pretend that `state` was found; the list tells whether a start was asked for."""
    started: list[str] = []

    def ensure(*, meanwhile: object) -> tuple[MasterState, bool]:
        started.append("started")
        return _state(embedded.directory(), __version__), True

    monkeypatch.setattr(own_master, "find", lambda _: state)
    monkeypatch.setattr(embedded, "ensure", ensure)
    return started


def test_looking_never_starts_a_master_and_says_what_does(monkeypatch: pytest.MonkeyPatch) -> None:
    started = _running(monkeypatch, None)
    with pytest.raises(MasterNotFound, match="det master start"):
        connection.address(ARGS)
    assert started == []


def test_the_environment_names_the_master(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DET_MASTER_ADDR", "second")
    assert connection.address(ARGS) == "http://second:8080"
    monkeypatch.setenv("DET_MASTER", "first:99")
    assert connection.address(ARGS) == "http://first:99"
    assert connection.address(argparse.Namespace(master="http://third")) == "http://third:80"


def test_an_embedded_master_of_another_version_is_looked_at_but_upgraded_by_a_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = _state(embedded.directory(), "0.0.1")
    started = _running(monkeypatch, old)
    assert connection._own(start=False) is old
    assert connection._own(start=True).version == __version__
    assert started == ["started"]
    assert "Upgraded" in capsys.readouterr().err


def test_a_local_cluster_of_another_version_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch, state_dir: Path) -> None:
    old = _state(state_dir / "clusters" / "determined", "0.0.1")
    started = _running(monkeypatch, old)
    assert connection._own(start=True) is old
    assert started == []
