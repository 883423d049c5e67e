"""Append-only, memory-mapped journals: one writer process, one reader process, both may die at any instant.

`<name>.head` holds two counters, records committed (writer) and acknowledged (reader); records lie in segments
(segment.py). An append copies bytes into a mapped page and bumps a counter: no system call, and what was appended
survives kill -9 of the writer because the pages belong to the kernel. Records are numbered 1, 2, 3, ...
"""

import mmap
import os
import threading
import time
import weakref
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

from determined.errors import FailedPrecondition
from determined.rundir.segment import (
    CLOSED,
    PREFIX,
    SEGMENT_BYTES,
    create_segment,
    is_closed,
    open_segment,
    read_record,
    record_size,
    segment_path,
    segment_starts,
)

HEAD_BYTES = 4096
_MAGIC, _COMMITTED, _ACKNOWLEDGED = 0, 1, 2  # indexes of 8-byte words in the head
_MAGIC_VALUE = 0x44455430314A4E4C


def journal_names(directory: Path) -> list[str]:
    """Every journal of a directory, sorted by name."""
    names = (entry.name for entry in directory.iterdir())
    # A leading dot is a head still being written.
    return sorted(name[: -len(".head")] for name in names if name.endswith(".head") and name[0] != ".")


def pending_of(head: bytes) -> int:
    """How many records a head file's content says are not acknowledged; 0 for a file that is no head."""
    if len(head) != HEAD_BYTES:
        return 0
    words = memoryview(head).cast("Q")
    return max(0, words[_COMMITTED] - words[_ACKNOWLEDGED]) if words[_MAGIC] == _MAGIC_VALUE else 0


class JournalWriter:
    """The writing end. Thread-safe; one process only (a forked child gets an error instead of a corrupt file).

    Opening an existing journal continues after its last whole record. `reserve` bytes of each segment are kept for
    `append(..., last=True)`, so that a final record still fits when the disk is full.
    """

    def __init__(self, directory: Path, name: str, *, segment_bytes: int = SEGMENT_BYTES, reserve: int = 0) -> None:
        self.name = name
        self.last_record: bytes | None = None  # found when opened: what an earlier writer had appended last
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._reserve = reserve
        self._lock = threading.Lock()
        self._open = True
        self._head = _Head.create(directory / f"{name}.head")
        self._words = self._head.words
        self._number, self._segment, self._offset = self._resume()
        self._words[_COMMITTED] = self._number
        _writers.add(self)

    def append(self, payload: bytes, *, last: bool = False) -> int:
        """Store one record and return its number. Raises OSError when the disk is full."""
        if not self._open:
            raise _closed(self.name)
        with self._lock:
            number = self._put(payload, 0 if last else self._reserve)
            self._words[_COMMITTED] = number
        return number

    def extend(self, payloads: Iterable[bytes]) -> int:
        """Store several records; on OSError those before the failing one are kept (see `committed`)."""
        if not self._open:
            raise _closed(self.name)
        with self._lock:
            try:
                for payload in payloads:
                    self._put(payload, self._reserve)
            finally:
                self._words[_COMMITTED] = self._number
            return self._number

    @property
    def committed(self) -> int:
        return self._number

    @property
    def acknowledged(self) -> int:
        return int(self._words[_ACKNOWLEDGED])

    def wait_acknowledged(
        self, number: int, timeout: float | None = None, stop: Callable[[], bool] = lambda: False
    ) -> bool:
        """True once the reader acknowledged `number`; False after `timeout` seconds or when `stop()` turns true."""
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = 0.001
        while self.acknowledged < number:
            if stop() or (deadline is not None and time.monotonic() >= deadline):
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, 0.02)
        return True

    def skip_to(self, number: int) -> None:
        """Go on after `number`, which the master already has although this disk lost it (power failure)."""
        with self._lock:
            if number <= self._number:
                return
            self._number = number
            self._rotate(0)
            self._words[_ACKNOWLEDGED] = number
            self._words[_COMMITTED] = number

    def close(self) -> None:
        with self._lock:
            if not self._open:
                return
            self._open = False
            self._segment.close()
            self._head.close()

    def _put(self, payload: bytes, reserve: int) -> int:
        offset = self._offset
        start = offset + PREFIX.size
        end = start + len(payload)
        if end > len(self._segment) - reserve:
            self._rotate(len(payload))
            offset, start, end = 0, PREFIX.size, PREFIX.size + len(payload)
        segment = self._segment
        segment[start:end] = payload
        PREFIX.pack_into(segment, offset, len(payload) + 1, zlib.crc32(payload))
        self._offset = (end + 7) & ~7
        self._number += 1
        return self._number

    def _rotate(self, payload_bytes: int) -> None:
        size = max(self._segment_bytes, record_size(payload_bytes) + self._reserve)
        fresh = create_segment(segment_path(self._directory, self.name, self._number + 1), size)
        if self._offset + PREFIX.size <= len(self._segment):
            PREFIX.pack_into(self._segment, self._offset, CLOSED, 0)
        self._segment.close()
        self._segment, self._offset = fresh, 0

    def _resume(self) -> tuple[int, mmap.mmap, int]:
        """Where to go on: (records so far, segment, offset). Bytes after the last whole record are overwritten."""
        starts = segment_starts(self._directory, self.name)
        if not starts:
            number = self.acknowledged
            path = segment_path(self._directory, self.name, number + 1)
            return number, create_segment(path, self._segment_bytes), 0
        segment = open_segment(segment_path(self._directory, self.name, starts[-1]), write=True)
        number, offset = starts[-1] - 1, 0
        # The counter decides: bytes past it belong to an append that was cut short.
        while number < self._words[_COMMITTED] and (payload := read_record(segment, offset)) is not None:
            self.last_record = payload
            number, offset = number + 1, offset + record_size(len(payload))
        return number, segment, offset


class JournalReader:
    """The reading end: hands out records after the acknowledged one, again and again until acknowledged."""

    def __init__(self, directory: Path, name: str) -> None:
        self.name = name
        self._directory = directory
        self._head = _Head.open(directory / f"{name}.head")
        self._words = self._head.words
        self._segment: mmap.mmap | None = None
        self._first = 0  # first record of the mapped segment
        self._cursor = 0  # last record before `_offset`; equals the acknowledged one between calls
        self._offset = 0
        self._ends: list[int] = []  # offsets after the records of the last read, while they are in one segment
        self._seek()

    @property
    def committed(self) -> int:
        return int(self._words[_COMMITTED])

    @property
    def acknowledged(self) -> int:
        return int(self._words[_ACKNOWLEDGED])

    @property
    def pending(self) -> int:
        return int(self._words[_COMMITTED] - self._words[_ACKNOWLEDGED])

    def read(self, max_records: int = 1000, max_bytes: int = 1 << 20) -> tuple[int, list[bytes]]:
        """(number of the first, records) after the acknowledged one; at least one when there is any."""
        if self._cursor != self.acknowledged:
            self._seek()  # the writer skipped ahead
        available = min(max_records, self.pending)
        records: list[bytes] = []
        self._ends = []
        size = 0
        if available <= 0 or not self._position():
            return self._cursor + 1, records
        segment, offset = self._segment, self._offset
        assert segment is not None
        while len(records) < available:
            payload = read_record(segment, offset)
            if payload is None or (records and size + len(payload) > max_bytes):
                break
            records.append(payload)
            size += len(payload)
            offset += record_size(len(payload))
            self._ends.append(offset)
        return self._cursor + 1, records

    def acknowledge(self, number: int) -> None:
        """Records up to `number` are safe elsewhere. A number beyond what is committed counts as all of it."""
        number = min(number, self.committed)
        ahead = number - self._cursor
        if ahead <= 0:
            return
        if ahead <= len(self._ends):
            self._offset = self._ends[ahead - 1]
            self._ends = self._ends[ahead:]
            self._cursor = number
        else:
            self._walk_to(number)
        self._words[_ACKNOWLEDGED] = number

    @property
    def first_kept(self) -> int:
        """The first record that is still on this disk."""
        starts = segment_starts(self._directory, self.name)
        return starts[0] if starts else self.acknowledged + 1

    def rewind(self, number: int) -> bool:
        """Hand out records after `number` again; False when some of them are already gone."""
        starts = segment_starts(self._directory, self.name)
        if not starts or starts[0] > number + 1:
            return False
        self._words[_ACKNOWLEDGED] = number
        self._seek()
        return True

    def sync(self) -> None:
        """Push what is mapped to the disk, so that a power failure costs no more than what came after."""
        self._head.flush()
        if self._segment is not None:
            _fsync(segment_path(self._directory, self.name, self._first))

    def close(self) -> None:
        if self._segment is not None:
            self._segment.close()
            self._segment = None
        self._head.close()

    def _position(self) -> bool:
        """Map the segment holding the next record; False when there is none (yet)."""
        if self._segment is not None and not is_closed(self._segment, self._offset):
            return True
        path = segment_path(self._directory, self.name, self._cursor + 1)
        if not path.exists():
            return False
        self._map(self._cursor + 1)
        return True

    def _seek(self) -> None:
        """Find the acknowledged record by walking its segment."""
        self._cursor = self.acknowledged
        starts = segment_starts(self._directory, self.name)
        if not starts:
            return
        # Segments go only when acknowledged, so a head older than them (power failure) is corrected by them.
        target = max(self._cursor, starts[0] - 1)
        self._words[_ACKNOWLEDGED] = target
        self._map(max(start for start in starts if start <= target + 1))
        self._walk_to(target)

    def _walk_to(self, number: int) -> None:
        self._ends = []
        while self._cursor < number and self._position():
            assert self._segment is not None
            payload = read_record(self._segment, self._offset)
            if payload is None:
                break
            self._cursor, self._offset = self._cursor + 1, self._offset + record_size(len(payload))
        self._cursor = number

    def _map(self, first: int) -> None:
        """Map another segment; those before it are acknowledged to the last record and go."""
        if self._segment is not None:
            self._segment.close()
        self._segment = open_segment(segment_path(self._directory, self.name, first), write=False)
        self._first, self._cursor, self._offset = first, first - 1, 0
        for start in segment_starts(self._directory, self.name):
            if start < first:
                segment_path(self._directory, self.name, start).unlink(missing_ok=True)


class _Head:
    """The mapped counters. Words are stored whole (aligned 8-byte stores), so no reader sees half a number."""

    def __init__(self, descriptor: int) -> None:
        try:
            self._mapped = mmap.mmap(descriptor, HEAD_BYTES)
        finally:
            os.close(descriptor)
        self._bytes = memoryview(self._mapped)
        self.words = self._bytes.cast("Q")

    @classmethod
    def create(cls, path: Path) -> "_Head":
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
    def open(cls, path: Path) -> "_Head":
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


_writers: "weakref.WeakSet[JournalWriter]" = weakref.WeakSet()


def _disown_in_child() -> None:
    for writer in _writers:
        writer._open = False


os.register_at_fork(after_in_child=_disown_in_child)


def _closed(name: str) -> FailedPrecondition:
    return FailedPrecondition(
        f"journal {name} is closed or belongs to the parent of this forked process; report from the process "
        "that opened it"
    )


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
