"""Directory of this machine's file system as a store: its base, whose files in it are touched, and loose files."""

import contextlib
import errno
import os
import stat
from pathlib import Path, PurePosixPath

from determined.errors import NoDirectStorageAccess
from determined.storage import tree
from determined.storage.base import Paths, StorageManager
from determined.storage.loose_file import LooseFile


class LocalBase(StorageManager):
    """Part of a local store that knows of no checkpoints."""

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

    def _loose(self, key: str) -> Path:
        if PurePosixPath(key).is_absolute() or ".." in PurePosixPath(key).parts:
            raise ValueError(f"{key!r} reaches outside the store; give a relative path without '..'")
        return self.base / key

    def _check_owner(self, status: os.stat_result, name: str) -> None:
        if self._owner is not None and status.st_uid != self._owner:
            raise NoDirectStorageAccess(
                f"{self._base_path}/{name} belongs to uid {status.st_uid}, not to uid {self._owner} as which its task "
                "runs; it is left alone. Use it as its owner, or put checkpoints into the cluster's own storage"
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
