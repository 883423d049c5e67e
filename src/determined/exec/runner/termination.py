"""Reason and deadline of a task's early end. Decided once; a kill outranks a preemption."""

import threading
import time

from determined.wire.report import ExitCause

# From SIGTERM to SIGKILL.
GRACE_SECONDS = {ExitCause.PREEMPTED: 15.0, ExitCause.KILLED: 10.0}


class Termination:
    def __init__(self) -> None:
        self.wanted = threading.Event()
        self.cause: ExitCause | None = None
        self.message = ""
        self.deadline = float("inf")  # monotonic
        self._lock = threading.Lock()

    def request(self, cause: ExitCause, message: str, grace: float | None = None) -> None:
        """Request the end. `grace` replaces the usual time between SIGTERM and SIGKILL."""
        with self._lock:
            self.deadline = min(self.deadline, time.monotonic() + (GRACE_SECONDS[cause] if grace is None else grace))
            if self.cause is None or cause is ExitCause.KILLED:
                self.cause, self.message = cause, message
        self.wanted.set()
