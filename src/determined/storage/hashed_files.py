"""Files that are hashed while they are written: the manifest of a checkpoint then costs no second pass over them."""

import contextlib
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from determined.storage import copying

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

# Smaller writes are gathered; what is larger goes to the file as it is, without a copy.
_BUFFER = 64 * 1024
# Below this, waking a thread takes longer than it saves.
_WORTH_A_THREAD = 1024 * 1024
# Nobody may ever ask: a save fails, and what all ranks write the chief alone publishes. The oldest are forgotten.
_MOST_FILES = 1000
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC


class HashedFiles:
    """Files this process writes for a store, and their hashes until the store asks for them.

    Example:
        >>> files = HashedFiles()
        >>> with files.create(path) as out: out.write(b"weights")
        >>> files.digests([path])
        [(7, 'crc32-16m:…')]
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], _Written] = {}

    @contextlib.contextmanager
    def create(self, path: Path) -> Iterator[BinaryIO]:
        """Create a file to write to, from its beginning to its end.

        Raises:
            OSError: what the disk said, also where the writer made another error of it.
        """
        raw = _HashingFile(os.open(path, _NEW_FILE, 0o666), path)
        try:
            with io.BufferedWriter(raw, _BUFFER) as out:
                yield out
                out.flush()
                self._remember(raw)
        except Exception as err:
            if raw.failure is not None and err is not raw.failure:
                raise raw.failure from err
            raise

    def digests(self, paths: Iterable[Path]) -> list[tuple[int, str]]:
        """Return size and hash of each file; only those that were not written here, or were changed since, are read."""
        todo = list(paths)
        known_digests = [self._recall(path) for path in todo]
        read = iter(copying.hash_files(path for path, known in zip(todo, known_digests, strict=True) if known is None))
        return [next(read) if known is None else known for known in known_digests]

    def _remember(self, raw: "_HashingFile") -> None:
        status = os.fstat(raw.fileno())
        # A clock that ticks slowly would give a change a moment later the same time; none gives it an earlier one.
        mark = status.st_mtime_ns - 1
        os.utime(raw.fileno(), ns=(status.st_atime_ns, mark))
        if os.fstat(raw.fileno()).st_mtime_ns == mark:  # else the file system counts in seconds and tells nothing
            self._known[status.st_dev, status.st_ino] = _Written(mark, raw.digest())
        if len(self._known) > _MOST_FILES:
            del self._known[next(iter(self._known))]

    def _recall(self, path: Path) -> tuple[int, str] | None:
        status = path.stat()
        written = self._known.pop((status.st_dev, status.st_ino), None)
        if written is None or (status.st_mtime_ns, status.st_size) != (written.mark, written.digest[0]):
            return None
        return written.digest


@dataclass(frozen=True, slots=True)
class _Written:
    mark: int
    digest: tuple[int, str]


class _HashingFile(io.RawIOBase):
    """File that is written front to back. While one thread brings a large block to the file, others hash it."""

    def __init__(self, fd: int, path: Path) -> None:
        super().__init__()
        self.failure: OSError | None = None
        self._fd = fd
        self._path = path
        self._digest = copying.Digest()
        self._hashers = ThreadPoolExecutor(max(1, copying.THREADS - 1), thread_name_prefix="checkpoint-hash")

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._fd

    def digest(self) -> tuple[int, str]:
        return self._digest.result()

    def write(self, data: "ReadableBuffer", /) -> int:
        block = memoryview(data).cast("B")
        parts = self._digest.parts(block)
        is_large = len(block) >= _WORTH_A_THREAD
        hashing = [self._hashers.submit(zlib.crc32, *part) for part in parts] if is_large else []
        try:
            self._write_all(block)
        finally:
            # The memory is the caller's again when this returns, so all wait here, also when the disk is full.
            crcs = _finished(parts, hashing)
        self._digest.add(parts, crcs)
        return len(block)

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        self._hashers.shutdown()
        os.close(self._fd)

    def _write_all(self, block: memoryview) -> None:
        while block:
            try:
                wrote = os.write(self._fd, block)
            except OSError as err:
                self.failure = OSError(err.errno, err.strerror, str(self._path))
                raise self.failure from err
            block = block[wrote:]


def _finished(parts: list[tuple[memoryview, int]], hashing: list[Future[int]]) -> list[int]:
    """Return the CRCs of all parts.

    Parts that no thread has begun, on a busy machine, are hashed here, from the end: the threads come from the front.
    """
    if not hashing:
        return [zlib.crc32(*part) for part in parts]
    backwards = zip(reversed(parts), reversed(hashing), strict=True)
    return [zlib.crc32(*part) if future.cancel() else future.result() for part, future in backwards][::-1]
