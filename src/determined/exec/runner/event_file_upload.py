"""Copy of the last TensorBoard files after a task's end: those that the task has not copied to its storage.

A process with the task's own Python and variables copies them, because the storage's driver and credentials are there,
and because it can be left behind when the storage hangs.
"""

import logging
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from determined.exec.runner import command, process_tree
from determined.rundir.event_files import Ledger, changed_files, read_ledger
from determined.rundir.layout import RunDir

logger = logging.getLogger(__name__)

# After the grace of a task that is killed (10 s); both end before the master has the engine use force (30 s).
_COPY_SECONDS = 15.0


def copy_last_events(run_dir: RunDir, complain: Callable[[str], None]) -> None:
    """Copy the rest of the chief's files, which core copies as they grow. A failure is reported, not raised."""
    ledger = read_ledger(run_dir.event_files(0))
    if ledger is None:
        return  # the task copies when it wants to, or keeps to itself where to
    try:
        rest = list(changed_files(ledger.directory, ledger.sent))
        failure = _copy(ledger, run_dir) if rest else None
    except (OSError, subprocess.SubprocessError) as e:
        failure = str(e)
    if failure is not None:
        complain(f"copying the last TensorBoard events after the end of the task: {failure}")


def _copy(ledger: Ledger, run_dir: RunDir) -> str | None:
    """Copy the files and return what went wrong, or None.

    Call it in the main thread: see process_tree.die_with_parent.
    """
    variables = command.exported(run_dir)
    words = run_dir.path / "last-events.log"
    with words.open("wb") as log:
        process = subprocess.Popen(
            # -P: what lies in the working directory is the user's, and must not take the place of our modules.
            [ledger.to.python or "python3", "-P", "-m", "determined.exec.event_files", str(ledger.directory)],
            env=variables,
            cwd=ledger.to.workdir,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            process_group=0,
            preexec_fn=process_tree.die_with_parent,  # noqa: PLW1509 (one prctl through a library loaded before)
        )
    try:
        status = process.wait(_COPY_SECONDS)
    except subprocess.TimeoutExpired:
        # Not waited for: a process that is stuck in a file system ends when that answers.
        process_tree.signal_group(process.pid, signal.SIGKILL)
        return f"the storage has not taken them within {_COPY_SECONDS:g} s"
    logger.info("copying the last TensorBoard events ended with status %s", status)
    return None if status == 0 else _last_line(words) or f"status {status}"


def _last_line(path: Path) -> str:
    lines = path.read_text(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "")
