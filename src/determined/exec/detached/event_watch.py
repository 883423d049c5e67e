"""Metrics from TensorBoard files that a run writes: found below its directories, read while they grow."""

import logging
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from determined.exec.detached.event_owner import EventOwner
from determined.rundir.control import Control
from determined.rundir.detached import DetachedFile
from determined.rundir.journal import JournalWriter
from determined.rundir.layout import RunDir
from determined.tensorboard.event_reader import EventReader, Scalar
from determined.wire.codec import to_msgpack
from determined.wire.report import MetricReport

logger = logging.getLogger(__name__)

_PERIOD_SECONDS = 2.0
_SHARE = 20  # a look that takes a second is repeated after twenty
_MOST_ENTRIES = 20_000  # of the directories, in one look
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "venv"})
_MARK = ".tfevents."
_VALIDATION = re.compile(r"(?:^|[^a-z])(?:val|valid|validation|eval|evaluation|test)(?:[^a-z]|$)", re.IGNORECASE)


class EventWatch:
    """Thread that reads them into a journal. A script that has a core context of its own reports by itself."""

    def __init__(self, run_dir: RunDir, file: DetachedFile, control: Control) -> None:
        self._run_dir = run_dir
        self._roots = [Path(each) for each in file.event_directories]
        self._since = file.started
        self._owner = EventOwner(run_dir, file.owner)
        self._control = control
        self._readers: dict[Path, EventReader] = {}
        self._owners: dict[tuple[str, str], Path] = {}  # which directory a group and tag were first seen in
        self._journal: JournalWriter | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="event files", daemon=True)

    def start(self) -> None:
        if self._roots:
            self._thread.start()

    def finish(self) -> None:
        """Read what is there now, and no more."""
        if self._roots:
            self._over.set()
            self._thread.join()
            self._look_safely()

    def look(self) -> None:
        """Read what is new."""
        if self._control.attached:
            return
        for path in event_files(self._roots, self._since):
            if self._owner.is_ours(path):
                self._readers.setdefault(path, EventReader(path))
        for reader in self._readers.values():
            try:
                scalars = reader.read()
            except OSError as e:
                logger.warning("%s cannot be read: %s", reader.path, e)
                continue
            for scalar in scalars:
                self._report(reader.path.parent, scalar)

    def _run(self) -> None:
        pause = _PERIOD_SECONDS
        while not self._over.wait(pause):
            started = time.monotonic()
            self._look_safely()
            pause = max(_PERIOD_SECONDS, _SHARE * (time.monotonic() - started))

    def _look_safely(self) -> None:
        try:
            self.look()
        except Exception:
            # An unforeseen fault must not end the thread, or at the end the process: the state would not be set.
            logger.exception("looking for event files failed")

    def _report(self, directory: Path, scalar: Scalar) -> None:
        group = group_of(scalar.tag, directory.name)
        owner = self._owners.setdefault((group, scalar.tag), directory)
        name = scalar.tag if owner == directory else f"{directory.name}/{scalar.tag}"
        if self._journal is None:
            self._journal = JournalWriter(self._run_dir.journals, f"events-{os.getpid()}-{os.urandom(4).hex()}")
        report = MetricReport(group, max(scalar.step, 0), {name: scalar.value}, scalar.time)
        self._journal.append(to_msgpack(report))


def group_of(tag: str, directory: str) -> str:
    """Return the group of metrics that a tag, and the directory of its file, speak of."""
    return "validation" if _VALIDATION.search(tag) or _VALIDATION.search(directory) else "training"


def event_files(roots: list[Path], since: float) -> Iterator[Path]:
    """Yield event files below the roots that were written since then. Hidden directories and links are not entered."""
    left = _MOST_ENTRIES
    waiting = list(roots)
    while waiting and left > 0:
        directory = waiting.pop()
        try:
            entries = list(os.scandir(directory))
        except OSError:
            continue
        left -= len(entries)
        for entry in entries:
            if _is_entered(entry):
                waiting.append(Path(entry.path))
            elif _MARK in entry.name and _written(entry) >= since:
                yield Path(entry.path)


def _is_entered(entry: "os.DirEntry[str]") -> bool:
    if entry.name.startswith(".") or entry.name in _SKIPPED:
        return False
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _written(entry: "os.DirEntry[str]") -> float:
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0.0
