"""The directory in which a local runner keeps its search, readable at every moment, whatever was killed when.

experiment_id.txt               the experiment, once it is submitted
submission_id.txt               the name under which it is submitted, so that it is submitted once
exp_<id>/event_id               the newest event whose directory is whole, replaced atomically
exp_<id>/event_<n>/state, ops   the runner's state and the answer to event n, beside the method's own files
"""

import contextlib
import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from determined.errors import FailedPrecondition

OPERATIONS_FILE = "ops"
_KEPT = 2  # the newest, and the one to fall back to when the master refuses its operations


class SearchStore:
    """Store of a search in `directory`. Raises FileExistsError where that is a file."""

    def __init__(self, directory: Path) -> None:
        if directory.exists() and not directory.is_dir():
            raise FileExistsError(f"{directory} is a file; name a directory as searcher_dir")
        self.directory = directory

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock, one runner at a time; the lock ends with its process, however it ends."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as e:
                raise FailedPrecondition(f"another runner works in {self.directory}; stop it, or name another") from e
            yield

    def submission_id(self) -> str:
        path = self.directory / "submission_id.txt"
        if not path.exists():
            _replace(path, str(uuid.uuid4()))
        return path.read_text().strip()

    @property
    def experiment_id(self) -> int | None:
        path = self.directory / "experiment_id.txt"
        return int(path.read_text()) if path.exists() else None

    @experiment_id.setter
    def experiment_id(self, experiment_id: int) -> None:
        _replace(self.directory / "experiment_id.txt", str(experiment_id))

    def newest(self, experiment_id: int) -> Path | None:
        """Return the directory of the last event that was saved whole."""
        saved = self._saved(experiment_id)
        return self._event(experiment_id, saved) if saved else None

    @contextlib.contextmanager
    def saving(self, experiment_id: int, event_id: int, operations: list[dict[str, Any]]) -> Iterator[Path]:
        """Yield a directory to write the state after `event_id` into; it becomes the newest when the block is left."""
        path = self._event(experiment_id, event_id)
        saved = self._saved(experiment_id)
        for half in (n for n in self._events(experiment_id) if n > saved):  # of a runner that died while it wrote
            shutil.rmtree(self._event(experiment_id, half))
        path.mkdir(parents=True)
        (path / OPERATIONS_FILE).write_text(json.dumps(operations))
        yield path
        _sync(path)
        _replace(self._of(experiment_id) / "event_id", str(event_id))
        for old in self._events(experiment_id)[:-_KEPT]:
            shutil.rmtree(self._event(experiment_id, old))

    def forget_newest(self, experiment_id: int) -> None:
        """Back to the event before."""
        *earlier, newest = self._events(experiment_id)
        pointer = self._of(experiment_id) / "event_id"
        if earlier:
            _replace(pointer, str(earlier[-1]))
        else:
            pointer.unlink()
        shutil.rmtree(self._event(experiment_id, newest))

    def _saved(self, experiment_id: int) -> int:
        """Return the event whose directory is whole; 0 before the first."""
        pointer = self._of(experiment_id) / "event_id"
        return int(pointer.read_text()) if pointer.exists() else 0

    def _events(self, experiment_id: int) -> list[int]:
        return sorted(int(p.name.removeprefix("event_")) for p in self._of(experiment_id).glob("event_[0-9]*"))

    def _event(self, experiment_id: int, event_id: int) -> Path:
        return self._of(experiment_id) / f"event_{event_id}"

    def _of(self, experiment_id: int) -> Path:
        return self.directory / f"exp_{experiment_id}"


def read_operations(path: Path) -> list[dict[str, Any]]:
    operations: list[dict[str, Any]] = json.loads((path / OPERATIONS_FILE).read_text())
    return operations


def _sync(directory: Path) -> None:
    """Force a file to disk before anything points to it: the master may then drop the event."""
    for path in [*directory.rglob("*"), directory]:
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _replace(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".new")
    with temporary.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
