"""Run directory of a run outside of the cluster, and the process that delivers what is written there."""

import logging
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from determined.api import environment
from determined.api.session import Session
from determined.rundir import detached
from determined.rundir.control import Control
from determined.rundir.detached import DetachedFile, RunEnd
from determined.rundir.layout import RunDir
from determined.rundir.lock import hold, is_held
from determined.rundir.process_identity import start_time

logger = logging.getLogger("determined.core")

PROGRAM = "determined.exec.detached"
_STEP_SECONDS = 0.05
_SILENT_SECONDS = 3.0  # then people want to know what is waited for
_AWAY_SECONDS = 5.0  # for a master that does not answer when the run ends
_MOST_SECONDS = 600.0  # for one that answers, however slowly


def directories() -> Path:
    """Return where the run directories of this user lie."""
    return environment.state_dir() / "detached"


def create(
    session: Session, trial_id: int, run_id: int, *, is_chief: bool = True, event_directories: Sequence[str] = ()
) -> RunDir:
    """Make a run directory for a trial that has been started."""
    root = directories()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    run_dir = RunDir(root / uuid.uuid4().hex)
    run_dir.create()
    cert = session._cert
    content = DetachedFile(
        master_url=session.master_url,
        token=session.token or "",
        username=session.username,
        trial_id=trial_id,
        run_id=run_id,
        cert_file=cert.file if cert else None,
        cert_name=cert.name if cert else None,
        cert_pinned=cert.pinned if cert else None,
        is_chief=is_chief,
        event_directories=list(event_directories),
        started=time.time(),
        owner=os.getpid(),
        owner_started=start_time(os.getpid()),
    )
    detached.write(run_dir, content)
    return run_dir


class DeliveryProcess:
    """Process beside this one: it delivers what this one writes to the run directory, and outlives it until all is.

    It also sees when this process is killed, and tells the master. It is no child of this one, and delivers as long as
    it holds the lock of the directory.
    """

    def __init__(self, run_dir: RunDir) -> None:
        self._run_dir = run_dir
        self._control = Control.open(run_dir.control)
        self._is_started = False
        self._owner = os.getpid()
        self.problem: str | None = None  # why `finish` could not deliver everything

    def start(self) -> None:
        """Start it in a session of its own, where a Ctrl-C does not reach it, with the lock of the directory."""
        lock = hold(self._run_dir.lock)
        if lock is None:
            raise OSError(f"another process holds {self._run_dir.lock}")
        try:
            with self._run_dir.runner_log.open("ab") as log:
                subprocess.call(  # it ends at once, and leaves a child
                    # -P: what lies in the working directory is the user's, and must not take the place of our modules.
                    [sys.executable, "-P", "-m", PROGRAM, str(self._run_dir.path), str(lock.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    cwd="/",
                    pass_fds=[lock.fileno()],
                )
        finally:
            lock.close()
        self._is_started = True

    def finish(self, end: RunEnd) -> bool:
        """Say how the run ended, and wait until everything is delivered. False: not all is, `problem` says why."""
        if os.getpid() != self._owner or not self._is_started:
            return True  # a forked child: the run is its parent's
        try:
            detached.write_end(self._run_dir, end)
        except FileNotFoundError:
            self.problem = f"{self._run_dir.path} was removed during the run; what was not delivered is lost"
            return False
        self.problem = self._wait()
        return self.problem is None

    def _wait(self) -> str | None:
        """Wait until everything is delivered; return what is wrong where it is not."""
        started, is_said = time.monotonic(), False
        while self._is_delivering():
            waited = time.monotonic() - started
            if waited > _AWAY_SECONDS and self._control.master_away:
                return "the master does not answer; the rest is delivered in the background, or by the next run"
            if waited > _MOST_SECONDS:
                return f"the master has not got all after {_MOST_SECONDS:.0f} s; delivery goes on in the background"
            if waited > _SILENT_SECONDS and not is_said:
                logger.warning("waiting until the master has the last reports, %.0f s at most", _MOST_SECONDS)
                is_said = True
            time.sleep(_STEP_SECONDS)
        if not self._run_dir.path.exists():
            return None
        return "the delivery process has ended before its time; the next run delivers the rest"

    def _is_delivering(self) -> bool:
        """Check whether it is at work. A directory without a lock file is just being removed."""
        lock = self._run_dir.lock
        return self._run_dir.path.exists() and (is_held(lock) or not lock.exists())
