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
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from determined._remove_tree import remove_tree
from determined.errors import CheckpointNotFound, NoDirectStorageAccess
from determined.storage import copying, links, listing, manifest, tree
from determined.storage.base import Paths, Selector, StorageManager
from determined.storage.checkpoint_id import check_name
from determined.storage.loose_file import LooseFile
from determined.storage.manifest import Entry

logger = logging.getLogger("determined.core")

_STAGING = ".staging-"


class LocalStorageManager(StorageManager):
    """Storage manager of a directory: the shared part of `shared_fs` and `directory`."""

    _owner: int | None = None

    def __init__(self, base_path: str) -> None:
        super().__init__(base_path)
        if not base_path.startswith("/"):
            # A script that changes its directory afterwards saves to the same place as before.
            self._base_path = str(Path.cwd() / base_path)

    @property
    def base(self) -> Path:
        return Path(self._base_path)

    def only_owned_by(self, uid: int) -> None:
        """Touch no stored directory of another user: for a process that acts on a place somebody else has chosen."""
        self._owner = uid

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
        if selector is not None:
            logger.warning("restore_path ignores its selector on %s: every file is visible", self._base_path)
        with self.opened(src):
            yield self._final(src)

    @contextlib.contextmanager
    def opened(self, src: str) -> Iterator[tuple[int, list[Entry]]]:
        with self._directory(src) as fd:
            known = self._entries(src, fd)
            present = dict(tree.walk(fd))
            for entry in known:
                _check_size(src, present.get(entry.path), entry)
            yield fd, known

    @contextlib.contextmanager
    def opened_file(self, src: str, path: str) -> Iterator[tuple[BinaryIO, Entry]]:
        entry = self.file_entry(src, path)
        with self.opened(src) as (fd, _), os.fdopen(tree.open_file(fd, path), "rb") as file:
            yield file, entry

    def stage(self, src: Paths, dst: str, paths: set[str] | None = None) -> list[Entry]:
        source, staging = Path(src), self.pre_store_path(dst)
        if source.resolve() == staging.resolve():
            links.resolve(staging)
        sizes = listing.list_directory(source)
        chosen = sorted(sizes if paths is None else listing.with_parents(sizes, paths & sizes.keys()))
        files = [path for path in chosen if not path.endswith("/")]
        if source.resolve() == staging.resolve():
            digests = self._hashed.digests(source / path for path in files)
        else:
            _make_directories(staging, chosen)
            digests = copying.copy_files((source / path, staging / path) for path in files)
        directories = [Entry(path, 0) for path in chosen if path.endswith("/")]
        return directories + [Entry(p, *digest) for p, digest in zip(files, digests, strict=True)]

    def publish(self, dst: str, entries: Iterable[Entry]) -> None:
        staging, final = self.pre_store_path(dst), self._final(dst)
        if os.path.lexists(final):
            _require_same_owner(staging, final)
            self._merge(staging, final, entries)
            return
        with tree.directory(str(staging)) as fd:
            tree.write_file(fd, manifest.MANIFEST_NAME, manifest.encode(entries))
        staging.rename(final)
        _sync_directory(self.base)

    def discard(self, dst: str) -> None:
        check_name(dst)
        with contextlib.suppress(OSError):  # what cannot be removed must not hide why it is discarded
            self._clear(dst)

    def download(self, src: str, dst: Paths, selector: Selector | None = None) -> None:
        destination = Path(dst)
        with self.opened(src) as (fd, known):
            chosen = listing.select((entry.path for entry in known), selector)
            picked = [entry for entry in known if entry.path in chosen]
            destination.mkdir(parents=True, exist_ok=True)
            _make_directories(destination, [entry.path for entry in picked])
            files = [entry for entry in picked if not entry.is_directory]
            digests = copying.copy_files(((Path(e.path), destination / e.path) for e in files), below=fd)
        for entry, (size, digest) in zip(files, digests, strict=True):
            check_digest(src, entry, size, digest)

    def entries(self, src: str) -> list[Entry]:
        with self._directory(src) as fd:
            return self._entries(src, fd)

    def _measured(self, src: str) -> list[Entry]:
        with self.opened(src) as (_, known):
            return known

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

    def put(self, src: Paths, key: str) -> None:
        make_base(self.base)
        self._loose(key)
        with contextlib.ExitStack() as stack:
            # By descriptors, not by path: any user may make the directories on the way, or put links in their place.
            fd = stack.enter_context(tree.base(self._base_path))
            for part in PurePosixPath(key).parts[:-1]:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=fd)
                fd = stack.enter_context(tree.directory(part, fd))
            tree.copy_file(src, fd, PurePosixPath(key).name)

    def read(self, key: str, start: int = 0) -> bytes:
        with self._loose(key).open("rb") as opened:
            opened.seek(start)
            return opened.read()

    def list_loose(self, key: str) -> dict[str, LooseFile]:
        self._loose(key)
        with (
            contextlib.suppress(FileNotFoundError),
            tree.base(self._base_path) as base,
            tree.directory(key, base) as fd,
        ):
            files = ((path, status) for path, status in tree.walk(fd) if stat.S_ISREG(status.st_mode))
            return {path: LooseFile(status.st_size, str(status.st_mtime_ns)) for path, status in files}
        return {}

    def share(self, key: str) -> None:
        """Make a directory of loose files for every user (1777) and ours, and so all that leads to it."""
        make_base(self.base)
        self._loose(key)
        with contextlib.ExitStack() as stack:
            fd = stack.enter_context(tree.base(self._base_path))
            for part in PurePosixPath(key).parts:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=fd)
                fd = stack.enter_context(tree.directory(part, fd))
                os.fchown(fd, os.geteuid(), -1)  # its owner could remove what others put there
                os.fchmod(fd, 0o1777)

    def remove(self, key: str) -> None:
        self._loose(key)
        with contextlib.suppress(FileNotFoundError), tree.base(self._base_path) as base:
            self._check_owner(tree.status(base, key), key)
            tree.remove(base, key)

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

    def _final(self, name: str) -> Path:
        return self.base / check_name(name)

    def _staging(self, name: str) -> Path:
        return self.base / f"{_STAGING}{check_name(name)}"

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
        with tree.directory(str(final)) as fd:
            tree.write_file(fd, manifest.MANIFEST_NAME, manifest.encode([*before, *entries]))
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

    def _check_owner(self, status: os.stat_result, name: str) -> None:
        if self._owner is not None and status.st_uid != self._owner:
            raise NoDirectStorageAccess(
                f"{self._base_path}/{name} belongs to uid {status.st_uid}, not to uid {self._owner} as which its task "
                "runs; it is left alone. Use it as its owner, or put checkpoints into the cluster's own storage"
            )

    def _entries(self, name: str, fd: int) -> list[Entry]:
        if tree.exists(fd, manifest.MANIFEST_NAME):
            return manifest.decode(tree.read_file(fd, manifest.MANIFEST_NAME, manifest.MOST_BYTES), name)
        if not tree.exists(fd, manifest.METADATA_NAME) or tree.exists(fd, manifest.STAGING_MARK):
            raise CheckpointNotFound(f"checkpoint {name} was never completed: {self._final(name)} has no manifest")
        return _files_and_directories(name, fd)

    def _delete(self, name: str, fd: int, globs: list[str]) -> dict[str, int]:
        if not any(tree.exists(fd, own) for own in (manifest.MANIFEST_NAME, manifest.METADATA_NAME)):
            raise manifest.foreign(name, str(self._final(name)))
        present = {path: 0 if path.endswith("/") else status.st_size for path, status in _listed(fd)}
        doomed = listing.match_globs(present, globs)
        remaining = {path: size for path, size in present.items() if path not in doomed}
        if all(path.endswith("/") for path in remaining):
            self._drop(name)
            return {}
        kept = [entry for entry in self._entries(name, fd) if entry.path in remaining]
        tree.write_file(fd, manifest.MANIFEST_NAME, manifest.encode(kept))
        tree.remove_all(fd, doomed)
        return remaining

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


def make_base(base: Path) -> None:
    """Create the store's base for every user (1777): several share it, and none removes or renames another's."""
    if base.is_dir():
        return
    _make_way(base.parent)
    with contextlib.suppress(FileExistsError):  # another rank was first
        base.mkdir()
        base.chmod(0o1777)
    if not base.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, _what_is_there(base))


def _make_way(directory: Path) -> None:
    """Make what leads to a store. Everybody may pass, or the store would be for the user alone who came first."""
    if directory.is_dir():
        return
    _make_way(directory.parent)
    with contextlib.suppress(FileExistsError):
        directory.mkdir()
        directory.chmod(0o755)


def _what_is_there(base: Path) -> str:
    if base.is_symlink():
        return f"{base} is a link to {base.readlink()}, which is no directory; make that directory or name another"
    return f"{base} is no directory"


def _last_change(base: int, name: str) -> float:
    """Return when anything of a directory last changed, by ctime: a copied file may bring an old mtime along."""
    try:
        with tree.directory(name, base) as fd:
            return max([os.fstat(fd).st_ctime, *(status.st_ctime for _, status in tree.walk(fd))])
    except OSError:
        return float("inf")  # gone, or a link or file that is not ours to judge


def _listed(fd: int) -> Iterator[tuple[str, os.stat_result]]:
    own = (manifest.MANIFEST_NAME, manifest.STAGING_MARK)
    return ((path, status) for path, status in tree.walk(fd) if path not in own)


def _files_and_directories(name: str, fd: int) -> list[Entry]:
    """Return the entries of a checkpoint without a manifest; its links (older releases kept them) are left out."""
    paths = []
    for path, status in _listed(fd):
        if stat.S_ISREG(status.st_mode) or path.endswith("/"):
            paths.append(Entry(path, 0 if path.endswith("/") else status.st_size))
        else:
            logger.warning("checkpoint %s: %s is a link or no regular file; it is left out", name, path)
    return paths


def _check_size(checkpoint: str, status: os.stat_result | None, entry: Entry) -> None:
    if entry.is_directory:
        return
    if status is None:  # not there, or something on the way is no directory of the checkpoint
        raise manifest.damaged(checkpoint, entry, "it is missing")
    if not stat.S_ISREG(status.st_mode):
        raise manifest.damaged(checkpoint, entry, "it is a link or no regular file")
    if status.st_size != entry.size:
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
