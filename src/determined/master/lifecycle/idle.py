"""Idle timeouts of notebooks, shells and TensorBoards."""

from determined._json import JsonObject
from determined.config.job import JobConfig
from determined.config.task_kinds import KINDS, NOTEBOOK, TENSORBOARD
from determined.master.config import MasterConfig


def idle_timeout(config: MasterConfig, kind: str, task_config: JsonObject) -> float | None:
    """Return after how many seconds without use a task is ended; None: never.

    The task's own config counts, else the cluster's default for its kind.
    """
    if not KINDS[kind].program:
        return None
    own = JobConfig.load(task_config).idle_timeout
    if own is not None:
        return own
    defaults = {NOTEBOOK.name: config.notebook_timeout, TENSORBOARD.name: config.tensorboard_timeout}
    return defaults.get(kind)
