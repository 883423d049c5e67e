"""One runner as the engine follows it: started, found alive, started again to drain, ended. Blocking, without asyncio.

Whoever calls these methods does so from one thread at a time per runner.
"""

import logging
import os
import subprocess

from determined.engines.local import directory, process
from determined.engines.local.directory import Found
from determined.engines.model import GoneReason, Launch, RunnerGone
from determined.errors import Unavailable
from determined.rundir.layout import RunDir

logger = logging.getLogger(__name__)

# A runner that died is started again on its directory, where it only drains its journals. Seconds of rest after each
# attempt: what made it fail may pass (a full disk, no memory for a process).
_RESTS = (0.5, 2.0, 0.0)


class Runner:
    """`_child` is set while the process is our own; a runner of an earlier master is known by its lock alone.

    `rest_until`: not started again before this time of the event loop's clock.
    """

    def __init__(self, run_dir: RunDir, python: str, *, rest_until: float = 0.0) -> None:
        self.run_dir = run_dir
        self.rest_until = rest_until
        self._python = python
        self._restarts = 0
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def resource_id(self) -> str:
        return self.run_dir.path.name

    @property
    def child_pid(self) -> int | None:
        return self._child.pid if self._child else None

    @property
    def is_hopeless(self) -> bool:
        """It died as often as we are willing to start it."""
        return self._restarts >= len(_RESTS)

    @property
    def next_rest(self) -> float:
        return _RESTS[self._restarts]

    def is_alive(self) -> bool:
        if self._child is not None and self._child.poll() is None:
            # Not by its lock: asking for that could keep a runner that just begins from taking it.
            return True
        return directory.find(self.run_dir) is Found.ALIVE

    def launch(self, launch: Launch) -> None:
        """Make the directory and start; on a directory that exists, take up what is found there.

        Raises:
            Unavailable: the runner cannot be started; nothing is left behind.
        """
        identity = process.resolve(launch.run_as)
        try:
            directory.make(self.run_dir, identity)
        except FileExistsError:
            self._resume(launch, identity)
            return
        try:
            directory.write_launch(self.run_dir, launch, identity)
            self._child = process.spawn(self._python, self.run_dir, identity)
        except Unavailable:
            directory.remove(self.run_dir)
            raise

    def claim(self, launch: Launch) -> None:
        """The master knows of this runner: tell it where that master is now, and let it drain if it is dead."""
        try:
            if self._child is None:
                directory.write_launch(self.run_dir, launch, process.resolve(launch.run_as))
        except Unavailable as e:
            # It may be alive and well, or just being removed: no reason to call it not started.
            logger.warning("%s: cannot be told the master's address: %s", self.resource_id, e)
        self.rest_until = 0.0

    def restart(self) -> None:
        """Start on the same directory again, as its owner."""
        self._restarts += 1
        owner = self.run_dir.path.stat()
        ours = (owner.st_uid, owner.st_gid) == (os.geteuid(), os.getegid())
        identity = None if ours else process.Identity(owner.st_uid, owner.st_gid, (owner.st_gid,))
        self._child = process.spawn(self._python, self.run_dir, identity)

    def look(self) -> Found:
        """What has become of it. A child that ended is reaped here."""
        if self._child is not None:
            if self._child.poll() is None:
                return Found.ALIVE
            self._child = None
            if self.run_dir.done.exists():
                # Its watchdog may hold the lock for another moment; there is nothing left to wait for.
                return Found.DONE
        return directory.find(self.run_dir)

    def end(self, *, force: bool) -> None:
        pid = self._child.pid if self._child else process.runner_of(self.run_dir)
        if pid is None or (self._child and self._child.poll() is not None):
            return
        if force:
            process.kill_tree(pid)
        else:
            process.terminate(pid)

    def epitaph(self, found: Found) -> RunnerGone:
        """How it ended."""
        if found is Found.DONE:
            return RunnerGone(self.resource_id, GoneReason.EXITED)
        words = directory.last_words(self.run_dir)
        return RunnerGone(self.resource_id, GoneReason.LOST, words or "the runner vanished without a word")

    def let_go(self) -> None:
        """Stop following it; it goes on. Popen's destructor would complain about a process that nobody waited for."""
        if self._child is not None:
            self._child.returncode = 0
            self._child = None

    def _resume(self, launch: Launch, identity: process.Identity | None) -> None:
        found = directory.find(self.run_dir)
        if found is Found.DONE:
            return
        directory.write_launch(self.run_dir, launch, identity)
        if found is Found.DEAD:
            self._child = process.spawn(self._python, self.run_dir, identity)
