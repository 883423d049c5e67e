"""Large files of a checkpoint in blocks, in the order that the manifest says.

A block is a file of its own (block_names.py). Those that checkpoints share are one file under several names: hard
links, counted by the file system.
"""

import contextlib
import io
import itertools
import os
import shutil
import uuid
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from determined.storage import block_names, copying, tree
from determined.storage.block_cuts import BLOCK, Span, cuts
from determined.storage.content_index import ContentIndex
from determined.storage.hashed_files import HashedFiles
from determined.storage.manifest import Entry

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_READ_ONLY = 0o444  # it belongs to every checkpoint that has it


def store(source: Path, checkpoint: Path, index: ContentIndex) -> tuple[str, ...]:
    """Store a file as blocks of a checkpoint, only writing those that the index has not; their names in order."""
    directory = checkpoint / block_names.DIRECTORY
    directory.mkdir(exist_ok=True)
    with source.open("rb") as file, ThreadPoolExecutor(copying.THREADS, thread_name_prefix="checkpoint-block") as pool:
        fd = file.fileno()
        return tuple(pool.map(lambda span: _store_block(_content(fd, span, source), directory, index), cuts(fd)))


def copy_files(checkpoint: int, pairs: Iterable[tuple[Entry, Path]]) -> list[tuple[int, str]]:
    """Put each file together at its path; size and hash of each. `checkpoint`: descriptor of its directory."""
    hashed, paths = HashedFiles(), []
    for entry, path in pairs:
        with opened(checkpoint, entry.blocks) as source, hashed.create(path) as out:
            shutil.copyfileobj(source, out, BLOCK)
        paths.append(path)
    return hashed.digests(paths)


def unnamed(checkpoint: int, entries: Iterable[Entry]) -> list[str]:
    """Return the paths of blocks that no file of the checkpoint has any more."""
    named = {name for entry in entries for name in entry.blocks}
    with (
        contextlib.suppress(FileNotFoundError),
        tree.directory(block_names.DIRECTORY, checkpoint) as fd,
        os.scandir(fd) as present,
    ):
        return [block_names.path(block.name) for block in present if block.name not in named]
    return []


def move(source: Path, target: Path) -> None:
    """Bring the blocks of one checkpoint to another. Raises FileExistsError where that has others of their names."""
    if not (source / block_names.DIRECTORY).is_dir():
        return
    (target / block_names.DIRECTORY).mkdir(exist_ok=True)
    for block in (source / block_names.DIRECTORY).iterdir():
        moved = target / block_names.DIRECTORY / block.name
        if not moved.exists():
            block.replace(moved)
        elif moved.read_bytes() != block.read_bytes():
            raise FileExistsError(f"{moved} is another block; store these files as a checkpoint of their own")


def opened(parent: int, names: Sequence[str]) -> BinaryIO:
    """Open a file that is stored in blocks, to read from any position."""
    return io.BufferedReader(_BlockFile(parent, names))


class _BlockFile(io.RawIOBase):
    def __init__(self, parent: int, names: Sequence[str]) -> None:
        super().__init__()
        self._directory = os.dup(parent)
        self._names = names
        self._ends = list(itertools.accumulate(block_names.size_of(name) for name in names))
        self._position = 0
        self._open: tuple[int, int] | None = None  # number of a block and its descriptor

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._ends[-1] if self._ends else 0}[whence]
        if begin + offset < 0:
            raise ValueError(f"position {begin + offset} lies before the file")
        self._position = begin + offset
        return self._position

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        number = bisect_right(self._ends, self._position)
        if number == len(self._names):
            return 0
        view = memoryview(buffer).cast("B")
        begin = self._ends[number] - block_names.size_of(self._names[number])
        got = os.preadv(self._block(number), [view[: self._ends[number] - self._position]], self._position - begin)
        if got == 0 and view:
            raise OSError(f"block {self._names[number]} is shorter than it was stored")
        self._position += got
        return got

    def close(self) -> None:
        if not self.closed:
            self._close_block()
            os.close(self._directory)
        super().close()

    def _block(self, number: int) -> int:
        if self._open is None or self._open[0] != number:
            self._close_block()
            self._open = number, tree.open_file(self._directory, block_names.path(self._names[number]))
        return self._open[1]

    def _close_block(self) -> None:
        if self._open is not None:
            os.close(self._open[1])
            self._open = None


def _content(fd: int, span: Span, source: Path) -> bytes:
    begin, length = span
    content = os.pread(fd, length, begin)
    if len(content) != length:
        raise OSError(f"{source} became shorter while it was stored; do not write to a saved checkpoint")
    return content


def _store_block(content: bytes, directory: Path, index: ContentIndex) -> str:
    key, number = block_names.key(content), 0
    while True:
        target = directory / block_names.numbered(key, number)
        if number == 0 and index.take_block(key, content, target):
            return target.name
        if _create(target, content) or target.read_bytes() == content:
            return target.name
        number += 1  # another block of this checkpoint has its key


def _create(target: Path, content: bytes) -> bool:
    """Create a file, whole from the moment it is seen; False where there is one of its name."""
    part = target.with_name(f".{uuid.uuid4()}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _READ_ONLY), "wb", buffering=0) as out:
            _write_all(out.write, content)
        return _name(part, target)
    finally:
        part.unlink(missing_ok=True)


def _name(part: Path, target: Path) -> bool:
    try:
        target.hardlink_to(part)
    except FileExistsError:
        return False
    except OSError:  # no links here
        if target.exists():
            return False
        part.replace(target)
    return True


def _write_all(write: Callable[[memoryview], int | None], content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[write(left) or 0 :]
