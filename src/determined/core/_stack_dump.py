"""Signals that print where the program is: the way to look into a training that seems to hang."""

import faulthandler
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from types import FrameType

from determined.rundir.heartbeat import STACK_SIGNAL

_STDERR = 2
_stacks: int | None = None  # the open file that faulthandler writes to


def install() -> None:
    """Print the stack to stderr on SIGUSR1, then do what was done before. Only the main thread can install it.

    All threads are printed below Python as well, at once: a process inside a C call runs no Python handler until that
    call returns.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGUSR1"):
        return
    earlier = signal.getsignal(signal.SIGUSR1)
    if getattr(earlier, "dumps_stack", False):
        return
    faulthandler.unregister(signal.SIGUSR1)  # or a second registration would not take effect
    signal.signal(signal.SIGUSR1, _Handler(earlier))
    faulthandler.register(signal.SIGUSR1, file=_STDERR, all_threads=True, chain=True)


def install_on_demand(stacks: Path) -> None:
    """Let the runner ask for the stacks of all threads: they go to that file, and nothing else happens."""
    global _stacks
    if STACK_SIGNAL is None:
        return
    fresh = os.open(stacks, os.O_WRONLY | os.O_APPEND)
    faulthandler.register(STACK_SIGNAL, file=fresh, all_threads=True, chain=False)
    if _stacks is not None:
        os.close(_stacks)
    _stacks = fresh


class _Handler:
    dumps_stack = True

    def __init__(self, earlier: object) -> None:
        self._earlier = earlier

    def __call__(self, number: int, frame: FrameType | None) -> None:
        traceback.print_stack(frame, file=sys.stderr)
        sys.stderr.flush()
        if callable(self._earlier):
            self._earlier(number, frame)
