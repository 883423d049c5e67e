"""Packages of tasks: who keeps what they were resolved to."""

import os
from pathlib import Path
from typing import Any

import pytest

from determined.exec.runner import packages
from determined.rundir.layout import RunDir
from determined.wire.report import PythonPackages, TaskSpec
from small_wheel import make_wheel


class Link:
    """Keeps the locks that it is given; the first one counts."""

    def __init__(self) -> None:
        self.stored: list[str] = []

    def store_lock(self, platform: str, content: str) -> bytes:
        self.stored.append(content)
        return b'{"content": "alpha==1.0\\n"}'


class Sink:
    def say(self, level: str, text: str) -> None:
        return None


@pytest.fixture
def run_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDir:
    make_wheel(tmp_path / "wheels", "alpha")
    for setting in [name for name in os.environ if name.startswith("UV_")]:
        monkeypatch.delenv(setting)  # of the machine that runs the test: they would win over pip's
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    made = RunDir(tmp_path / "run")
    made.create()
    made.model.mkdir(parents=True)
    return made


def _provide(run_dir: RunDir, **changes: Any) -> list[str]:
    link, asked = Link(), PythonPackages(requirements=["alpha>=1"])
    spec = TaskSpec(
        task_id="t", task_type="T", cluster_id="c", master_id="m", username="u", entrypoint=[], python=asked, **changes
    )
    packages.provide(asked, spec, run_dir, link, Sink())  # type: ignore[arg-type]
    return link.stored


def test_the_lock_of_a_trial_is_stored_with_its_experiment(run_dir: RunDir) -> None:
    (stored,) = _provide(run_dir, trial_id=1, experiment_id=1)
    assert "alpha==1.0" in stored


def test_a_task_without_an_experiment_keeps_its_lock_to_itself(run_dir: RunDir) -> None:
    assert _provide(run_dir) == []
