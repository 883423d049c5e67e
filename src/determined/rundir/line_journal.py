"""Journal of the lines that a process prints: each with its own time, level and rank."""

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from determined.errors import FailedPrecondition
from determined.rundir.journal import JournalWriter
from determined.rundir.log_line_parser import Line, LineParser
from determined.wire.codec import to_msgpack
from determined.wire.report import LogLine


class LineJournal:
    """Writer of the lines, thread-safe. What cannot be written (a full disk) is left out: nobody's print may fail.

    `rank`: of this process among its peers, where it has any.
    """

    def __init__(self, directory: Path, rank: int | None = None) -> None:
        self._journal = JournalWriter(directory, f"lines-{os.getpid()}-{os.urandom(4).hex()}")
        self._rank = rank
        self._parsers = {"stdout": LineParser(), "stderr": LineParser()}
        # Reentrant: a signal handler may print while the thread that it interrupts prints.
        self._lock = threading.RLock()
        self._is_busy = False
        self._waiting: deque[Callable[[], list[Line]]] = deque()
        _journals.add(self)

    def feed(self, chunk: bytes, stdtype: str) -> list[Line]:
        """Journal the lines that a chunk completes, and return them.

        A call from a signal handler that interrupts another returns none: the other one returns them.
        """
        return self._in_turn(lambda: self._feed(chunk, stdtype))

    def close(self) -> None:
        """Journal what has no line end yet."""
        self._in_turn(self._close)

    def _in_turn(self, job: Callable[[], list[Line]]) -> list[Line]:
        """Do a job, then those of signal handlers that came meanwhile: a parser in use must not be entered again."""
        with self._lock:
            if self._is_busy:
                self._waiting.append(job)
                return []
            self._is_busy = True
            try:
                lines = job()
                while self._waiting:
                    lines += self._waiting.popleft()()
            finally:
                self._is_busy = False
        return lines

    def _feed(self, chunk: bytes, stdtype: str) -> list[Line]:
        lines = self._parsers[stdtype].feed(chunk)
        self._write(lines, stdtype)
        return lines

    def _close(self) -> list[Line]:
        for stdtype, parser in self._parsers.items():
            self._write(parser.end(), stdtype)
        self._journal.close()
        return []

    def _write(self, lines: Iterable[Line], stdtype: str) -> None:
        now = time.time()
        records = [
            to_msgpack(LogLine(text, now, stdtype, level, self._rank if rank is None else rank))
            for text, level, rank in lines
        ]
        try:
            if records:
                self._journal.extend(records)
        except (OSError, FailedPrecondition):
            return  # a full disk, or a forked child, whose lines are its parent's affair


_journals: "weakref.WeakSet[LineJournal]" = weakref.WeakSet()


def _renew_in_child() -> None:
    """Replace locks that another thread of the parent held at the fork: nobody would give them back."""
    for journal in _journals:
        journal._lock = threading.RLock()
        journal._is_busy = False
        journal._waiting.clear()


os.register_at_fork(after_in_child=_renew_in_child)
