"""Core API runs in a task."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from rank_job import job
from task_around import FakeRunner, _forget_the_task, _keep_signal_handlers, master, off_cluster, run_dir, task

from determined.rundir.layout import RunDir

__all__ = ["_forget_the_task", "_keep_signal_handlers", "job", "master", "off_cluster", "run_dir", "runner", "task"]


class StoppedRunner(FakeRunner):
    """It acknowledges nothing once `stop` has returned, not even what it was about to read."""

    def __init__(self, run_dir: RunDir) -> None:
        self._turn = threading.Lock()
        super().__init__(run_dir)

    def stop(self) -> None:
        with self._turn:
            self.hold.set()

    def _pass(self) -> None:
        with self._turn:
            if not self.hold.is_set():
                super()._pass()


@pytest.fixture
def runner(run_dir: RunDir) -> Iterator[StoppedRunner]:
    running = StoppedRunner(run_dir)
    yield running
    running.close()
