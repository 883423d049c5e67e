"""Copy of the last TensorBoard files of a process that was killed."""

import subprocess
from collections.abc import Callable

from determined.rundir.event_files import changed_files, read_ledger
from determined.rundir.layout import RunDir

_COPY_SECONDS = 60.0


def copy_last_events(run_dir: RunDir, complain: Callable[[str], None]) -> None:
    """Copy what is not in the storage yet, with the Python and the variables of the run. Failures are reported."""
    ledger = read_ledger(run_dir.event_files(0))
    if ledger is None or not list(changed_files(ledger.directory, ledger.sent)):
        return
    words = [ledger.to.python or "python3", "-P", "-m", "determined.exec.event_files", str(ledger.directory)]
    try:
        done = subprocess.run(
            words, cwd=ledger.to.workdir, capture_output=True, text=True, timeout=_COPY_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError) as e:
        complain(f"copying the last TensorBoard events failed: {e}")
        return
    if done.returncode:
        complain(f"copying the last TensorBoard events failed: {done.stderr.strip()[-500:]}")
