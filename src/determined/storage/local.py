"""Checkpoints in a directory of this machine's file system (local disk or a mounted share).

Staged in `<base>/.staging-<uuid>` on the same file system and published by one rename: a reader sees a whole
checkpoint or none. Data is not fsynced (that would stall training); the manifest is, and its hashes tell after a
power loss.
"""

import contextlib
import logging
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from determined.errors import CheckpointNotFound
from determined.storage import copying, listing, manifest
from determined.storage.base import Paths, Selector, StorageManager, check_name
from determined.storage.manifest import Entry

logger = logging.getLogger("determined.core")


class LocalStorageManager(StorageManager):
    """Everything `shared_fs` and `directory` share."""

    @classmethod
    def from_config(cls, config: dict[str, Any], container_path: str | None) -> "LocalStorageManager":
        raise NotImplementedError(f"{cls.__name__} is not built from a config; use shared_fs or directory")

    @property
    def base(self) -> Path:
        return Path(self._base_path)

    def pre_store_path(self, dst: str) -> Path:
        path = self._staging(dst)
        make_base(self.base)
        path.mkdir(exist_ok=True)
        return path

    def post_store_path(self, src: Paths, dst: str, paths: set[str] | None = None) -> None:
        self.upload(src, dst, paths)

    def release_store_path(self, path: Path) -> None:
        return

    def store_path_is_direct_access(self) -> bool:
        return True

    @contextlib.contextmanager
    def restore_path(self, src: str, selector: Selector | None = None) -> Iterator[Path]:
        if selector is not None:
            logger.warning("restore_path ignores its selector on %s: every file is visible", self._base_path)
        path = self._final(src)
        for entry in self.entries(src):
            _check_size(src, path / entry.path, entry)
        yield path

    def stage(self, src: Paths, dst: str, paths: set[str] | None = None) -> list[Entry]:
        source, staging = Path(src), self.pre_store_path(dst)
        found = listing.list_directory(source)
        chosen = sorted(found if paths is None else listing.with_parents(found, paths & found.keys()))
        files = [path for path in chosen if not path.endswith("/")]
        if source.resolve() == staging.resolve():
            digests = copying.hash_files(source / path for path in files)
        else:
            _make_directories(staging, chosen)
            digests = copying.copy_files((source / path, staging / path) for path in files)
        directories = [Entry(path, 0) for path in chosen if path.endswith("/")]
        return directories + [Entry(p, *digest) for p, digest in zip(files, digests, strict=True)]

    def publish(self, dst: str, entries: Iterable[Entry]) -> None:
        staging, final = self.pre_store_path(dst), self._final(dst)
        if final.exists():
            self._merge(staging, final, entries)
            return
        manifest.write_file(staging / manifest.MANIFEST_NAME, manifest.encode(entries))
        staging.rename(final)
        _sync_directory(self.base)

    def discard(self, dst: str) -> None:
        shutil.rmtree(self._staging(dst), ignore_errors=True)

    def download(self, src: str, dst: Paths, selector: Selector | None = None) -> None:
        source, destination = self._final(src), Path(dst)
        known = self.entries(src)
        chosen = listing.select((entry.path for entry in known), selector)
        picked = [entry for entry in known if entry.path in chosen]
        destination.mkdir(parents=True, exist_ok=True)
        _make_directories(destination, [entry.path for entry in picked])
        files = [entry for entry in picked if not entry.is_directory]
        for entry in files:
            _check_size(src, source / entry.path, entry)
        digests = copying.copy_files((source / e.path, destination / e.path) for e in files)
        for entry, (size, digest) in zip(files, digests, strict=True):
            check_digest(src, entry, size, digest)

    def entries(self, src: str) -> list[Entry]:
        path = self._final(src)
        if not path.is_dir():
            raise CheckpointNotFound(f"checkpoint {src} is not in the store: {path} does not exist")
        listed = path / manifest.MANIFEST_NAME
        if listed.exists():
            return manifest.decode(listed.read_bytes(), src)
        if not (path / manifest.METADATA_NAME).exists() or (path / manifest.STAGING_MARK).exists():
            raise CheckpointNotFound(f"checkpoint {src} was never completed: {path} has no manifest")
        return [Entry(name, size) for name, size in listing.list_directory(path).items()]

    def delete(self, tgt: str, globs: list[str]) -> dict[str, int]:
        path = self._final(tgt)
        self.discard(tgt)
        present = listing.list_directory(path) if path.is_dir() else {}
        doomed = listing.match_globs(present, globs)
        remaining = {name: size for name, size in present.items() if name not in doomed}
        if all(name.endswith("/") for name in remaining):
            self._drop(path, tgt)
            return {}
        self._forget(path, tgt, remaining)
        _remove(path, doomed)
        return remaining

    def put(self, src: Paths, key: str) -> None:
        make_base(self.base)
        target = self._loose(key)
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        shutil.copyfile(src, part)
        part.replace(target)

    def read(self, key: str) -> bytes:
        return self._loose(key).read_bytes()

    def remove(self, key: str) -> None:
        target = self._loose(key)
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)

    def _final(self, name: str) -> Path:
        return self.base / check_name(name)

    def _staging(self, name: str) -> Path:
        return self.base / f".staging-{check_name(name)}"

    def _loose(self, key: str) -> Path:
        if PurePosixPath(key).is_absolute() or ".." in PurePosixPath(key).parts:
            raise ValueError(f"{key!r} reaches outside the store; give a relative path without '..'")
        return self.base / key

    def _merge(self, staging: Path, final: Path, entries: Iterable[Entry]) -> None:
        """Add staged files to a checkpoint that is already published."""
        before = self.entries(final.name)
        staged = listing.list_directory(staging)
        _make_directories(final, list(staged))
        for path in staged:
            if not path.endswith("/"):
                (staging / path).replace(final / path)
        manifest.write_file(final / manifest.MANIFEST_NAME, manifest.encode([*before, *entries]))
        shutil.rmtree(staging)

    def _drop(self, path: Path, name: str) -> None:
        """Rename out of sight, then delete: a crash in between leaves no half checkpoint that looks whole."""
        with contextlib.suppress(FileNotFoundError):
            path.rename(self._staging(name))
        self.discard(name)

    def _forget(self, path: Path, name: str, remaining: dict[str, int]) -> None:
        listed = path / manifest.MANIFEST_NAME
        if not listed.exists():
            return
        kept = [entry for entry in manifest.decode(listed.read_bytes(), name) if entry.path in remaining]
        manifest.write_file(listed, manifest.encode(kept))


def check_digest(checkpoint: str, entry: Entry, size: int, digest: str) -> None:
    """Raise CheckpointDamaged when a file just read is not the one that was stored."""
    if size != entry.size or (entry.hash is not None and digest != entry.hash):
        raise manifest.damaged(checkpoint, entry, f"it has {size} bytes, hash {digest}")


def make_base(base: Path) -> None:
    """Create the store's base for every user (0777): tasks of several users share it."""
    if base.is_dir():
        return
    base.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):  # another rank was first
        base.mkdir()
        base.chmod(0o777)


def _check_size(checkpoint: str, path: Path, entry: Entry) -> None:
    if entry.is_directory:
        return
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise manifest.damaged(checkpoint, entry, "it is missing") from None
    if size != entry.size:
        raise manifest.damaged(checkpoint, entry, f"it has {size} bytes")


def _make_directories(root: Path, paths: list[str]) -> None:
    for path in paths:
        target = root / path if path.endswith("/") else (root / path).parent
        target.mkdir(parents=True, exist_ok=True)


def _remove(root: Path, doomed: set[str]) -> None:
    """Deepest first, so that a directory is empty when its turn comes."""
    for name in sorted(doomed, reverse=True):
        if name.endswith("/"):
            (root / name).rmdir()
        else:
            (root / name).unlink(missing_ok=True)


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
