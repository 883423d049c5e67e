"""Signs of life of a run outside of the cluster."""

from pathlib import Path
from typing import Any

import pytest

from determined.errors import Gone, Unavailable
from determined.exec.detached.heartbeat import Heartbeat
from determined.rundir.control import Control
from determined.rundir.layout import RunDir


class Link:
    """Master that takes another run of the trial for the latest one, or is away."""

    def __init__(self, error: Exception | None = None, state: str = "RUNNING") -> None:
        self.error, self.state = error, state
        self.states: list[str | None] = []

    def report(self, batch: bytes) -> bytes:
        if self.error is not None:
            raise self.error
        return b""

    def set_state(self, state: str | None) -> str:
        self.states.append(state)
        self.state = state or self.state
        return self.state


def heartbeat(tmp_path: Path, link: Any) -> Heartbeat:
    run_dir = RunDir(tmp_path / "run")
    run_dir.create()
    return Heartbeat(link, run_dir, Control.open(run_dir.control))


def test_a_run_that_the_master_took_for_dead_is_opened_again(tmp_path: Path) -> None:
    link = Link(state="ERROR")
    signs = heartbeat(tmp_path, link)
    signs._give()
    assert link.states == [None, "RUNNING"]
    assert not signs._over.is_set()


def test_a_run_whose_trial_another_has_taken_over_opens_nothing_again(tmp_path: Path) -> None:
    link = Link(Gone("trial 1 is at run 2"), state="ERROR")
    signs = heartbeat(tmp_path, link)
    signs._give()
    assert link.states == []
    assert signs._over.is_set()


@pytest.mark.parametrize("error", [Unavailable("away"), RuntimeError("unforeseen")])
def test_a_master_that_is_away_does_not_end_the_signs(tmp_path: Path, error: Exception) -> None:
    signs = heartbeat(tmp_path, Link(error))
    assert signs._give() == 5.0
    assert not signs._over.is_set()
