"""The head of a journal: one mapped page of counters, shared by the writing and the reading process."""

import mmap
import os
from pathlib import Path

from determined.errors import FailedPrecondition

HEAD_BYTES = 4096
_MAGIC, COMMITTED, ACKNOWLEDGED = 0, 1, 2  # indexes of 8-byte words in the head
_MAGIC_VALUE = 0x44455430314A4E4C


def pending_of(head: bytes) -> int:
    """Return how many records a head file's content says are not acknowledged; 0 for a file that is no head."""
    if len(head) != HEAD_BYTES:
        return 0
    words = memoryview(head).cast("Q")
    return max(0, words[COMMITTED] - words[ACKNOWLEDGED]) if words[_MAGIC] == _MAGIC_VALUE else 0


def committed_of(head: bytes) -> int:
    """Return how many records a head file's content says were written; 0 for a file that is no head."""
    if len(head) != HEAD_BYTES:
        return 0
    words = memoryview(head).cast("Q")
    return words[COMMITTED] if words[_MAGIC] == _MAGIC_VALUE else 0


class JournalHead:
    """The mapped counters. Words are stored whole (aligned 8-byte stores), so no reader sees half a number."""

    def __init__(self, descriptor: int) -> None:
        try:
            self._mapped = mmap.mmap(descriptor, HEAD_BYTES)
        finally:
            os.close(descriptor)
        self._bytes = memoryview(self._mapped)
        self.words = self._bytes.cast("Q")

    @classmethod
    def create(cls, path: Path) -> "JournalHead":
        if not path.exists():
            fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
            content = _MAGIC_VALUE.to_bytes(8, "little").ljust(HEAD_BYTES, b"\0")
            descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                os.write(descriptor, content)
                # Before its name: after a power failure an empty head would hide every record of the journal.
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            fresh.rename(path)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> "JournalHead":
        head = cls(os.open(path, os.O_RDWR))
        if head.words[_MAGIC] != _MAGIC_VALUE:
            head.close()
            raise FailedPrecondition(f"{path} is no journal of this version; remove the run directory")
        return head

    def flush(self) -> None:
        self._mapped.flush()

    def close(self) -> None:
        self.words.release()
        self._bytes.release()
        self._mapped.close()
