"""Reports of this process to the runner: records appended to a memory-mapped journal, and the flags that come back."""

import contextlib
import os
import threading
from pathlib import Path

from determined.rundir.control import Control
from determined.rundir.heartbeat import Heartbeat
from determined.rundir.journal import JournalWriter
from determined.rundir.layout import RunDir
from determined.wire.codec import to_msgpack


class Reporter:
    """Writer of one journal per process, opened by the first report. Appending never waits for the network."""

    def __init__(self, run_dir: RunDir, rank: int = 0) -> None:
        self.control = Control.open(run_dir.control)
        self.pulse = Heartbeat(run_dir.heartbeats, rank)
        self._journals = run_dir.journals
        self._refused = run_dir.refused
        self._uploaded = run_dir.uploaded
        self._journal: JournalWriter | None = None
        self._lock = threading.Lock()

    def report(self, record: object) -> int:
        """Append a `wire.report` record; its number."""
        return self.append(to_msgpack(record))

    def append(self, payload: bytes) -> int:
        """Append a record; its number. Raises OSError, naming the place, when the disk is full: a lost report would be
        worse."""
        try:
            return (self._journal or self.open()).append(payload)
        except OSError as err:
            raise self.explained(err) from err

    def open(self) -> JournalWriter:
        """The journal itself, for the one caller that cannot spare the step through `append`."""
        with self._lock:
            if self._journal is None:
                self._journals.mkdir(parents=True, exist_ok=True)
                name = f"user-{os.getpid()}-{os.urandom(4).hex()}"
                self._journal = JournalWriter(self._journals, name)
            return self._journal

    def explained(self, err: OSError) -> OSError:
        return OSError(err.errno, f"cannot report: {err.strerror}; free space there", str(self._journals))

    def settle(self) -> bool:
        """Wait until the master has everything reported so far; False, at once, while the master is away.

        Training must not stand still because nobody answers: the records are safe and arrive later.
        """
        journal = self._journal
        if journal is None:
            return True
        return journal.wait_acknowledged(journal.committed, None, lambda: self.control.master_away)

    def note_uploaded(self, directory: Path) -> None:
        """Let the runner know that what lies there is stored, before it warns of files that go with the task."""
        with contextlib.suppress(OSError), self._uploaded.open("a") as notes:
            notes.write(f"{directory.absolute()}\n")

    def refusal(self, checkpoint_id: str) -> str | None:
        """Return why the master did not take a checkpoint that was reported and acknowledged; None when it did."""
        try:
            return (self._refused / checkpoint_id).read_text()
        except FileNotFoundError:
            return None

    def close(self) -> None:
        """Close the journal. What was appended stays; the runner ships it after this process is gone."""
        if self._journal is not None:
            self._journal.close()
