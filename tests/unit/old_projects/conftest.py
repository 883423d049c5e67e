"""User code of past releases: its names, its parameters, its scripts."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from task_around import _forget_the_task, _keep_signal_handlers, master, off_cluster, run_dir, runner, task

__all__ = ["_forget_the_task", "_keep_signal_handlers", "master", "off_cluster", "run_dir", "runner", "task"]
