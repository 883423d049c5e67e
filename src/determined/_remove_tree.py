"""Removing a directory that somebody else filled: of any depth, never through a link.

`shutil.rmtree` recurses and holds a descriptor for each level, so a few thousand nested directories end it, or take
all descriptors of the process.
"""

import contextlib
import errno
import os
import stat
from itertools import count

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOVED = ".removing-"
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR)
_MOST_LEVELS = 100_000  # then somebody fills it faster than we empty it


def remove_tree(path: str, parent: int | None = None) -> None:
    """Remove a directory and all that is in it; what vanishes meanwhile is fine. `path` is relative to `parent`.

    Directories inside of others are moved up to the top first, so two descriptors do.

    Raises:
        FileNotFoundError: it is not there.
        OSError: it is a link or no directory, or something in it cannot be removed.
    """
    top = os.open(path, _DIRECTORY, dir_fd=parent)
    try:
        numbers = count()
        for _ in range(_MOST_LEVELS):
            names = _clear(top)
            for name in names:
                _dissolve(top, name, numbers)
            if not names:
                break
    finally:
        os.close(top)
    os.rmdir(path, dir_fd=parent)


def _dissolve(top: int, name: str, numbers: "count[int]") -> None:
    """Remove a directory of `top` whose own directories have gone up to `top`."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        inner = os.open(name, _DIRECTORY, dir_fd=top)
        try:
            for inside in _clear(inner):
                _move_up(inner, inside, top, numbers)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=top)


def _move_up(inner: int, name: str, top: int, numbers: "count[int]") -> None:
    while True:
        try:
            return os.rename(name, f"{_MOVED}{next(numbers)}", src_dir_fd=inner, dst_dir_fd=top)
        except FileNotFoundError:
            return
        except OSError as e:
            if e.errno not in _TAKEN:
                raise


def _clear(directory: int) -> list[str]:
    """Remove all but directories with something in them; their names."""
    with os.scandir(directory) as entries:
        names = [entry.name for entry in entries]
    return [name for name in names if not _is_removed(directory, name)]


def _is_removed(directory: int, name: str) -> bool:
    try:
        if not stat.S_ISDIR(os.lstat(name, dir_fd=directory).st_mode):
            os.unlink(name, dir_fd=directory)
            return True
        os.rmdir(name, dir_fd=directory)
    except FileNotFoundError:
        return True
    except OSError as e:
        if e.errno not in _TAKEN:
            raise
        return False
    return True
