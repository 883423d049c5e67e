"""Notebooks that outlive their task: `notebooks/` in the work directory is the user's directory in the checkpoint
storage, and every other notebook that changes is copied there.

On a mounted store `notebooks` is a link: what is saved there is stored. On an object store it is a directory that is
fetched at the start, and whose changed files are copied.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from determined.errors import FailedPrecondition
from determined.exec.service_program import say
from determined.rundir.event_files import Stamp, stamp
from determined.storage import StorageManager
from determined.storage.local import LocalStorageManager
from determined.storage.local_base import make_base

DIRECTORY = "notebooks"
_SUFFIX = ".ipynb"
_MOST_ENTRIES, _DEEPEST = 20_000, 8  # of the work directory that are looked at: users unpack datasets there
_SHORT_ID = 8


class SavedFiles:
    """Notebooks of one task. `open` it first; `save` now and then, and at the end."""

    def __init__(self, work_dir: Path, storage: StorageManager, prefix: str, task_id: str) -> None:
        self._work_dir, self._storage, self._prefix = work_dir, storage, prefix
        self._others = f"from-{task_id[:_SHORT_ID]}"
        self._sent: dict[Path, Stamp] = {}
        self._is_warned = False

    @property
    def directory(self) -> Path:
        return self._work_dir / DIRECTORY

    def open(self) -> None:
        """Lay out `notebooks/`. What the task came with is not copied until it changes.

        Raises:
            OSError: the store cannot be used.
            FailedPrecondition: somebody else has the place of the user's directory.
        """
        self._sent = dict([*self._notebooks(), *self._own_files()])
        if self.directory.exists() or self.directory.is_symlink():
            say("WARNING", f"{DIRECTORY}/ is part of the context directory: notebooks of earlier tasks are not in it")
        elif isinstance(self._storage, LocalStorageManager):
            self.directory.symlink_to(_make_own(self._storage, self._prefix))
        else:
            self._fetch()

    def save(self) -> int:
        """Copy what has changed; return how many files. A store that fails is reported, and tried again."""
        copied = 0
        try:
            for path, seen in self._changed():
                self._storage.put(path, f"{self._prefix}/{self._key(path)}")
                self._sent[path] = seen
                copied += 1
            self._is_warned = False
        except Exception as err:  # noqa: BLE001  edge to the store: a driver may raise anything, and the notebook goes on
            if not self._is_warned:
                say("WARNING", f"notebooks are not stored: {err}")
            self._is_warned = True
        return copied

    def close(self) -> None:
        """Copy what has changed since."""
        self.save()

    def _fetch(self) -> None:
        self.directory.mkdir()
        for name in self._storage.list_loose(self._prefix):
            path = self.directory / name
            if ".." in Path(name).parts:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._storage.read(f"{self._prefix}/{name}"))
        self._sent |= dict(self._own_files())

    def _changed(self) -> Iterator[tuple[Path, Stamp]]:
        found = [*self._notebooks(), *self._own_files()]
        return ((path, seen) for path, seen in found if self._sent.get(path) != seen)

    def _key(self, path: Path) -> str:
        if path.is_relative_to(self.directory):
            return path.relative_to(self.directory).as_posix()
        return f"{self._others}/{path.relative_to(self._work_dir).as_posix()}"

    def _notebooks(self) -> Iterator[tuple[Path, Stamp]]:
        """Yield notebooks outside of `notebooks/`; links lead to places that outlive the task without us."""
        return _files(self._work_dir, _SUFFIX, without=DIRECTORY)

    def _own_files(self) -> Iterator[tuple[Path, Stamp]]:
        """Yield the files of `notebooks/` where that is a directory of the task."""
        is_link = self.directory.is_symlink() or not self.directory.is_dir()
        return iter(()) if is_link else _files(self.directory, "")


def _files(root: Path, suffix: str, without: str = "") -> Iterator[tuple[Path, Stamp]]:
    left = _MOST_ENTRIES
    for place, directories, names in os.walk(root):
        left -= len(directories) + len(names)
        depth = len(Path(place).relative_to(root).parts)
        if left < 0 or depth >= _DEEPEST:
            directories.clear()
        directories[:] = [one for one in directories if not one.startswith(".") and (depth or one != without)]
        for name in names:
            seen = stamp(Path(place, name)) if name.endswith(suffix) and not name.startswith(".") else None
            if seen is not None:
                yield Path(place, name), seen


def _make_own(storage: LocalStorageManager, prefix: str) -> Path:
    """Make the user's directory in the store, for that user alone."""
    make_base(storage.base)
    path = storage.base / prefix
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    owner = path.lstat().st_uid
    if path.is_symlink() or owner != os.getuid():
        raise FailedPrecondition(f"{path} belongs to another user (uid {owner}); tell an administrator to remove it")
    return path
