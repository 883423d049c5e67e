"""Memory of this machine that copies of a trial's state are made in. It is kept from save to save: pages that the
kernel has to clear first make a copy several times slower.

A child made by `fork` would share the state for nothing (copy-on-write), but a process with threads must not go on in
one: locks of the allocator, of OpenMP and of CUDA stay as they were, held or not, and CUDA does not work in it at all.
The parent would pay besides, a fault for every page that the next step changes.
"""

import mmap
from concurrent.futures import Executor, wait
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

_ALIGNMENT = 64
_LEAST_SEGMENT = 1 << 20
_WORTH_A_THREAD = 1 << 20


class HostMemory:
    """Memory that is handed out front to back, again and again.

    Attributes:
        segments: all of it; more are added, none goes.

    Example:
        >>> memory = HostMemory()
        >>> memory.rewind()
        >>> memory.take(1024)[:] = 7
    """

    def __init__(self) -> None:
        self.segments: list[Bytes] = []
        self._number = self._offset = 0

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self.segments)

    def reserve(self, size: int) -> None:
        """Have at least `size` bytes. Raises OSError where the system refuses them."""
        if size > self.size:
            self.segments.append(_mapped(size - self.size))

    def rewind(self) -> None:
        """Hand out the same memory from its beginning: nobody needs what is in it any more."""
        self._number = self._offset = 0

    def take(self, size: int) -> Bytes:
        """Return `size` bytes in one piece, aligned for any number."""
        self._offset = -(-self._offset // _ALIGNMENT) * _ALIGNMENT
        while self._number < len(self.segments) and self._rest() < size:
            self._next_segment()
        return self.take_some(size) if size else np.empty(0, np.uint8)

    def take_some(self, most: int) -> Bytes:
        """Return up to `most` bytes, at least one, right behind those that were taken last where that is possible."""
        while self._number < len(self.segments) and self._rest() <= 0:
            self._next_segment()
        if self._number == len(self.segments):
            self.segments.append(_mapped(most))
        size = min(most, self._rest())
        part = self.segments[self._number][self._offset : self._offset + size]
        self._offset += size
        return part

    def owns(self, part: Bytes) -> bool:
        """Return whether `part` lies in this memory."""
        return any(np.may_share_memory(segment, part) for segment in self.segments)

    def _rest(self) -> int:
        return self.segments[self._number].size - self._offset

    def _next_segment(self) -> None:
        self._number, self._offset = self._number + 1, 0


def copy_bytes(target: Bytes, source: Bytes, threads: Executor, most: int) -> None:
    """Copy on up to `most` threads; on this one what is not worth another."""
    parts = max(1, min(most, source.size // _WORTH_A_THREAD))
    edges = [source.size * number // parts for number in range(parts + 1)]
    cuts = [slice(begin, end) for begin, end in pairwise(edges)]
    copying = [threads.submit(np.copyto, target[cut], source[cut]) for cut in cuts[1:]]
    np.copyto(target[cuts[0]], source[cuts[0]])
    wait(copying)


def _mapped(size: int) -> Bytes:
    """Map fresh memory: private, or it would be shared memory in the eyes of limits; not for children, whose `fork`
    would make every page of it fault at the next save."""
    region = mmap.mmap(-1, max(size, _LEAST_SEGMENT), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for advice in ("MADV_HUGEPAGE", "MADV_DONTFORK"):  # Linux; elsewhere it works without
        if hasattr(mmap, advice):
            _advise(region, getattr(mmap, advice))
    return np.frombuffer(region, dtype=np.uint8)


def _advise(region: mmap.mmap, advice: int) -> None:
    try:
        region.madvise(advice)
    except OSError:  # a kernel without huge pages
        return
