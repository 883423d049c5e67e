"""Append-only, memory-mapped journals: one writer process, one reader process, both may die at any instant.

`<name>.head` holds two counters, records committed (writer) and acknowledged (reader); records lie in segments
(segment.py). An append copies bytes into a mapped page and bumps a counter: no system call, and what was appended
survives kill -9 of the writer because the pages belong to the kernel. Records are numbered 1, 2, 3, ...
"""

import contextlib
import mmap
import os
import time
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from determined._backoff import Backoff
from determined.errors import FailedPrecondition
from determined.rundir.journal_head import ACKNOWLEDGED, COMMITTED, JournalHead
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

_POLL = Backoff(first=0.001, limit=0.02, factor=1.5)  # between two looks at what the reader acknowledged
_TURN_SECONDS = 0.0002  # between two looks whether another thread has finished
_PREFIX_BYTES = PREFIX.size
_prefix, _crc32 = PREFIX.pack, zlib.crc32


def journal_names(directory: Path) -> list[str]:
    """Return every journal of a directory, sorted by name."""
    names = (entry.name for entry in directory.iterdir())
    # A leading dot is a head still being written.
    return sorted(name[: -len(".head")] for name in names if name.endswith(".head") and name[0] != ".")


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
        # A lock: whoever has taken its one item writes. A threading.Lock parses arguments each time it is taken, which
        # took a quarter of an append. Taking is a single instruction, so no signal comes between it and its `try`.
        self._turn: list[None] = [None]
        self._open = True
        self._head = JournalHead.create(directory / f"{name}.head")
        self._words = self._head.words
        self._number, self._segment, self._offset = self._resume()
        self._end = len(self._segment) - reserve  # where an ordinary record no longer fits
        self._words[COMMITTED] = self._number
        _writers.add(self)

    def append(self, payload: bytes, *, last: bool = False) -> int:
        """Store one record and return its number. Raises OSError when the disk is full."""
        # `_alone` and `_put` are written out: this runs in training loops, between whose steps the processor's caches
        # fill with other things, and each call costs microseconds then.
        if not self._open:
            raise _closed(self.name)
        try:
            del self._turn[-1]
        except IndexError:
            return self._append_in_turn(payload, last=last)
        try:
            offset = self._offset
            end = offset + _PREFIX_BYTES + len(payload)
            if end > self._end or last:
                number = self._put(payload, 0 if last else self._reserve)
            else:
                self._segment[offset:end] = _prefix(len(payload) + 1, _crc32(payload)) + payload
                self._offset = (end + 7) & ~7
                self._number = number = self._number + 1
            self._words[COMMITTED] = number
        finally:
            self._turn.append(None)
        return number

    def extend(self, payloads: Iterable[bytes]) -> int:
        """Store several records; on OSError those before the failing one are kept (see `committed`)."""
        if not self._open:
            raise _closed(self.name)
        with self._alone():
            try:
                for payload in payloads:
                    self._put(payload, self._reserve)
            finally:
                self._words[COMMITTED] = self._number
            return self._number

    @property
    def committed(self) -> int:
        return self._number

    @property
    def acknowledged(self) -> int:
        return int(self._words[ACKNOWLEDGED])

    def wait_acknowledged(
        self, number: int, timeout: float | None = None, stop: Callable[[], bool] = lambda: False
    ) -> bool:
        """Wait until the reader acknowledged `number`. False: `timeout` seconds are over, or `stop()` turned true."""
        deadline = None if timeout is None else time.monotonic() + timeout
        pauses = _POLL.delays()
        while self.acknowledged < number:
            if stop() or (deadline is not None and time.monotonic() >= deadline):
                return False
            time.sleep(next(pauses))
        return True

    def skip_to(self, number: int) -> None:
        """Go on after `number`, which the master already has although this disk lost it (power failure)."""
        with self._alone():
            if number <= self._number:
                return
            self._number = number
            self._rotate(0)
            self._words[ACKNOWLEDGED] = number
            self._words[COMMITTED] = number

    def close(self) -> None:
        if not self._open:
            return
        with self._alone():
            was_open, self._open = self._open, False
            if was_open:
                self._segment.close()
                self._head.close()

    def _append_in_turn(self, payload: bytes, *, last: bool) -> int:
        with self._alone():
            if not self._open:
                raise _closed(self.name)
            self._words[COMMITTED] = number = self._put(payload, 0 if last else self._reserve)
        return number

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        while True:
            try:
                del self._turn[-1]
                break
            except IndexError:
                time.sleep(_TURN_SECONDS)
        try:
            yield
        finally:
            self._turn.append(None)

    def _put(self, payload: bytes, reserve: int) -> int:
        size = _PREFIX_BYTES + len(payload)
        if self._offset + size > len(self._segment) - reserve:
            self._rotate(len(payload))
        offset, end = self._offset, self._offset + size
        # Whole or not at all for a reader: it looks only at records that the counter has passed.
        self._segment[offset:end] = _prefix(len(payload) + 1, _crc32(payload)) + payload
        self._offset = (end + 7) & ~7
        self._number += 1
        return self._number

    def _rotate(self, payload_bytes: int) -> None:
        size = max(self._segment_bytes, record_size(payload_bytes) + self._reserve)
        fresh = create_segment(segment_path(self._directory, self.name, self._number + 1), size)
        if self._offset + PREFIX.size <= len(self._segment):
            PREFIX.pack_into(self._segment, self._offset, CLOSED, 0)
        self._segment.close()
        self._segment, self._offset, self._end = fresh, 0, len(fresh) - self._reserve

    def _resume(self) -> tuple[int, mmap.mmap, int]:
        """Find the position to continue at: (records so far, segment, offset).

        Bytes after the last whole record are overwritten.
        """
        starts = segment_starts(self._directory, self.name)
        if not starts:
            number = self.acknowledged
            path = segment_path(self._directory, self.name, number + 1)
            return number, create_segment(path, self._segment_bytes), 0
        segment = open_segment(segment_path(self._directory, self.name, starts[-1]), write=True)
        number, offset = starts[-1] - 1, 0
        # The counter decides: bytes past it belong to an append that was cut short.
        while number < self._words[COMMITTED] and (payload := read_record(segment, offset)) is not None:
            self.last_record = payload
            number, offset = number + 1, offset + record_size(len(payload))
        return number, segment, offset


class JournalReader:
    """The reading end: hands out records after the acknowledged one, again and again until acknowledged."""

    def __init__(self, directory: Path, name: str) -> None:
        self.name = name
        self._directory = directory
        self._head = JournalHead.open(directory / f"{name}.head")
        self._words = self._head.words
        self._segment: mmap.mmap | None = None
        self._first = 0  # first record of the mapped segment
        self._cursor = 0  # last record before `_offset`; equals the acknowledged one between calls
        self._offset = 0
        self._ends: list[int] = []  # offsets after the records of the last read, while they are in one segment
        self._seek()

    @property
    def committed(self) -> int:
        return int(self._words[COMMITTED])

    @property
    def acknowledged(self) -> int:
        return int(self._words[ACKNOWLEDGED])

    @property
    def pending(self) -> int:
        return int(self._words[COMMITTED] - self._words[ACKNOWLEDGED])

    def read(self, max_records: int = 1000, max_bytes: int = 1 << 20) -> tuple[int, list[bytes]]:
        """Return (number of the first, records) after the acknowledged one; at least one when there is any."""
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
        """Record that records up to `number` are safe elsewhere.

        A number beyond what is committed counts as all of it.
        """
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
        self._words[ACKNOWLEDGED] = number

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
        self._words[ACKNOWLEDGED] = number
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
        if self._segment is not None and not self._is_left(self._segment):
            return True
        path = segment_path(self._directory, self.name, self._cursor + 1)
        if not path.exists():
            return False
        self._map(self._cursor + 1)
        return True

    def _is_left(self, segment: mmap.mmap) -> bool:
        """Check whether the next record is in another segment.

        A writer that is killed while it changes segments leaves the new one, and in the old one no mark that says so.
        """
        if is_closed(segment, self._offset):
            return True
        is_followed = self._first <= self._cursor and read_record(segment, self._offset) is None
        return is_followed and segment_path(self._directory, self.name, self._cursor + 1).exists()

    def _seek(self) -> None:
        """Find the acknowledged record by walking its segment."""
        self._cursor = self.acknowledged
        starts = segment_starts(self._directory, self.name)
        if not starts:
            return
        # Segments go only when acknowledged, so a head older than them (power failure) is corrected by them.
        target = max(self._cursor, starts[0] - 1)
        self._words[ACKNOWLEDGED] = target
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
