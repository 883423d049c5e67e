"""SIGUSR1 prints where the program is: the way to look into a training that seems to hang."""

import signal
import sys
import threading
import traceback
from types import FrameType
from typing import Any


def install() -> None:
    """Print the stack to stderr on SIGUSR1, then do what was done before. Only the main thread can install it."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGUSR1"):
        return
    earlier = signal.getsignal(signal.SIGUSR1)
    if getattr(earlier, "dumps_stack", False):
        return
    signal.signal(signal.SIGUSR1, _Handler(earlier))


class _Handler:
    dumps_stack = True

    def __init__(self, earlier: Any) -> None:
        self._earlier = earlier

    def __call__(self, number: int, frame: FrameType | None) -> None:
        traceback.print_stack(frame, file=sys.stderr)
        sys.stderr.flush()
        if callable(self._earlier):
            self._earlier(number, frame)
