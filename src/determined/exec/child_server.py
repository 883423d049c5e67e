"""A server of other people as a child of our program: started, looked after, ended with it."""

import contextlib
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from types import FrameType

_GRACE_SECONDS = 5.0  # with the last copies of notebooks below that of a task which is killed (10 s)
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class ChildServer:
    """A child that gets our SIGTERM. Create it in the main thread."""

    def __init__(self, argv: Sequence[str], variables: Mapping[str, str]) -> None:
        self._stopped = threading.Event()
        for number in _SIGNALS:
            signal.signal(number, self._on_signal)
        self._process = subprocess.Popen(list(argv), env=dict(variables), stdin=subprocess.DEVNULL)

    def watch(self, look: Callable[[], None], seconds: float) -> int:
        """Call `look` every so many seconds until the child ends, or until we are told to end. Return the status.

        A child that ends because we do has status 0.
        """
        while self._process.poll() is None and not self._stopped.wait(seconds):
            look()
        return self._end() if self._stopped.is_set() else self._process.wait()

    def stop(self) -> None:
        """End the child, if it has not ended."""
        self._end()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._stopped.set()

    def _end(self) -> int:
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        return 0
