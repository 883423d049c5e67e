"""The start of the embedded master by a submit: only where one is needed, and at work while the rest is imported."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from determined.api import own_master
from determined.api.own_master import MasterState
from determined.cli import embedded_start
from determined.deploy import embedded

STATE = MasterState(url="http://127.0.0.1:1", pid=os.getpid(), version="1", identity="", password="", data_dir="/data")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What happens; a master that starts is ready once it was waited for."""
    happened: list[str] = []

    def ensure(*, meanwhile: Callable[[], None] | None = None) -> tuple[MasterState, bool]:
        happened.append("start")
        if meanwhile is not None:
            meanwhile()
        happened.append("ready")
        return STATE, True

    monkeypatch.setattr(embedded, "ensure", ensure)
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path))
    for name in ("DET_MASTER", "DET_MASTER_ADDR"):
        monkeypatch.delenv(name, raising=False)
    return happened


def _begin(calls: list[str], master: str | None = None) -> None:
    embedded_start.begin(argparse.Namespace(master=master), meanwhile=lambda: calls.append("meanwhile"))


def test_where_none_runs_it_starts_while_the_caller_goes_on(
    calls: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _begin(calls)
    assert calls == ["start", "meanwhile", "ready"]
    said = capsys.readouterr().err
    assert said == "Started a master of your own at http://127.0.0.1:1 (data in /data; stop it with: det master stop)\n"


def test_a_named_master_is_used_and_none_started(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _begin(calls, master="http://elsewhere:8080")
    monkeypatch.setenv("DET_MASTER", "http://elsewhere:8080")
    _begin(calls)
    assert calls == []


def test_where_one_runs_none_is_started(calls: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / own_master.EMBEDDED
    directory.mkdir()
    own_master.save(directory / own_master.STATE_FILE, STATE)
    monkeypatch.setattr("determined.cli.own_masters._is_running", lambda pid: pid == os.getpid())
    _begin(calls)
    assert calls == []


def test_a_state_file_of_a_master_that_is_gone_does_not_keep_the_next_from_starting(
    calls: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / own_master.EMBEDDED
    directory.mkdir()
    own_master.save(directory / own_master.STATE_FILE, STATE)
    monkeypatch.setattr("determined.cli.own_masters._is_running", lambda _pid: False)
    _begin(calls)
    assert calls == ["start", "meanwhile", "ready"]
