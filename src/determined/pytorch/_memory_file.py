"""A file in memory that `torch.save` writes a state into: what is in it no longer changes, whatever training does.

All that a state holds is taken by this one pass as it is now: tensors of any kind, those that share memory once, and
objects of any class. What follows copies bytes to a disk and needs neither torch nor the state.
"""

import bisect
import io
import os
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from determined.pytorch._host_memory import Bytes, HostMemory, copy_bytes

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

_MOST_THREADS = 8


class MemoryFile:
    """File of what is written to it. Writes out of `memory` itself are noted and not copied: a GPU may still be
    writing there.

    Args:
        memory: where its content is; rewound before the first file in it.

    Example:
        >>> with MemoryFile(memory) as file: torch.save(state, file)
        >>> with open("state.pth", "wb") as out: file.write_to(out)
    """

    def __init__(self, memory: HostMemory) -> None:
        self._memory = memory
        self._parts: list[Bytes] = []
        self._threads: Executor | None = None
        self._width = min(_MOST_THREADS, os.cpu_count() or 1)

    def __enter__(self) -> "MemoryFile":
        self._threads = ThreadPoolExecutor(self._width, thread_name_prefix="checkpoint-snapshot")
        return self

    def __exit__(self, *error: object) -> None:
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None

    def write(self, data: "ReadableBuffer") -> int:
        source = np.frombuffer(memoryview(data), dtype=np.uint8)
        size = int(source.size)
        if size and self._memory.owns(source):
            self._parts.append(source)
            return size
        while source.size:
            target = self._memory.take_some(source.size)
            self._copy(target, source[: target.size])
            self._parts.append(target)
            source = source[target.size :]
        return size

    @property
    def size(self) -> int:
        return sum(part.size for part in self._parts)

    def flush(self) -> None:
        """Do nothing: torch asks files for it."""

    def write_to(self, out: BinaryIO) -> None:
        """Write all of it to another file."""
        for part in self._parts:
            out.write(part.data)

    def reader(self) -> BinaryIO:
        """Return a file to read it with."""
        return io.BufferedReader(_Reader(self._parts))

    def _copy(self, target: Bytes, source: Bytes) -> None:
        if self._threads is None:
            raise ValueError("write to a MemoryFile inside of its block")
        copy_bytes(target, source, self._threads, self._width)


class _Reader(io.RawIOBase):
    """Reads the parts of a file one behind another."""

    def __init__(self, parts: list[Bytes]) -> None:
        super().__init__()
        self._parts = parts
        self._ends = np.cumsum([0, *(part.size for part in parts)]).tolist()
        self._offset = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        self._offset = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._offset, os.SEEK_END: self._ends[-1]}[whence]
        return self._offset

    def tell(self) -> int:
        return self._offset

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        number = bisect.bisect_right(self._ends, self._offset) - 1
        if number >= len(self._parts):
            return 0
        target = np.frombuffer(memoryview(buffer), dtype=np.uint8)
        rest = self._parts[number][self._offset - self._ends[number] :][: target.size]
        target[: rest.size] = rest
        self._offset += rest.size
        return int(rest.size)
