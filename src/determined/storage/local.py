"""Checkpoints in a directory of this machine's file system (local disk or a mounted share).

Staged in `<base>/.staging-<uuid>` on the same file system and published by one rename: a reader sees a whole
checkpoint or none. Data is not fsynced; the manifest is, and its hashes tell after a power loss. What is stored is
reached through descriptors (`tree`), because the process that reads or deletes may have rights its author has not.
"""

import contextlib
import errno
import logging
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from determined._remove_tree import remove_tree
from determined.errors import CheckpointDamaged, CheckpointNotFound
from determined.storage import block_names, blocks, content_index, copying, links, listing, manifest, tree
from determined.storage.base import Paths, Selector
from determined.storage.checkpoint_id import check_name
from determined.storage.deduplication import Deduplication
from determined.storage.fields import Deduplicate
from determined.storage.local_base import LocalBase, make_base
from determined.storage.manifest import Entry

logger = logging.getLogger("determined.core")

_STAGING = ".staging-"


class LocalStorageManager(LocalBase):
    """Storage manager of a directory: the shared part of `shared_fs` and `directory`."""

    def __init__(self, base_path: str, deduplicate: str | None = None) -> None:
        super().__init__(base_path)
        self._deduplication = Deduplication(self._base_path, Deduplicate(deduplicate or Deduplicate.FILES))

    def as_section(self) -> dict[str, Any] | None:
        return {"type": "directory", "container_path": self._base_path}

    def refuse_inside(self, directory: str) -> None:
        real, doomed = os.path.realpath(self._base_path), os.path.realpath(directory)
        if real == doomed or real.startswith(doomed.rstrip("/") + "/"):
            raise ValueError(
                f"{self._base_path} lies inside {directory}, which is deleted when the task ends, and its checkpoints "
                "with it; name a directory outside of it in checkpoint_storage"
            )

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
        with self._looked_at(src) as (_, known):
            if not any(entry.blocks for entry in known):
                if selector is not None:
                    logger.warning("restore_path ignores its selector on %s: every file is visible", self._base_path)
                self._deduplication.remember(self._final(src), known)
                yield self._final(src)
                return
        with tempfile.TemporaryDirectory(prefix="determined-restore-") as top:
            path = Path(top) / src
            self.download(src, path, selector)
            yield path

    @contextlib.contextmanager
    def opened(self, src: str) -> Iterator[tuple[int, list[Entry]]]:
        with self._looked_at(src) as (fd, known):
            if not any(entry.blocks for entry in known):
                yield fd, known
                return
        with super().opened(src) as (fd, known):
            yield fd, known

    @contextlib.contextmanager
    def opened_file(self, src: str, path: str) -> Iterator[tuple[BinaryIO, Entry]]:
        entry = self.file_entry(src, path)
        with self._looked_at(src) as (fd, _), _open_file(fd, entry) as file:
            yield file, entry

    def stage(self, src: Paths, dst: str, paths: set[str] | None = None) -> list[Entry]:
        source, staging = Path(src), self.pre_store_path(dst)
        if source.resolve() == staging.resolve():
            links.resolve(staging)
        elif (source / block_names.DIRECTORY).exists():
            raise ValueError(
                f"{source} has files in blocks, as a storage keeps them: get the checkpoint by"
                " `det checkpoint download` or restore_path, and store that"
            )
        sizes = listing.list_directory(source)
        chosen = sorted(sizes if paths is None else listing.with_parents(sizes, paths & sizes.keys()))
        files = [path for path in chosen if not path.endswith("/")]
        directories = [Entry(path, 0) for path in chosen if path.endswith("/")]
        if source.resolve() == staging.resolve():
            return directories + self._deduplication.stage_written(staging, files, self._hashed)
        _make_directories(staging, chosen)
        return directories + self._deduplication.stage_copies(source, staging, files)

    def publish(self, dst: str, entries: Iterable[Entry]) -> None:
        staging, final, staged = self.pre_store_path(dst), self._final(dst), list(entries)
        if os.path.lexists(final):
            _require_same_owner(staging, final)
            self._merge(staging, final, staged)
        else:
            with tree.directory(str(staging)) as fd:
                tree.write_file(fd, manifest.MANIFEST_NAME, manifest.encode(staged))
            staging.rename(final)
            _sync_directory(self.base)
        self._deduplication.note(final, staged)

    def discard(self, dst: str) -> None:
        check_name(dst)
        with contextlib.suppress(OSError):  # what cannot be removed must not hide why it is discarded
            self._clear(dst)

    def download(self, src: str, dst: Paths, selector: Selector | None = None) -> None:
        destination = Path(dst)
        with self._looked_at(src) as (fd, known):
            self._deduplication.remember(self._final(src), known)
            chosen = listing.select((entry.path for entry in known), selector)
            picked = [entry for entry in known if entry.path in chosen]
            destination.mkdir(parents=True, exist_ok=True)
            _make_directories(destination, [entry.path for entry in picked])
            files = [entry for entry in picked if not entry.is_directory and not entry.blocks]
            digests = copying.copy_files(((Path(e.path), destination / e.path) for e in files), below=fd)
            in_blocks = [entry for entry in picked if entry.blocks]
            digests += blocks.copy_files(fd, ((entry, destination / entry.path) for entry in in_blocks))
        for entry, (size, digest) in zip(files + in_blocks, digests, strict=True):
            check_digest(src, entry, size, digest)

    def entries(self, src: str) -> list[Entry]:
        with self._directory(src) as fd:
            return self._entries(src, fd)

    def _measured(self, src: str) -> list[Entry]:
        with self._looked_at(src) as (_, known):
            return known

    @contextlib.contextmanager
    def _looked_at(self, src: str) -> Iterator[tuple[int, list[Entry]]]:
        """Yield a descriptor of the checkpoint as it is stored, and its entries, every file of which is there."""
        with self._directory(src) as fd:
            known = self._entries(src, fd)
            present = dict(tree.walk(fd))
            for entry in known:
                for path, size in _stored_files(entry):
                    _check_size(src, present.get(path), entry, size)
            yield fd, known

    def delete(self, tgt: str, globs: list[str]) -> dict[str, int]:
        check_name(tgt)
        listing.match_globs((), globs)
        self._clear(tgt)
        try:
            with self._directory(tgt) as fd:
                return self._delete(tgt, fd, globs)
        except CheckpointNotFound:
            if os.path.lexists(self._final(tgt)):
                raise
            return {}

    def sweep_staging(self, older_than_s: float, now: float) -> list[str]:
        """Remove what uploads that were killed have left: staged, and nothing in it changed for so long. Their ids.

        Whoever fills a directory slowly (a script that keeps `store_path` open) is given that time after each change.
        """
        with contextlib.suppress(FileNotFoundError), tree.base(self._base_path) as base, os.scandir(base) as entries:
            names = sorted(entry.name for entry in entries if entry.name.startswith(_STAGING))
            stale = [name for name in names if now - _last_change(base, name) > older_than_s]
            for name in stale:
                self._check_owner(tree.status(base, name), name)
                tree.remove(base, name)
            return [name.removeprefix(_STAGING) for name in stale]
        return []

    def sweep_contents(self) -> None:
        """Remove what the indexes of contents have that no checkpoint has any more."""
        with contextlib.suppress(FileNotFoundError), tree.base(self._base_path) as base:
            content_index.sweep_all(base, self._base_path)

    def _final(self, name: str) -> Path:
        return self.base / check_name(name)

    def _staging(self, name: str) -> Path:
        return self.base / f"{_STAGING}{check_name(name)}"

    def _merge(self, staging: Path, final: Path, entries: Iterable[Entry]) -> None:
        """Add staged files to a checkpoint that is already published."""
        before = self.entries(final.name)
        staged = listing.list_directory(staging)
        _make_directories(final, list(staged))
        for path in staged:
            if not path.endswith("/"):
                (staging / path).replace(final / path)
        blocks.move(staging, final)
        known = list({entry.path: entry for entry in [*before, *entries]}.values())
        with tree.directory(str(final)) as fd:
            tree.write_file(fd, manifest.MANIFEST_NAME, manifest.encode(known))
            replaced = [entry.path for entry in known if entry.blocks]
            tree.remove_all(fd, [*replaced, *blocks.unnamed(fd, known)])
        remove_tree(str(staging))

    @contextlib.contextmanager
    def _directory(self, name: str) -> Iterator[int]:
        """Yield a descriptor of the checkpoint's own directory, never of what a link in its place points to."""
        check_name(name)
        with contextlib.ExitStack() as stack:
            try:
                fd = stack.enter_context(tree.directory(name, stack.enter_context(tree.base(self._base_path))))
            except (FileNotFoundError, NotADirectoryError) as err:
                place = self._final(name)
                raise CheckpointNotFound(
                    f"checkpoint {name} is not in the store: {place} does not exist or is not a directory"
                ) from err
            self._check_owner(os.fstat(fd), name)
            yield fd

    def _entries(self, name: str, fd: int) -> list[Entry]:
        if tree.exists(fd, manifest.MANIFEST_NAME):
            return manifest.decode(tree.read_file(fd, manifest.MANIFEST_NAME, manifest.MOST_BYTES), name)
        if not tree.exists(fd, manifest.METADATA_NAME) or tree.exists(fd, manifest.STAGING_MARK):
            raise CheckpointNotFound(f"checkpoint {name} was never completed: {self._final(name)} has no manifest")
        return _files_and_directories(name, fd)

    def _delete(self, name: str, fd: int, globs: list[str]) -> dict[str, int]:
        if not any(tree.exists(fd, own) for own in (manifest.MANIFEST_NAME, manifest.METADATA_NAME)):
            raise manifest.foreign(name, str(self._final(name)))
        present = self._present(name, fd)
        doomed = listing.match_globs(present, globs)
        remaining = {path: size for path, size in present.items() if path not in doomed}
        if all(path.endswith("/") for path in remaining):
            self._drop(name)
            return {}
        kept = [entry for entry in self._entries(name, fd) if entry.path in remaining]
        with self._deduplication.releasing(fd):
            tree.write_file(fd, manifest.MANIFEST_NAME, manifest.encode(kept))
            tree.remove_all(fd, [*doomed, *blocks.unnamed(fd, kept)])
        return remaining

    def _present(self, name: str, fd: int) -> dict[str, int]:
        """Return the files of a checkpoint that is to be deleted, also where its manifest cannot be read."""
        present = {path: 0 if path.endswith("/") else status.st_size for path, status in _listed(fd)}
        with contextlib.suppress(CheckpointDamaged):
            present |= {entry.path: entry.size for entry in self._entries(name, fd) if entry.blocks}
        return present

    def _drop(self, name: str) -> None:
        """Rename out of sight, then delete: a crash in between leaves no half checkpoint that looks whole."""
        with tree.base(self._base_path) as base:
            os.rename(name, self._staging(name).name, src_dir_fd=base, dst_dir_fd=base)
        self._clear(name)

    def _clear(self, name: str) -> None:
        """Remove what was staged; absent is fine."""
        staging = self._staging(name).name
        with contextlib.suppress(FileNotFoundError), tree.base(self._base_path) as base:
            self._check_owner(tree.status(base, staging), staging)
            with self._deduplication.releasing(base, staging):
                tree.remove(base, staging)


def check_digest(checkpoint: str, entry: Entry, size: int, digest: str) -> None:
    """Raise CheckpointDamaged when a file just read is not the one that was stored."""
    if size != entry.size or (entry.hash is not None and digest != entry.hash):
        raise manifest.damaged(checkpoint, entry, f"it has {size} bytes, hash {digest}")


def _require_same_owner(staging: Path, final: Path) -> None:
    """Check that `final` has the owner of `staging`.

    A user who sees what is staged can make a directory of that name first, and would own the checkpoint put there.
    """
    status = os.lstat(final)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.lstat(staging).st_uid:
        raise PermissionError(
            errno.EPERM,
            f"{final} was made by another user (uid {status.st_uid}), so nothing is stored there;"
            " tell an administrator",
        )


def _last_change(base: int, name: str) -> float:
    """Return when anything of a directory last changed, by ctime: a copied file may bring an old mtime along."""
    try:
        with tree.directory(name, base) as fd:
            return max([os.fstat(fd).st_ctime, *(status.st_ctime for _, status in tree.walk(fd))])
    except OSError:
        return float("inf")  # gone, or a link or file that is not ours to judge


def _listed(fd: int) -> Iterator[tuple[str, os.stat_result]]:
    return ((path, status) for path, status in tree.walk(fd) if not listing.is_our_own(path))


def _files_and_directories(name: str, fd: int) -> list[Entry]:
    """Return the entries of a checkpoint without a manifest; its links (older releases kept them) are left out."""
    paths = []
    for path, status in _listed(fd):
        if stat.S_ISREG(status.st_mode) or path.endswith("/"):
            paths.append(Entry(path, 0 if path.endswith("/") else status.st_size))
        else:
            logger.warning("checkpoint %s: %s is a link or no regular file; it is left out", name, path)
    return paths


def _stored_files(entry: Entry) -> Iterator[tuple[str, int]]:
    """Yield path and size of each file on the disk that holds a part of this entry."""
    if entry.blocks:
        yield from ((block_names.path(name), block_names.size_of(name)) for name in entry.blocks)
    elif not entry.is_directory:
        yield entry.path, entry.size


def _open_file(fd: int, entry: Entry) -> BinaryIO:
    return blocks.opened(fd, entry.blocks) if entry.blocks else os.fdopen(tree.open_file(fd, entry.path), "rb")


def _check_size(checkpoint: str, status: os.stat_result | None, entry: Entry, size: int) -> None:
    if status is None:  # not there, or something on the way is no directory of the checkpoint
        raise manifest.damaged(checkpoint, entry, "it is missing")
    if not stat.S_ISREG(status.st_mode):
        raise manifest.damaged(checkpoint, entry, "it is a link or no regular file")
    if status.st_size != size:
        raise manifest.damaged(checkpoint, entry, f"it has {status.st_size} bytes")


def _make_directories(root: Path, paths: list[str]) -> None:
    for path in paths:
        target = root / path if path.endswith("/") else (root / path).parent
        target.mkdir(parents=True, exist_ok=True)


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
