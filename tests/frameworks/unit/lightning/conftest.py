"""A task around these tests, and random numbers put back after each."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[3] / "unit"), str(Path(__file__).parent)]

from task_around import _forget_the_task, _keep_signal_handlers, master, off_cluster, run_dir, runner, task  # noqa: E402

__all__ = ["_forget_the_task", "_keep_signal_handlers", "master", "off_cluster", "run_dir", "runner", "task"]


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lightning notes seeds in the environment, and writes into the working directory."""
    from determined.lightning import _random

    for name in ("PL_GLOBAL_SEED", "PL_SEED_WORKERS"):
        monkeypatch.setenv(name, "0")
        monkeypatch.delenv(name)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    before = _random.take()
    yield
    _random.put_back(before)
