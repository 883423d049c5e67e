"""Context directory from the submitter's disk to a task: read, packed as .tgz, unpacked.

`.detignore` at the root of the context and of each include (gitignore syntax) says what stays behind. What no task
needs, such as virtual environments, stays behind as well, unless `.detignore` asks for it (`!.venv`).
"""

import base64
import binascii
import contextlib
import gzip
import io
import logging
import os
import shutil
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from determined.constants import MAX_CONTEXT_BYTES
from determined.errors import AlreadyExists, FailedPrecondition, InvalidArgument, NotFound, TooLarge
from determined.rundir import tar

if TYPE_CHECKING:
    import pathspec

    from determined.wire.experiment import File

logger = logging.getLogger(__name__)

IGNORE_FILE = ".detignore"
ALWAYS_IGNORED = (
    "__pycache__/", "*.py[co]", "*$py.class", "terraform", "terraform_data", "terraform.tfstate*",
    "terraform.tfvars*", ".terraform*", ".git/", ".vscode/", ".idea/", ".mypy_cache/", "/shared_fs",
    ".hg/", ".svn/", ".ipynb_checkpoints/", ".pytest_cache/", ".ruff_cache/", ".tox/", ".nox/", "node_modules/",
    ".DS_Store",
)  # fmt: skip

_FILE_TYPE = ord(tarfile.REGTYPE)
_DIRECTORY_TYPE = ord(tarfile.DIRTYPE)
# Favours speed: contexts are mostly source text, and a submit waits for this.
_COMPRESSION = 4
_DEEPEST = 200  # directories
_LONGEST_PATH = 4096  # bytes, as Linux has it
_LATEST_TIME = 253_402_300_799  # the last second of the year 9999


def read_directory(
    root: Path | None, includes: Sequence[Path] = (), notice: Callable[[str], None] = logger.warning
) -> "list[File]":
    """Read the files of a context and of its includes, as a submit carries them.

    Raises:
        NotFound, InvalidArgument: a path is missing or the context is no directory.
        AlreadyExists: an include has the name of another root entry.
        TooLarge: the content exceeds the limit.
    """
    files: list[File] = []
    environments: list[str] = []
    room = MAX_CONTEXT_BYTES
    for base, paths in _sources(root, includes, environments, notice):
        for path, name in paths:
            entry, size = _read_entry(path, name, notice, room)
            if entry is None:
                continue
            room -= size
            files.append(entry)
        logger.debug("read context %s", base)
    if environments:
        notice(
            f"Not sent, as it is a virtual environment: {', '.join(environments)} (to send one all the same, write"
            f" !{environments[0]} into {IGNORE_FILE})"
        )
    return files


def copy_directory(
    root: Path, destination: Path, *, without: Path, notice: Callable[[str], None] = logger.warning
) -> None:
    """Copy what `read_directory` would read of `root`, less the directory `without`, which may lie in it.

    Raises:
        NotFound, InvalidArgument: `root` is missing or no directory.
        TooLarge: the content exceeds the limit; nothing is copied.
    """
    left_out = without.resolve()
    ((_, paths),) = _sources(root.resolve(), (), [], notice)
    entries = list(_within_limit(entry for entry in paths if not entry[0].is_relative_to(left_out)))
    destination.mkdir(parents=True, exist_ok=True)
    for path, name in entries:
        target = destination / name
        try:
            if path.is_dir():
                target.mkdir(exist_ok=True)
            elif path.is_file():
                shutil.copy2(path, target)
        except OSError as err:
            notice(f"'{path}' is left out of the copy: {err}")


def content_size(entry: "File") -> int:
    """Return the bytes of the file behind an entry (its content is base64)."""
    return len(entry.content) * 3 // 4 - entry.content[-2:].count("=")


def pack_files(files: "Sequence[File]") -> bytes:
    """Pack the .tgz of a submit, owned by root, in the given order."""
    total = sum(content_size(entry) for entry in files)
    if total > MAX_CONTEXT_BYTES:
        raise _too_large(total)
    _refuse_contradictions(files)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=_COMPRESSION) as archive:
        for entry in files:
            member, content = _member(entry)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def unpack(tgz: bytes, destination: Path) -> None:
    """Extract below `destination`: no member may leave it, nothing becomes setuid. An empty archive is no files."""
    destination.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not tgz:
        return
    try:
        with tarfile.open(fileobj=io.BytesIO(tgz), mode="r:*") as archive:
            tar.extract_all(archive, destination)
    except tar.Refused as e:
        raise InvalidArgument(f"the context archive is refused: {e}; submit it again") from e
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as e:
        raise InvalidArgument(f"the context archive cannot be read: {e}; submit it again") from e
    except (FileExistsError, IsADirectoryError, NotADirectoryError) as e:
        raise InvalidArgument(
            f"the context archive has a file and a directory of one name, {e.filename}; rename one and submit it again"
        ) from e
    except OSError as e:
        raise FailedPrecondition(f"the context archive cannot be unpacked into {destination}: {e.strerror or e}") from e


_Entries = Iterator[tuple[Path, str]]


def _sources(
    root: Path | None, includes: Sequence[Path], environments: list[str], notice: Callable[[str], None]
) -> Iterator[tuple[Path, _Entries]]:
    """Yield each source with its kept files; skipped virtual environments are added to `environments`."""
    taken: set[str] = set()
    if root is not None:
        if not root.exists():
            raise NotFound(f"context directory '{root}' does not exist")
        if not root.is_dir():
            raise InvalidArgument(f"context '{root}' is not a directory; give the directory that holds your code")
        top = _walk(root, _ignoring(root), PurePosixPath(), [], deep=False, notice=lambda _text: None)  # said below
        taken.update(name for _, name in top)
        yield root, _walk(root, _ignoring(root), PurePosixPath(), environments, notice=notice)
    for include in includes:
        yield include, _include(include, taken, environments, notice)


def _within_limit(entries: _Entries) -> _Entries:
    total = 0
    for path, name in entries:
        with contextlib.suppress(OSError):  # gone meanwhile
            total += path.stat().st_size if path.is_file() else 0
        if total > MAX_CONTEXT_BYTES:
            raise _too_large(total)
        yield path, name


def _include(path: Path, taken: set[str], environments: list[str], notice: Callable[[str], None]) -> _Entries:
    if not path.exists():
        raise NotFound(f"included path '{path}' does not exist")
    name = path.resolve().name
    if name in taken:
        raise AlreadyExists(f"'{name}' is in the context twice (include '{path}'); rename one of them")
    taken.add(name)
    if not path.is_dir():
        return iter([(path, name)])
    return _walk_include(path, name, environments, notice)


def _walk_include(path: Path, name: str, environments: list[str], notice: Callable[[str], None]) -> _Entries:
    yield path, name
    yield from _walk(path, _ignoring(path), PurePosixPath(name), environments, notice=notice)


def _ignoring(root: Path) -> "pathspec.GitIgnoreSpec":
    import pathspec

    own = root / IGNORE_FILE
    lines = own.read_text("utf-8", "replace").splitlines() if own.is_file() else []
    return pathspec.GitIgnoreSpec.from_lines([*ALWAYS_IGNORED, *lines])


def _walk(
    root: Path,
    ignored: "pathspec.GitIgnoreSpec",
    prefix: PurePosixPath,
    environments: list[str],
    *,
    deep: bool = True,
    notice: Callable[[str], None] = logger.warning,
) -> _Entries:
    """Yield (path, name in the archive) of everything kept below `root`; ignored directories are not entered."""
    pending = [root]
    while pending:
        for entry in _entries(pending.pop(), notice):
            path = Path(entry.path)
            relative = path.relative_to(root).as_posix()
            if not _is_text(relative):
                notice(f"{str(path)!a} is skipped: its name is not UTF-8; rename it to send it.")
                continue
            if _skipped(entry, relative, ignored):
                continue
            if _is_environment(entry) and ignored.check_file(f"{relative}/").include is None:
                environments.append(relative)
                continue
            yield path, (prefix / relative).as_posix()
            if deep and entry.is_dir(follow_symlinks=False):
                pending.append(path)


def _entries(directory: Path, notice: Callable[[str], None]) -> "list[os.DirEntry[str]]":
    """Return the entries by name; none if the directory is gone: a build or an editor may be at work here."""
    try:
        return sorted(os.scandir(directory), key=lambda entry: entry.name)
    except FileNotFoundError:
        return []
    except PermissionError:
        notice(f"'{directory}' may not be read, skipping what is in it.")
        return []


def _skipped(entry: "os.DirEntry[str]", relative: str, ignored: "pathspec.GitIgnoreSpec") -> bool:
    if entry.name == IGNORE_FILE or ignored.match_file(relative):
        return True
    return entry.is_dir() and ignored.match_file(relative + "/")


def _is_environment(entry: "os.DirEntry[str]") -> bool:
    """Check whether it is a virtual or conda environment, whatever its name: its Python is of this machine alone."""
    return entry.is_dir() and any(os.path.lexists(f"{entry.path}/{mark}") for mark in ("pyvenv.cfg", "conda-meta"))


def _read_entry(path: Path, name: str, notice: Callable[[str], None], room: int) -> "tuple[File | None, int]":
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return _entry(name, status, _DIRECTORY_TYPE, b""), 0
        if not stat.S_ISREG(status.st_mode):
            notice(f"'{path}' is neither file nor directory, skipping it.")
            return None, 0
        if status.st_size > room:
            raise _too_large(MAX_CONTEXT_BYTES - room + status.st_size)
        content = path.read_bytes()
    except OSError:
        notice(f"Error reading '{path}', skipping this file.")
        return None, 0
    return _entry(name, status, _FILE_TYPE, content), len(content)


def _is_text(name: str) -> bool:
    """Check whether a name can travel as text: Python reads other bytes of a name as lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _entry(name: str, status: os.stat_result, kind: int, content: bytes) -> "File":
    from determined.wire.experiment import File

    return File(
        path=name,
        type=kind,
        content=base64.b64encode(content).decode(),
        mtime=str(int(status.st_mtime)),
        mode=stat.S_IMODE(status.st_mode),
        uid=0,
        gid=0,
    )


def _refuse_contradictions(files: "Sequence[File]") -> None:
    """Refuse files that others are said to lie in: no node could unpack them."""
    plain = {entry.path for entry in files if entry.type != _DIRECTORY_TYPE}
    for entry in files:
        above = next((str(one) for one in PurePosixPath(entry.path).parents if str(one) in plain), None)
        if above is not None:
            raise InvalidArgument(f"context file '{entry.path}' lies in '{above}', which is a file; rename one of them")


def _member(entry: "File") -> tuple[tarfile.TarInfo, bytes]:
    parts = PurePosixPath(entry.path).parts
    if len(parts) > _DEEPEST or len(entry.path.encode()) > _LONGEST_PATH:
        raise InvalidArgument(f"context file '{entry.path[:80]}...' has too long a path; keep it below 4096 bytes")
    if not parts or entry.path.startswith("/") or ".." in parts or "\0" in entry.path:
        raise InvalidArgument(f"context file '{entry.path}' lies outside the context; send relative paths without '..'")
    member = tarfile.TarInfo(entry.path)
    member.mode = entry.mode & 0o777
    member.mtime = _time(entry.mtime)
    if entry.type == _DIRECTORY_TYPE:
        member.type = tarfile.DIRTYPE
        return member, b""
    if entry.type not in (_FILE_TYPE, 0):
        raise InvalidArgument(f"context file '{entry.path}' has type {entry.type}; only files and directories are kept")
    try:
        content = base64.b64decode(entry.content, validate=True)
    except binascii.Error as e:
        raise InvalidArgument(f"context file '{entry.path}': content is not base64 ({e})") from e
    member.size = len(content)
    return member, content


def _time(text: str | int) -> int:
    """Return seconds since the epoch; 0 for what no file system would say."""
    try:
        seconds = int(text)
    except ValueError:
        return 0
    return seconds if 0 <= seconds <= _LATEST_TIME else 0


def _too_large(total: int) -> TooLarge:
    limit = MAX_CONTEXT_BYTES // (1024 * 1024)
    return TooLarge(
        f"the context holds {total / (1024 * 1024):.1f} MiB or more, over the limit of {limit} MiB; list what the task "
        f"does not need (data, checkpoints, environments) in a {IGNORE_FILE} file"
    )
