"""Generic API runs in a task; whatever a test leaves open is closed."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from task_around import _forget_the_task, _keep_signal_handlers, master, off_cluster, run_dir, runner, task

from determined.generic import _init

__all__ = ["_forget_the_task", "_keep_signal_handlers", "master", "off_cluster", "run_dir", "runner", "task"]


@pytest.fixture(autouse=True)
def _one_context_per_test() -> Iterator[None]:
    hook = sys.excepthook
    yield
    if _init._live is not None:
        _init._live.context.close()
    assert sys.excepthook is hook, "a closed context leaves nothing in the interpreter"
