"""Copy of what a process prints: it still goes where it went, and its lines go to a journal too."""

import io
import sys
from typing import Any

from determined.rundir.layout import RunDir
from determined.rundir.line_journal import LineJournal


class CopiedStream:
    """A text stream in the place of `sys.stdout` or `sys.stderr`. All but writing is the stream's own."""

    def __init__(self, stream: io.TextIOBase, journal: LineJournal, stdtype: str) -> None:
        self._stream = stream
        self._journal = journal
        self._stdtype = stdtype

    def write(self, text: str) -> int:
        written = self._stream.write(text)
        self._journal.feed(text.encode(errors="replace"), self._stdtype)
        return written

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class OutputCopy:
    """Copy of both streams, from `start` to `close`. `rank`: of this process, where it has peers."""

    def __init__(self, run_dir: RunDir, rank: int | None) -> None:
        self._run_dir = run_dir
        self._rank = rank
        self._journal: LineJournal | None = None
        self._placed: dict[str, CopiedStream] = {}

    def start(self) -> None:
        self._journal = LineJournal(self._run_dir.journals, self._rank)
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is not None:  # it is None where a parent has closed it
                self._placed[name] = CopiedStream(stream, self._journal, name)
                setattr(sys, name, self._placed[name])

    def add(self, text: str) -> None:
        """Journal a text that is not printed, as of standard error."""
        if self._journal is not None:
            self._journal.feed(text.encode(errors="replace"), "stderr")

    def close(self) -> None:
        """Put the streams back, unless somebody has put others in their place since."""
        for name, placed in self._placed.items():
            if getattr(sys, name) is placed:
                setattr(sys, name, placed._stream)
        self._placed = {}
        if self._journal is not None:
            self._journal.close()
