"""The thread that reads what a task writes and journals it line by line."""

import fcntl
import logging
import os
import select
import selectors
import sys
import threading
import time
from collections.abc import Callable

from determined.exec.runner.log_sink import LogSink
from determined.rundir.log_line_parser import LineParser

logger = logging.getLogger(__name__)

_CHUNK_BYTES = 256 * 1024
_F_SETPIPE_SZ = 1031
_PIPE_BYTES = 1 << 20
_STEP_SECONDS = 0.05
_MOST_SECONDS = 20.0  # for what a task has written last; the master uses force after 30


class OutputPipes:
    """Pair of pipes: give `stdout` and `stderr` to the task, then `start`.

    The task waits in its writes while the master has too much of its output to fetch yet.
    """

    def __init__(self, sink: LogSink, is_master_away: Callable[[], bool] = lambda: False) -> None:
        self._sink = sink
        self._is_master_away = is_master_away
        self._reading: dict[str, int] = {}
        self._writing: dict[str, int] = {}
        for name in ("stdout", "stderr"):
            self._reading[name], self._writing[name] = _pipe()
        self._resting = False  # waits for the task to write something
        self._taken = 0  # bytes that are journaled
        self._thread = threading.Thread(target=self._run, name="output", daemon=True)

    @property
    def stdout(self) -> int:
        return self._writing["stdout"]

    @property
    def stderr(self) -> int:
        return self._writing["stderr"]

    @property
    def is_open(self) -> bool:
        """Check whether somebody may still write."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Close our copies of the task's ends, so that the last writer's exit ends the stream, and start to read."""
        for descriptor in self._writing.values():
            os.close(descriptor)
        self._thread.start()

    def finish(self, timeout: float) -> None:
        """Wait for the end of both streams.

        A stray process that keeps one open is waited for so long only; but what was written is read, however slowly.
        That fits into the pipes: what comes after so much is of one that writes for ever.
        """
        self._sink.unsent.lift()
        started, enough = time.monotonic(), self._taken + 2 * (_PIPE_BYTES + _CHUNK_BYTES)
        while time.monotonic() - started < (_MOST_SECONDS if self._has_work(enough) else timeout):
            self._thread.join(_STEP_SECONDS)
            if not self._thread.is_alive():
                return

    def _has_work(self, enough: int) -> bool:
        if self._taken >= enough:
            return False
        if not self._resting:
            return True
        poll = select.poll()
        for descriptor in list(self._reading.values()):
            poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(0))  # something to read, or an end; also of one that is being closed now

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            for name, descriptor in self._reading.items():
                selector.register(descriptor, selectors.EVENT_READ, (name, LineParser()))
            while selector.get_map():
                self._take_ready(selector)

    def _take_ready(self, selector: selectors.BaseSelector) -> None:
        self._resting = True
        ready = selector.select()
        self._resting = False
        for key, _ in ready:
            if not self._take(key.fd, *key.data):
                selector.unregister(key.fd)
                del self._reading[key.data[0]]
                os.close(key.fd)

    def _take(self, descriptor: int, name: str, parser: LineParser) -> bool:
        """Journal one chunk; False at the end of the stream."""
        chunk = os.read(descriptor, _CHUNK_BYTES)
        try:
            self._sink.output(parser.feed(chunk) if chunk else parser.end(), name)
        except Exception:
            # A line that cannot be journaled must not stop the reading: the task would block on a full pipe.
            logger.exception("output of the task could not be journaled")
        self._taken += len(chunk)
        self._sink.unsent.wait(self._is_master_away)
        return bool(chunk)


def _pipe() -> tuple[int, int]:
    reading, writing = os.pipe()
    if sys.platform == "linux":
        try:
            fcntl.fcntl(writing, _F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError:
            logger.debug("this user may not have larger pipes")
    return reading, writing
