"""A directory tree reached by file descriptors and never through a link: list, open, measure, remove.

Whoever owns a checkpoint can put links into it, and swap a directory for a link while we look. Every step here opens
one name relative to a descriptor with O_NOFOLLOW, so there is no moment at which a path can be redirected.
"""

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from determined._remove_tree import remove_tree

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DEEPEST = 256  # levels; each takes a descriptor and a stack frame of the walk
# a FIFO in the place of a file must not make us wait for a writer
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def directory(path: str, parent: int | None = None) -> Iterator[int]:
    """Open the directory `path` below `parent`; without a parent its leading components may be links.

    Raises:
        FileNotFoundError: it is not there.
        OSError: it, or something on the way to it, is a link or no directory.
    """
    fd = os.open(path, _DIRECTORY) if parent is None else _descend(parent, path)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def base(path: str) -> Iterator[int]:
    """Open a store's base, which may itself be a link: whoever configured it has chosen so."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


def walk(fd: int, prefix: str = "") -> Iterator[tuple[str, os.stat_result]]:
    """Yield everything below, links as themselves; directories end with `/` and come before what is in them.

    Raises OSError where directories are nested too deeply.
    """
    if prefix.count("/") > _DEEPEST:
        raise OSError(errno.ENAMETOOLONG, f"directories are nested more than {_DEEPEST} deep")
    with os.scandir(fd) as entries:
        names = sorted(entry.name for entry in entries)
    for name in names:
        with contextlib.suppress(FileNotFoundError):  # gone since it was listed
            status = os.lstat(name, dir_fd=fd)
            if not stat.S_ISDIR(status.st_mode):
                yield prefix + name, status
                continue
            with directory(name, fd) as inner:
                yield f"{prefix}{name}/", status
                yield from walk(inner, f"{prefix}{name}/")


def open_file(fd: int, path: str) -> int:
    """Open a regular file below `fd`, to read. Raises OSError for anything else and a link on the way."""
    parent, _, name = path.rpartition("/")
    with directory(parent, fd) as inside:
        opened = os.open(name, _FILE, dir_fd=inside)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OSError(f"{path} is not a regular file")
    return opened


def status(fd: int, path: str) -> os.stat_result:
    """Return the status of a file or directory below `fd` itself: a link is not followed."""
    parent, _, name = path.rstrip("/").rpartition("/")
    with directory(parent, fd) as inside:
        return os.lstat(name, dir_fd=inside)


def read_file(fd: int, path: str, most: int) -> bytes:
    """Return the content of a file, or of a longer one its first `most + 1` bytes."""
    with os.fdopen(open_file(fd, path), "rb") as opened:
        return opened.read(min(os.fstat(opened.fileno()).st_size, most) + 1)


def write_file(fd: int, name: str, raw: bytes) -> None:
    """Replace a file of `fd`, on disk when this returns: a crash leaves the old content or the new, never half."""
    part = name + ".part"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(part, dir_fd=fd)
    with os.fdopen(os.open(part, _NEW_FILE, 0o666, dir_fd=fd), "wb") as out:
        out.write(raw)
        out.flush()
        os.fsync(out.fileno())
    os.replace(part, name, src_dir_fd=fd, dst_dir_fd=fd)


def copy_file(src: str | os.PathLike[str], fd: int, name: str) -> None:
    """Copy a file into `fd` in one step; a link in the place of the new file, or of its first part, is replaced."""
    part = name + ".part"
    with Path(src).open("rb") as source:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part, dir_fd=fd)
        with os.fdopen(os.open(part, _NEW_FILE, 0o666, dir_fd=fd), "wb") as out:
            shutil.copyfileobj(source, out)
    os.replace(part, name, src_dir_fd=fd, dst_dir_fd=fd)


def exists(fd: int, name: str) -> bool:
    """Check whether `fd` itself holds a regular file of this name."""
    try:
        return stat.S_ISREG(os.lstat(name, dir_fd=fd).st_mode)
    except FileNotFoundError:
        return False


def remove(fd: int, path: str) -> None:
    """Remove a file, a link (never what it points to) or a whole directory; absent is fine."""
    parent, _, name = path.rstrip("/").rpartition("/")
    with contextlib.suppress(FileNotFoundError), directory(parent, fd) as inside:
        if stat.S_ISDIR(os.lstat(name, dir_fd=inside).st_mode):
            remove_tree(name, inside)
        else:
            os.unlink(name, dir_fd=inside)


def remove_all(fd: int, doomed: Iterable[str]) -> None:
    """Remove the deepest first; a directory that holds something new by then stays."""
    for path in sorted(doomed, reverse=True):
        parent, _, name = path.rstrip("/").rpartition("/")
        with contextlib.suppress(FileNotFoundError), directory(parent, fd) as inside:
            if path.endswith("/"):
                _remove_if_empty(inside, name)
            else:
                os.unlink(name, dir_fd=inside)


def _remove_if_empty(fd: int, name: str) -> None:
    try:
        os.rmdir(name, dir_fd=fd)
    except OSError as err:
        if err.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise


def _descend(parent: int, path: str) -> int:
    fd = os.dup(parent)
    for part in filter(None, path.split("/")):
        try:
            inner = os.open(part, _DIRECTORY, dir_fd=fd)
        finally:
            os.close(fd)
        fd = inner
    return fd
