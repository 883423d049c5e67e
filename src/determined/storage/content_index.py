"""Index of the stored files of one user by content: what is stored again is linked or cloned, not written.

`<base>/.det-content-<uid>/<key>` is one more name (a hard link) of a stored file. So the file system counts the
references: a name here whose file has no other is garbage. There is no lock, also not between nodes: whoever makes a
link keeps the content, whoever comes too late stores its own. Nothing is trusted either: a key says where to look, and
what is shared was compared byte by byte. Users do not share with one another: who may write a file may damage it.

Every failure means that something is stored once more, never that a save fails.
"""

import contextlib
import errno
import logging
import os
import stat
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

from determined.storage import tree
from determined.storage.cloning import clone, same_content

logger = logging.getLogger("determined.core")

PREFIX = ".det-content-"
LEAST = 1024 * 1024
"""Smaller files are stored each for itself: they can be changed in place, and there is little to save."""
_SWEPT = ".swept"
_SAMPLE, _SAMPLES = 4096, 16
_WRITABLE = 0o222
_PART = ".part"


class ContentIndex:
    """Index of what user `uid` has stored below `base`."""

    def __init__(self, base: str, uid: int) -> None:
        self._base = base
        self._uid = uid

    def take(self, source: Path, target: Path) -> bool:
        """Put what is stored with the content of `source` in the place of `target`; False where nothing is.

        On a file system without clones it is the same file under one more name, and read-only from then on.
        """
        try:
            with self._opened() as index, source.open("rb") as new:
                return self._take(index, new.fileno(), target)
        except OSError as err:
            if err.errno != errno.ENOENT:  # ENOENT: nobody has stored anything like it
                logger.debug("%s is stored once more, not shared: %s", target, err)
            return False

    def take_block(self, key: str, content: bytes, target: Path) -> bool:
        """Make `target` one more name of a stored block with this content; False where there is none."""
        with contextlib.suppress(OSError), self._opened() as index:
            stored = tree.open_file(index, key)
            try:
                is_own = os.fstat(stored).st_uid == self._uid
                if is_own and os.pread(stored, len(content) + 1, 0) == content:
                    _link(index, key, stored, target)
                    return True
            finally:
                os.close(stored)
        return False

    def note(self, path: Path, key: str | None = None) -> None:
        """Enter a stored file, in the place of another with its key."""
        try:
            with self._opened(create=True) as index, path.open("rb") as stored:
                _enter(index, path, key or content_key(stored.fileno()))
        except OSError as err:
            logger.debug("%s is not entered in the index of contents: %s", path, err)

    def release(self, keys: Iterable[str]) -> None:
        """Remove those names whose files have no other any more: their checkpoints are deleted."""
        with contextlib.suppress(OSError), self._opened() as index:
            for key in keys:
                _remove_unused(index, key)

    def sweep(self) -> None:
        """Remove every name whose file has no other: what others than us have deleted, and what crashes left."""
        with contextlib.suppress(OSError), self._opened() as index:
            _mark_swept(index)
            with os.scandir(index) as entries:
                names = [entry.name for entry in entries if entry.name != _SWEPT]
            # What a crash left in the middle of `_enter` is a second name in here: it goes first, or both would stay.
            # Whoever is there now loses an entry by it, no file.
            for name in filter(_is_part, names):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=index)
            for name in names:
                _remove_unused(index, name)

    def sweep_if_due(self, now: float, every_s: float) -> None:
        """Sweep where nobody has for so long: no master may know of this storage."""
        with contextlib.suppress(OSError), self._opened() as index:
            try:
                due = now - os.lstat(_SWEPT, dir_fd=index).st_mtime > every_s
            except FileNotFoundError:
                _mark_swept(index)
                return
            if due:
                self.sweep()

    def _take(self, index: int, new: int, target: Path) -> bool:
        key = content_key(new)
        stored = tree.open_file(index, key)
        try:
            if not _are_alike(os.fstat(stored), os.fstat(new)) or not same_content(stored, new):
                return False
            mode = os.fstat(new).st_mode & 0o777
            part = target.with_name(f".{uuid.uuid4()}.part")  # no name that the user has given to another file
            try:
                if not _clone(stored, part, mode):
                    _link(index, key, stored, part)
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
            return True
        finally:
            os.close(stored)

    @contextlib.contextmanager
    def _opened(self, *, create: bool = False) -> Iterator[int]:
        """Open the directory of the index. Raises OSError where it is missing or another user has made it."""
        name = f"{PREFIX}{self._uid}"
        with tree.base(self._base) as base:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=base)
            with tree.directory(name, base) as index:
                if os.fstat(index).st_uid != self._uid:
                    raise PermissionError(errno.EPERM, f"{self._base}/{name} does not belong to uid {self._uid}")
                yield index


def content_key(fd: int) -> str:
    """Return the key of a file: its size and a hash of samples of it. Files with one key need not be the same."""
    import hashlib  # loads OpenSSL, and most trials end without a checkpoint

    size = os.fstat(fd).st_size
    fold = hashlib.blake2b(digest_size=16)
    last = max(0, size - _SAMPLE)
    for number in range(_SAMPLES + 1):
        fold.update(os.pread(fd, _SAMPLE, last * number // _SAMPLES))
    return f"{size:x}-{fold.hexdigest()}"


def sweep_all(base: int, path: str) -> None:
    """Sweep the indexes of all users of the store at `path`, open as `base`."""
    with os.scandir(base) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(PREFIX)]
    for name in names:
        uid = name.removeprefix(PREFIX)
        if uid.isascii() and uid.isdecimal():
            ContentIndex(path, int(uid)).sweep()


def _are_alike(stored: os.stat_result, new: os.stat_result) -> bool:
    """Check that one file may stand for the other, and is not the other already."""
    is_other = (stored.st_dev, stored.st_ino) != (new.st_dev, new.st_ino)
    # A file that was given to another user since is that user's to change.
    return (
        is_other
        and stored.st_uid == new.st_uid
        and (stored.st_mode | _WRITABLE) & 0o777 == (new.st_mode | _WRITABLE) & 0o777
    )


def _clone(stored: int, part: Path, mode: int) -> bool:
    with part.open("xb") as out:
        if clone(stored, out.fileno()):
            os.fchmod(out.fileno(), mode)
            return True
    part.unlink()
    return False


def _link(index: int, key: str, stored: int, target: Path) -> None:
    os.link(key, target, src_dir_fd=index, follow_symlinks=False)
    status = os.fstat(stored)
    if os.lstat(target).st_ino != status.st_ino:
        target.unlink()
        raise OSError(errno.ESTALE, "another file was entered under this key meanwhile", str(target))
    # Whoever changed it in place now would change it in every checkpoint that has it.
    if status.st_mode & _WRITABLE:
        os.fchmod(stored, status.st_mode & 0o777 & ~_WRITABLE)


def _is_part(name: str) -> bool:
    return name.endswith(_PART)


def _enter(index: int, path: Path, key: str) -> None:
    part = f".{uuid.uuid4()}{_PART}"
    os.link(path, part, dst_dir_fd=index, follow_symlinks=False)
    try:
        os.rename(part, key, src_dir_fd=index, dst_dir_fd=index)
    finally:
        with contextlib.suppress(FileNotFoundError):  # `rename` leaves both names where they are of one file
            os.unlink(part, dir_fd=index)


def _remove_unused(index: int, name: str) -> None:
    """Remove a name if its file has no other. A link made since then keeps the content: only the name is lost."""
    with contextlib.suppress(FileNotFoundError):
        status = os.lstat(name, dir_fd=index)
        if status.st_nlink == 1 and not stat.S_ISDIR(status.st_mode):
            os.unlink(name, dir_fd=index)


def _mark_swept(index: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_SWEPT, dir_fd=index)
    # The directory is its user's, who may put a link or a pipe there while a sweeper of another user is at work.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.suppress(FileExistsError):
        os.close(os.open(_SWEPT, flags, 0o600, dir_fd=index))
