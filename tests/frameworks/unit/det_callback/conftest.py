"""A task around these tests, and an empty working directory, where a Trainer may leave files."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[3] / "unit"), str(Path(__file__).parent)]

from task_around import _forget_the_task, _keep_signal_handlers, master, off_cluster, run_dir, runner, task  # noqa: E402

__all__ = ["_forget_the_task", "_keep_signal_handlers", "master", "off_cluster", "run_dir", "runner", "task"]


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
