"""Training APIs run in a task, or off cluster."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from task_around import _forget_the_task, _keep_signal_handlers, master, off_cluster, run_dir, runner, task

__all__ = ["_forget_the_task", "_keep_signal_handlers", "master", "off_cluster", "run_dir", "runner", "task"]


@pytest.fixture
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, off_cluster: Path) -> Iterator[None]:
    """A working directory and a checkpoint store of the test's own; random numbers are put back, and modules that a
    loaded checkpoint has left are forgotten."""
    from determined._imports import modules_from
    from determined.pytorch._state import restore_rng, take_rng

    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    before = take_rng()
    yield
    restore_rng(before)
    for name in [*modules_from(tmp_path), *modules_from(Path(__file__).parent / "upstream_checkpoints")]:
        del sys.modules[name]
