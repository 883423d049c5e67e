"""The runner's own journal, `logs`: the task's output, the runner's words, phases, and the exit as last record."""

import errno
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable

import msgspec

from determined.constants import MAX_LOG_LINE_BYTES
from determined.exec.runner.unsent_output import UnsentOutput
from determined.rundir.journal import JournalWriter
from determined.rundir.layout import RunDir
from determined.rundir.log_line_parser import Line
from determined.wire.report import Exit, ExitCause, LogLine, Phase

logger = logging.getLogger(__name__)

LOGS = "logs"
# Kept free in every segment for the exit record: a full disk must not keep a task's end from being reported.
_RESERVE = 16 * 1024
_RECENT = 400  # enough for the tracebacks of several ranks
_FULL = (errno.ENOSPC, errno.EDQUOT)


class LogSink:
    """Writer of the runner's journal, thread-safe. `appended` is called after each append, to hurry the uploader."""

    def __init__(self, run_dir: RunDir, appended: Callable[[], None], name: str = LOGS) -> None:
        self.journal = JournalWriter(run_dir.journals, name, reserve=_RESERVE)
        self._appended = appended
        self.unsent = UnsentOutput(self.journal)
        self._encode = msgspec.msgpack.Encoder().encode
        self.line_counts: Counter[int | None] = Counter()  # lines of the task so far, by rank
        self.recent: deque[tuple[Line, str]] = deque(maxlen=_RECENT)  # the task's last lines, and their streams
        self._dropped = 0
        # Then nothing follows: the exit is the last record. Of an earlier runner's, too.
        self._has_exited = self.already_exited()
        self._lock = threading.Lock()

    def output(self, lines: Iterable[Line], stdtype: str) -> None:
        """Record lines of the task."""
        now = time.time()
        lines = list(lines)
        self.line_counts.update(rank for _, _, rank in lines)
        self.recent.extend((line, stdtype) for line in lines[-_RECENT:])
        self._append([self._encode(LogLine(text, now, stdtype, level, rank)) for text, level, rank in lines])

    def quote(self, lines: Iterable[str], rank: int) -> None:
        """Record lines about one rank that it has not written itself."""
        now = time.time()
        self._append([self._encode(LogLine(text, now, "stderr", "INFO", rank, "agent")) for text in lines])

    def say(self, level: str, text: str, prefix: str = "") -> None:
        """Record a line of the runner itself; one that is too long becomes several, each with the prefix.

        As a phase, one that is no warning causes no request of its own.
        """
        now = time.time()
        room = (MAX_LOG_LINE_BYTES if text.isascii() else MAX_LOG_LINE_BYTES // 4) - len(prefix)
        pieces = [text[i : i + room] for i in range(0, len(text), room)]
        lines = [LogLine(prefix + p, now, "stdout", level, None, "agent") for p in pieces or [""]]
        self._append([self._encode(line) for line in lines], hurry=level != "INFO")

    def phase(self, state: str) -> None:
        """Record the state of the runner.

        It causes no request of its own: it goes with the next record, or after a moment.
        """
        self._append([self._encode(Phase(state, time.time()))], hurry=False)

    def exit(self, cause: ExitCause, code: int, message: str, at: float | None = None, label: str = "") -> None:
        """Record the exit of the task. `at`: when the task failed, if that was before its last process ended."""
        logger.info("exit: %s, status %s: %s", cause, code, message)
        record = self._encode(Exit(cause, code, message, time.time() if at is None else at, label))
        with self._lock:
            self._has_exited = True
            try:
                self.journal.append(record, last=True)
            except OSError as e:
                # Without room for the record the engine's word ("gone without an exit") has to do.
                logger.error("cannot journal the exit: %s", e)
        self._appended()

    def already_exited(self) -> bool:
        """Check whether an earlier runner on this directory had written its exit."""
        last = self.journal.last_record
        return last is not None and msgspec.msgpack.decode(last)[0] == "exit"

    def _append(self, records: list[bytes], *, hurry: bool = True) -> None:
        if not records:
            return
        with self._lock:
            if self._has_exited:
                return
            before = self.journal.committed
            try:
                self.journal.extend(records)
                self.unsent.add(records)
                self._report_lost_lines()
            except OSError as e:
                if e.errno not in _FULL:
                    raise
                self._dropped += max(0, len(records) - (self.journal.committed - before))
                logger.error("disk full: %s log lines dropped so far", self._dropped)
        if hurry:
            self._appended()

    def _report_lost_lines(self) -> None:
        """Record how many lines were dropped, once a batch fits again."""
        if not self._dropped:
            return
        text = f"the disk was full: {self._dropped} log lines before this moment were dropped"
        self.journal.append(self._encode(LogLine(text, time.time(), "stdout", "WARNING", None, "agent")))
        self._dropped = 0
