"""Program that is watched: started with our standard input, waited for, sent the signals that we get."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from determined.cli.tracking.relay import Relay
from determined.exec.runner.process_tree import descendants

_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2)
_WATCHED = frozenset({*_FORWARDED, signal.SIGCHLD, signal.SIGWINCH})
_ENDING = frozenset({signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT})
_SI_KERNEL = 0x80  # of a signal that the terminal sends, to the program as well
_LOOK_SECONDS = 1.0
_GRACE_SECONDS = 15.0
_PR_SET_PDEATHSIG = 1
# Loaded before any fork: a child between fork and exec must not open libraries.
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Ending:
    """End of a program. `code`: as a shell says it, 128 + n after signal n. `is_canceled`: somebody has ended it."""

    code: int
    is_canceled: bool


class Program:
    """Program. Make and run it in the main thread: signals are waited for there, and it dies with that thread."""

    def __init__(self, command: Sequence[str], variables: dict[str, str], relay: Relay) -> None:
        self._relay = relay
        self._is_canceled = False
        self._kill_at: float | None = None
        self._watched = watched_signals()
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, self._watched)
        try:
            self._process = subprocess.Popen(
                command,
                env=variables,
                stdout=relay.writing["stdout"],
                stderr=relay.writing["stderr"],
                preexec_fn=self._begin,  # noqa: PLW1509 (system calls alone, through a library loaded before)
            )
        except BaseException:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
            raise
        relay.start()

    def wait(self, is_unwanted: Callable[[], bool]) -> Ending:
        """Wait for its end. `is_unwanted` is asked every second: a program that nobody wants gets SIGTERM, with
        all that it has started."""
        try:
            while self._process.poll() is None:
                received = signal.sigtimedwait(self._watched, _LOOK_SECONDS)
                if received is not None:
                    self._handle(received)
                elif is_unwanted() and self._kill_at is None:
                    self._end()
                if self._kill_at is not None and time.monotonic() > self._kill_at:
                    self._signal_all(signal.SIGKILL)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
        code = self._process.returncode
        return Ending(128 - code if code < 0 else code, self._is_canceled)

    def _begin(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
        if sys.platform == "linux":
            _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)

    def _handle(self, received: signal.struct_siginfo) -> None:
        if received.si_signo == signal.SIGWINCH:
            self._relay.resize()
        if received.si_signo not in _FORWARDED:
            return
        self._is_canceled = self._is_canceled or received.si_signo in _ENDING
        if received.si_code != _SI_KERNEL:
            os.kill(self._process.pid, received.si_signo)

    def _end(self) -> None:
        self._is_canceled = True
        self._kill_at = time.monotonic() + _GRACE_SECONDS
        self._signal_all(signal.SIGTERM)

    def _signal_all(self, number: signal.Signals) -> None:
        """Signal the program and all below it: a shell that ends leaves the training that it has started.

        The program comes first: one whose child ends before it would end by itself, with a status of its own.
        """
        for pid in (self._process.pid, *descendants(self._process.pid)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def watched_signals() -> frozenset[signal.Signals]:
    """Return the signals to wait for. Those that we ignore, as under `nohup`, would be queued once they are blocked."""
    return frozenset(number for number in _WATCHED if signal.getsignal(number) != signal.SIG_IGN)
