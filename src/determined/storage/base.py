"""The contract every checkpoint store keeps (tests/contract/storage_contract.py runs it).

A checkpoint is a directory of files under `<base>/<uuid>/`. It is staged first and becomes visible to `restore_path`
and `download` only when `publish` has written its manifest, the last thing written. Readers check files against it.
It holds files and directories, no links: a link is stored as what it points to, and is never followed afterwards.
"""

import contextlib
import os
import random
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from determined.errors import CheckpointNotFound
from determined.storage import listing, manifest, tree
from determined.storage.hashed_files import HashedFiles
from determined.storage.loose_file import LooseFile
from determined.storage.manifest import Entry

Selector = Callable[[str], bool]
Paths = str | os.PathLike[str]


class StorageManager(ABC):
    """Manager that moves whole checkpoints between a local directory and a store."""

    def __init__(self, base_path: str) -> None:
        if not isinstance(base_path, str) or not base_path:
            raise ValueError(f"base_path={base_path!r} is not a path; give a non-empty string")
        self._base_path = base_path
        self._hashed = HashedFiles()

    @classmethod
    @abstractmethod
    def from_config(cls, config: dict[str, Any], container_path: str | None) -> "StorageManager":
        """Build from a `checkpoint_storage` section without its `type` and `save_*` keys."""

    @contextlib.contextmanager
    def store_path(self, dst: str) -> Iterator[Path]:
        """Yield a directory to write into; publish it as checkpoint `dst` on a clean exit, drop it on an exception."""
        path = self.pre_store_path(dst)
        try:
            yield path
            self.post_store_path(path, dst)
        except BaseException:
            self.discard(dst)
            raise
        finally:
            self.release_store_path(path)

    @abstractmethod
    def pre_store_path(self, dst: str) -> Path:
        """Return a directory to write checkpoint `dst` into."""

    def create_file(self, path: Path) -> contextlib.AbstractContextManager[BinaryIO]:
        """Create a file in the directory of `pre_store_path`, hashed while it is written: `stage` reads it no more."""
        return self._hashed.create(path)

    @abstractmethod
    def post_store_path(self, src: Paths, dst: str, paths: set[str] | None = None) -> None:
        """Store and publish what was written to the directory of `pre_store_path`."""

    @abstractmethod
    def release_store_path(self, path: Path) -> None:
        """Remove what `pre_store_path` left on this machine."""

    @abstractmethod
    def store_path_is_direct_access(self) -> bool:
        """Check whether `pre_store_path` is inside the store, the same directory for every rank."""

    @abstractmethod
    def restore_path(self, src: str, selector: Selector | None = None) -> contextlib.AbstractContextManager[Path]:
        """Yield a directory that holds checkpoint `src`.

        Raises:
            CheckpointNotFound: it is not there or was never completed.
            CheckpointDamaged: a file differs from the manifest.
        """

    @contextlib.contextmanager
    def opened(self, src: str) -> Iterator[tuple[int, list[Entry]]]:
        """Yield a descriptor of checkpoint `src`, to read with `tree`, and its entries. Raises as `restore_path`.

        For a reader with more rights than the checkpoint's author: no link in the checkpoint leads it elsewhere.
        """
        with self.restore_path(src) as path, tree.directory(str(path)) as fd:
            yield fd, self.entries(src)

    @abstractmethod
    def opened_file(self, src: str, path: str) -> contextlib.AbstractContextManager[tuple[BinaryIO, Entry]]:
        """Yield one file of checkpoint `src`, to read from any position, and its entry. No other file is fetched.

        Raises:
            CheckpointNotFound: the checkpoint or the file is not there.
            CheckpointDamaged: its size differs from the manifest.
        """

    def file_entry(self, src: str, path: str) -> Entry:
        """Return the entry of one file. Raises CheckpointNotFound."""
        for entry in self.entries(src):
            if entry.path == path and not entry.is_directory:
                return entry
        raise CheckpointNotFound(f"checkpoint {src} has no file {path[:200]!r}; list its files first")

    def refuse_inside(self, directory: str) -> None:  # noqa: B027  most stores are in no directory of this machine
        """Raise ValueError where checkpoints would lie in `directory`, which somebody will delete."""

    def upload(self, src: Paths, dst: str, paths: set[str] | None = None) -> None:
        """Store directory `src` (or only its relative `paths`) as checkpoint `dst`, complete when this returns."""
        try:
            self.publish(dst, self.stage(src, dst, paths))
        except BaseException:
            self.discard(dst)  # on a full disk the half copy would keep it full
            raise

    @abstractmethod
    def stage(self, src: Paths, dst: str, paths: set[str] | None = None) -> list[Entry]:
        """Bring files to the store without making the checkpoint visible. Several ranks may stage one `dst`."""

    @abstractmethod
    def publish(self, dst: str, entries: Iterable[Entry]) -> None:
        """Make the staged checkpoint visible: write the manifest of `entries` last."""

    @abstractmethod
    def discard(self, dst: str) -> None:
        """Drop what was staged for `dst`, if anything."""

    @abstractmethod
    def download(self, src: str, dst: Paths, selector: Selector | None = None) -> None:
        """Copy checkpoint `src` into directory `dst`, checking every file. Raises as `restore_path`."""

    @abstractmethod
    def entries(self, src: str) -> list[Entry]:
        """Return the entries of a complete checkpoint. Raises CheckpointNotFound."""

    def hashes(self, src: str) -> dict[str, str]:
        """Return the hashes of the files of checkpoint `src` that its manifest has. Raises as `entries`."""
        return manifest.hashes(self.entries(src))

    def check(self, src: str, resources: Mapping[str, int]) -> None:
        """Look whether checkpoint `src` can be restored from here: its manifest, every file in its size, no content.

        Args:
            resources: what is said to be in it; each of these must be.

        Raises:
            CheckpointNotFound: it is not there or was never completed.
            CheckpointDamaged: a file is missing or has another size.
        """
        known = {entry.path: entry for entry in self._measured(src)}
        for path, size in resources.items():
            if path not in known or known[path].size != size:
                there = f"it has {known[path].size} bytes" if path in known else "it is missing"
                raise manifest.damaged(src, Entry(path, size), there)

    def _measured(self, src: str) -> list[Entry]:
        """Return the entries of checkpoint `src`, each file looked at where the store can. Raises as `check`."""
        return self.entries(src)

    def as_section(self) -> dict[str, Any] | None:
        """Return the `checkpoint_storage` section by which the master finds this store; None where there is none."""
        return None

    @abstractmethod
    def delete(self, tgt: str, globs: list[str]) -> dict[str, int]:
        """Delete the files of checkpoint `tgt` that match; return the remaining resources (path -> size)."""

    @abstractmethod
    def put(self, src: Paths, key: str) -> None:
        """Store one loose file (not part of a checkpoint) under `<base>/<key>`."""

    @abstractmethod
    def read(self, key: str, start: int = 0) -> bytes:
        """Return the content of one loose file from byte `start` on. Raises FileNotFoundError."""

    @abstractmethod
    def list_loose(self, key: str) -> dict[str, LooseFile]:
        """List the loose files below `<base>/<key>` by their paths below it; none where there is no such directory."""

    @abstractmethod
    def remove(self, key: str) -> None:
        """Remove a loose file or a whole tree of them; absent is fine."""

    @staticmethod
    def _list_directory(root: Paths) -> dict[str, int]:
        return listing.list_directory(root)


@contextlib.contextmanager
def preserved_random_state() -> Iterator[None]:
    """Preserve the global random state: drivers draw retry jitter from it, and a seeded training must not notice.

    On another thread than the main one it is left alone: what the training has drawn meanwhile would be drawn again.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)
