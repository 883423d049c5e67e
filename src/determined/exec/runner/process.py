"""The task's process: started in a group of its own, waited for together with the orphans it leaves, ended for good."""

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from determined.exec.runner import namespace, process_tree
from determined.exec.runner.namespace import NamespaceRefused
from determined.exec.runner.output import OutputPipes
from determined.exec.runner.termination import Termination
from determined.rundir.signal_socket import signal_socket

if TYPE_CHECKING:
    from determined.exec.runner.forked.standby import Standby, Start

_STEP_SECONDS = 0.1
_LOOK_SECONDS = 1.0
_LAST_OUTPUT_SECONDS = 1.0
_SWEEPS = 20


class TaskProcess:
    """Process of the task. Create it in the main thread: the child dies with the thread that forked it.

    Create it by `execute` or `fork`.
    """

    def __init__(self, pid: int, output: OutputPipes, child: "subprocess.Popen[bytes] | None" = None) -> None:
        self.group = pid
        self._child = child  # for its destructor, which complains about a process that nobody waited for
        self._output = output
        self._status: int | None = None
        self.ended = threading.Event()
        self._term_sent, self._term_lock = False, threading.Lock()
        output.start()

    @classmethod
    def execute(
        cls,
        argv: list[str],
        variables: dict[str, str],
        workdir: Path,
        output: OutputPipes,
        mounts: Sequence[namespace.Mount] = (),
    ) -> "TaskProcess":
        """Start a program.

        `mounts`: what only this process and its children see. Raises NamespaceRefused where they cannot be had.
        """
        child = _start(argv, variables, workdir, (output.stdout, output.stderr), mounts)
        return cls(child.pid, output, child)

    @classmethod
    def fork(cls, standby: "Standby", start: "Start", output: OutputPipes) -> "TaskProcess":
        """Have the standby become a program. Raises NamespaceRefused as `execute` does, OSError when it is gone."""
        return cls(standby.start(start, output.stdout, output.stderr), output)

    @property
    def status(self) -> int:
        """The exit status; 128 + n after signal n."""
        assert self._status is not None
        return self._status

    def poll(self) -> bool:
        """Reap whoever has exited; True once the task's own process has."""
        while self._reap():
            pass
        return self.ended.is_set()

    def wait(self) -> None:
        """Reap until the task's own process has exited. Orphans adopted on the way are reaped too.

        Not in a call that blocks: the handler of a signal to end would then wait for the task to end by itself.
        """
        with signal_socket(signal.SIGCHLD) as child_signals:
            while not self.poll():
                if select.select([child_signals], [], [], _LOOK_SECONDS)[0]:
                    child_signals.recv(4096)

    def signal(self, number: int) -> None:
        if not self.ended.is_set():
            process_tree.signal_group(self.group, number)

    def end_when_wanted(self, ending: Termination) -> None:
        """Start a thread that sends TERM when the end is requested, and KILL when the grace period is over."""
        threading.Thread(target=self._end_when_wanted, args=(ending,), name="ender", daemon=True).start()

    def wait_after_term(self, ending: Termination) -> None:
        """Wait after a TERM until the task's programs have ended or the grace period is over.

        A shell dies of TERM at once, but the program it ran may still be saving. The grace period may become shorter
        meanwhile:
        an engine's signal can arrive before the message that a peer has failed.
        """
        while time.monotonic() < ending.deadline:
            self._reap()
            try:
                os.killpg(self.group, 0)
            except OSError:
                return
            time.sleep(_STEP_SECONDS / 10)

    def await_writers(self, seconds: float, ending: Termination) -> None:
        """Wait after the exit while programs that it has left behind hold its output open, so long at most."""
        deadline = time.monotonic() + seconds
        while self._output.is_open and time.monotonic() < deadline and not ending.wanted.is_set():
            self._reap()
            time.sleep(_STEP_SECONDS / 10)
        if ending.wanted.is_set():
            self._terminate()  # where the request came after the exit

    def clear_away(self, spared: set[int]) -> None:
        """Kill what is left of the task after its exit, and read its last output."""
        process_tree.signal_group(self.group, signal.SIGKILL)
        for _ in range(_SWEEPS):
            # Again, because a process may fork while the list is made.
            if not (left := process_tree.descendants(os.getpid()) - spared):
                break
            process_tree.kill_all(left)
            time.sleep(_STEP_SECONDS / 10)
        self._output.finish(_LAST_OUTPUT_SECONDS)

    def _reap(self) -> bool:
        """Reap a child and return whether one had exited."""
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            self.ended.set()
            return False
        if pid == self.group:
            code = os.waitstatus_to_exitcode(status)
            if self._child is not None:
                self._child.returncode = code
            self._status = 128 - code if code < 0 else code
            self.ended.set()
        return pid != 0

    def _end_when_wanted(self, ending: Termination) -> None:
        ending.wanted.wait()
        if not self.ended.is_set():
            self._terminate()
        while not self.ended.wait(_STEP_SECONDS):
            if time.monotonic() >= ending.deadline:
                self.signal(signal.SIGKILL)
                process_tree.kill_all(process_tree.descendants(self.group) | {self.group})
                return

    def _terminate(self) -> None:
        """Send TERM to the task's programs, once: a second one could interrupt a program that is saving."""
        with self._term_lock:
            if not self._term_sent:
                self._term_sent = True
                process_tree.signal_group(self.group, signal.SIGTERM)


def start_beside(
    argv: list[str], variables: dict[str, str], workdir: Path, output: IO[bytes], mounts: Sequence[namespace.Mount]
) -> "subprocess.Popen[bytes]":
    """Start a process that sees the task's files and ends with the thread that calls this.

    Raises:
        OSError: it cannot be started.
        NamespaceRefused: the system does not let it have the mounts.
    """
    return _start(argv, variables, workdir, (output, output), mounts)


def _start(
    argv: list[str],
    variables: dict[str, str],
    workdir: Path,
    output: tuple[int | IO[bytes], int | IO[bytes]],
    mounts: Sequence[namespace.Mount],
) -> "subprocess.Popen[bytes]":
    why, said = os.pipe()

    def begin() -> None:
        # Between fork and exec: system calls alone, through a library loaded before.
        if mounts:
            try:
                namespace.enter(mounts, str(workdir))
            except OSError as e:
                os.write(said, f"{e.filename or e.strerror}: {os.strerror(e.errno or 0)}".encode())
                raise
        process_tree.die_with_parent()  # here, because a change of namespaces could undo it

    try:
        return subprocess.Popen(
            argv,
            env=variables,
            cwd=workdir,
            stdin=subprocess.DEVNULL,
            stdout=output[0],
            stderr=output[1],
            process_group=0,
            preexec_fn=begin,  # noqa: PLW1509
        )
    except subprocess.SubprocessError as e:
        os.close(said)
        said = -1  # so that reading ends
        raise NamespaceRefused(os.read(why, 1000).decode(errors="replace")) from e
    finally:
        for descriptor in (why, said):
            if descriptor != -1:
                os.close(descriptor)
