"""A runner started on a directory whose task had begun under another: end what is left, report, never run it again."""

import contextlib
import json
import logging
import time

from determined.constants import ENV_RUN_DIR, HOST_MEMORY_ADVICE, HOST_OOM_LABEL
from determined.exec.runner import process_tree
from determined.exec.runner.log_sink import LogSink
from determined.exec.runner.orphan_killer import end_task
from determined.rundir import process_identity
from determined.rundir.layout import RunDir
from determined.wire.report import ExitCause

logger = logging.getLogger(__name__)

_WAIT_SECONDS = 10.0
_SIGKILL_STATUS = 137
_OUT_OF_MEMORY = "out of memory on the host: the kernel ended the runner of this task, and the task with it"


def recover(run_dir: RunDir, sink: LogSink) -> tuple[ExitCause, int, str] | None:
    """End what is left of the task and return how it ended. None: its first runner had already reported that."""
    path = str(run_dir.path)
    end_task(path, _group(run_dir))
    deadline = time.monotonic() + _WAIT_SECONDS
    while process_tree.marked(ENV_RUN_DIR, path) and time.monotonic() < deadline:
        time.sleep(0.02)
    if sink.already_exited():
        return None
    if run_dir.out_of_memory.exists():
        # Not lost: the same task would need as much memory again.
        return ExitCause.EXITED, _SIGKILL_STATUS, f"{_OUT_OF_MEMORY}. What helps: {HOST_MEMORY_ADVICE}"
    return ExitCause.LOST, 1, "the runner of this task vanished (killed, or its machine was restarted)"


def label(run_dir: RunDir) -> str:
    """Return the label for the trial that tells how its first runner ended, or ""."""
    return HOST_OOM_LABEL if run_dir.out_of_memory.exists() else ""


def _group(run_dir: RunDir) -> int | None:
    """Return the process group of the task, if its leader is still the same process."""
    with contextlib.suppress(ValueError, KeyError):
        known = json.loads(run_dir.started.read_text())
        if process_identity.start_time(known["group"]) == known["start_time"]:
            return int(known["group"])
    return None
