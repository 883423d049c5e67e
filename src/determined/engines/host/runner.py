"""Runner as the engine tracks it: started, found alive, started again to drain, ended. Blocking, without asyncio.

Call these methods from one thread at a time per runner.
"""

import logging
import os
import time
from collections.abc import Callable

from determined.engines.host import directory, process, restart_delays
from determined.engines.host.directory import DirectoryState
from determined.engines.host.runner_process import ChildRunner, RunnerProcess
from determined.engines.model import GoneReason, RunAs, RunnerGone
from determined.errors import FailedPrecondition, Unavailable
from determined.rundir.layout import RunDir
from determined.wire.report import LaunchFile

logger = logging.getLogger(__name__)

Fork = Callable[[RunDir, process.Identity | None, str | None], RunnerProcess | None]

_DISOWN_SECONDS = 10.0  # a runner that just begins has not yet said its pid


class Runner:
    """Runner as a process of this host.

    `_child` is set while the process is our own; a runner of an earlier master is known by its lock alone.
    `retry_at`: time of the event loop's clock; it is not started again before. `fork`: starts it by a fork, where that
    can be done now. `group`: as in `Launch`. `amend`: adds what only the host knows to a launch file.
    """

    def __init__(
        self,
        run_dir: RunDir,
        python: str,
        *,
        retry_at: float = 0.0,
        fork: Fork = lambda *_: None,
        group: str | None = None,
        amend: Callable[[LaunchFile], LaunchFile] = lambda file: file,
    ) -> None:
        self.run_dir = run_dir
        self.retry_at = retry_at
        self._python = python
        self.group = group
        self._fork = fork
        self._amend = amend
        self._restarts = 0
        self._again = False  # not its first start
        self._killed = False  # by us: that death does not speak against it
        self._given_up = False
        self._identity: process.Identity | None = None
        self._claimed = False  # `_identity` is whom the master asked for
        self._child: RunnerProcess | None = None

    @property
    def resource_id(self) -> str:
        return self.run_dir.path.name

    @property
    def claimed(self) -> bool:
        """Mark of a runner that this life of the master has asked for."""
        return self._claimed

    @property
    def identity(self) -> process.Identity | None:
        """User it was launched as; None for our own."""
        return self._identity

    def pidfd(self) -> int | None:
        """Return a new descriptor that tells of the end of a process that we have started; None without one."""
        return self._child.pidfd() if self._child else None

    @property
    def next_delay(self) -> float:
        return restart_delays.delay_after(self._restarts)

    def is_hopeless(self) -> bool:
        """Check whether it died again and again with nothing left to report, or nobody wants its reports any more."""
        return self._given_up or (self._restarts >= restart_delays.ENOUGH and directory.is_drained(self.run_dir))

    def is_alive(self) -> bool:
        if self._child is not None and self._child.poll():
            # Not by its lock: asking for that could keep a runner that just begins from taking it.
            return True
        return directory.find(self.run_dir) is DirectoryState.ALIVE

    def launch(self, file: LaunchFile, run_as: RunAs, *, begun: bool = False) -> None:
        """Make the directory and start; on a directory that exists, take up what is found there.

        `begun`: the master has reports of it.

        Raises:
            Unavailable: the runner cannot be started, or was begun and its directory is gone; nothing is left behind.
            FailedPrecondition: it cannot be started, now or later.
        """
        identity = self._identity = process.resolve(run_as)
        self._claimed = True
        if begun and not self.run_dir.path.exists():
            raise Unavailable(f"it was begun, but its run directory {self.run_dir.path} is gone")
        try:
            directory.make(self.run_dir, identity)
        except FileExistsError:
            self._resume(file, identity)
            return
        try:
            directory.write_launch(self.run_dir, self._amend(file), identity)
            self._child = self._fork(self.run_dir, identity, self.group) or self._spawn(identity)
        except (FailedPrecondition, Unavailable):
            directory.remove(self.run_dir)
            raise

    def claim(self, file: LaunchFile, run_as: RunAs) -> None:
        """Tell the runner where its master is now, and let it drain if it is dead: the master knows of it."""
        try:
            self._identity, self._claimed = process.resolve(run_as), True
            if self._child is None:
                directory.write_launch(self.run_dir, self._amend(file), self._identity)
        except (FailedPrecondition, Unavailable) as e:
            # It may be alive and well, or just being removed: no reason to call it not started.
            logger.warning("%s: cannot be told the master's address: %s", self.resource_id, e)
        self.retry_at = 0.0

    def restart(self) -> None:
        """Start on the same directory again, as its owner, who must be the one the master asked for."""
        self._restarts += not self._killed
        self._again, self._killed = True, False
        if self._claimed:
            directory.check_owner(self.run_dir, self._identity)
        owner = self.run_dir.path.stat()
        ours = (owner.st_uid, owner.st_gid) == (os.geteuid(), os.getegid())
        identity = None if ours else process.Identity(owner.st_uid, owner.st_gid, (owner.st_gid,))
        self._child = self._spawn(identity)

    def look(self) -> DirectoryState:
        """Return its state. A child that ended is reaped here."""
        if self._child is not None:
            if self._child.poll():
                return DirectoryState.ALIVE
            self._child = None
            if self.run_dir.done.exists():
                # Its orphan killer may hold the lock for another moment; there is nothing left to wait for.
                return DirectoryState.DONE
        return directory.find(self.run_dir)

    def end(self, *, force: bool) -> None:
        """End it. A forced end of one that only drains does nothing: its task is dead, and its records are wanted."""
        pid = self._child.pid if self._child else process.runner_of(self.run_dir)
        if pid is None or (self._child and not self._child.poll()):
            self._given_up |= force and restart_delays.are_exhausted(self._restarts)
            return
        if not force:
            process.terminate(pid)
        elif not self._only_drains():
            self._killed = True
            process.kill_tree(pid)

    def disown(self) -> bool:
        """End it and its task, and put its directory aside as it is. False when it could not be ended."""
        deadline = time.monotonic() + _DISOWN_SECONDS
        while directory.find(self.run_dir) is DirectoryState.ALIVE:
            if time.monotonic() > deadline:
                return False
            pid = process.runner_of(self.run_dir)
            if pid is not None:
                process.kill_tree(pid)
            time.sleep(0.02)
        if self._child is not None:
            self._child.wait()
        directory.put_aside(self.run_dir)
        return True

    def exit_event(self, state: DirectoryState) -> RunnerGone:
        """Return the event that tells how it ended."""
        if state is DirectoryState.DONE:
            return RunnerGone(self.resource_id, GoneReason.EXITED)
        words = directory.last_words(self.run_dir) or "the runner vanished without a word"
        if not directory.is_drained(self.run_dir):
            words += f"; what it could not report is kept in {directory.aside_of(self.run_dir)}"
        return RunnerGone(self.resource_id, GoneReason.LOST, words)

    def clear_away(self, state: DirectoryState) -> None:
        """Remove the directory once its end is on record. Records that never reached the master are kept."""
        directory.clear_away(self.run_dir, state)

    def let_go(self) -> None:
        """Stop following it; it goes on."""
        if self._child is not None:
            self._child.let_go()
            self._child = None

    def _only_drains(self) -> bool:
        """Check whether it was started again after its task had begun."""
        return self._again and self.run_dir.started.exists()

    def _spawn(self, identity: process.Identity | None) -> RunnerProcess:
        return ChildRunner(process.spawn(self._python, self.run_dir, identity))

    def _resume(self, file: LaunchFile, identity: process.Identity | None) -> None:
        state = directory.find(self.run_dir)
        if state is DirectoryState.DONE:
            return
        directory.write_launch(self.run_dir, self._amend(file), identity)
        if state is DirectoryState.DEAD:
            directory.check_owner(self.run_dir, identity)
            self._again = True
            self._child = self._spawn(identity)
