"""Output of a program that is watched: it goes on to where ours goes, and its lines to a journal.

A program that would write to a terminal still does: it gets a pseudo-terminal of the same size.
"""

import contextlib
import fcntl
import logging
import os
import pty
import selectors
import struct
import termios
import threading
import time
import tty
from collections.abc import Callable

from determined.cli import render
from determined.rundir.line_journal import LineJournal
from determined.rundir.log_line_parser import Line

logger = logging.getLogger(__name__)

_CHUNK_BYTES = 64 * 1024
_LOOK_SECONDS = 0.2
_LAST_SECONDS = 1.0  # of waiting for what programs in the background may still write
_STREAMS = {"stdout": 1, "stderr": 2}


class Relay:
    """Relay of both streams. Give `writing` to the program, then `start`; `lines` hears of each line."""

    def __init__(self, journal: LineJournal, lines: Callable[[list[Line]], None]) -> None:
        self._journal = journal
        self._lines = lines
        self._reading: dict[str, int] = {}
        self._terminals: dict[int, int] = {}  # the program's, and the one of ours that it stands for
        self.writing: dict[str, int] = {}
        for name, descriptor in _STREAMS.items():
            self._reading[name], self.writing[name] = self._pair(descriptor)
        self._program_ended = threading.Event()
        self._waited = 0.0  # seconds since the program's end in which there was nothing to read
        self._thread = threading.Thread(target=self._run, name="output", daemon=True)

    def start(self) -> None:
        """Start to read, after the program has its own copies of the other ends."""
        for descriptor in self.writing.values():
            os.close(descriptor)
        self._thread.start()

    def finish(self) -> None:
        """Wait until all output is passed on, however slow its reader is.

        Programs in the background that hold it open and write nothing are not waited for.
        """
        self._program_ended.set()
        self._thread.join()
        self._journal.close()

    def resize(self) -> None:
        """Pass on the size of our terminal."""
        for terminal, descriptor in self._terminals.items():
            _copy_size(descriptor, terminal)

    def _pair(self, descriptor: int) -> tuple[int, int]:
        if not os.isatty(descriptor):
            return os.pipe()
        ours, theirs = pty.openpty()
        with contextlib.suppress(termios.error):
            tty.setraw(theirs)  # our own terminal turns line ends into what it needs
        _copy_size(descriptor, ours)
        self._terminals[ours] = descriptor
        return ours, theirs

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            for name, descriptor in self._reading.items():
                selector.register(descriptor, selectors.EVENT_READ, name)
            while selector.get_map():
                ready = self._ready(selector)
                if not ready and self._waited >= _LAST_SECONDS:
                    return
                for descriptor in [key.fd for key, _ in ready if not self._pass_on(key.fd, key.data)]:
                    selector.unregister(descriptor)
                    os.close(descriptor)

    def _ready(self, selector: selectors.BaseSelector) -> list[tuple[selectors.SelectorKey, int]]:
        """Return the streams with output. Only the time in which there is none counts as waiting."""
        is_last = self._program_ended.is_set()
        started = time.monotonic()
        ready = selector.select(max(0.0, min(_LOOK_SECONDS, _LAST_SECONDS - self._waited)))
        if is_last:
            self._waited += time.monotonic() - started
        return ready

    def _pass_on(self, descriptor: int, name: str) -> bool:
        """Pass one chunk on; False at the end of the stream, and when nobody reads ours any more.

        The reading end is closed then: the program's next write fails as it would without us.
        """
        try:
            chunk = os.read(descriptor, _CHUNK_BYTES)
        except OSError:
            return False  # a pseudo-terminal that nobody has open any more
        if not chunk:
            return False
        is_read = render.pass_on(_STREAMS[name], chunk)
        self._keep(chunk, name)
        return is_read

    def _keep(self, chunk: bytes, name: str) -> None:
        try:
            self._lines(self._journal.feed(chunk, name))
        except Exception:
            # A fault here must not end the thread: the program would block on a full pipe.
            logger.exception("a part of the output could not be kept")


def _copy_size(descriptor: int, terminal: int) -> None:
    with contextlib.suppress(OSError):
        size = fcntl.ioctl(descriptor, termios.TIOCGWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
