"""Segment file of a journal: a mapped, preallocated run of records, named after the number of its first record.

A record is length + 1 (u32; 0 is nothing yet), CRC-32 (u32), payload, padding to 8 bytes. `CLOSED` in place of the
length says that the next record is in the segment named after it. Space is allocated before it is mapped: a full disk
is then an OSError at creation and never a SIGBUS in the middle of a copy.
"""

import mmap
import os
import struct
import zlib
from pathlib import Path

PREFIX = struct.Struct("<II")
CLOSED = 0xFFFFFFFF
SEGMENT_BYTES = 4 * 1024 * 1024
_TEMPORARY = ".new"


def segment_path(directory: Path, name: str, first: int) -> Path:
    return directory / f"{name}.{first:020d}.seg"


def segment_starts(directory: Path, name: str) -> list[int]:
    """Return the first record numbers of the segments of one journal, ascending."""
    prefix, suffix = f"{name}.", ".seg"
    entries = (entry.name for entry in directory.iterdir())
    numbers = (e[len(prefix) : -len(suffix)] for e in entries if e.startswith(prefix) and e.endswith(suffix))
    return sorted(int(number) for number in numbers if number.isdigit())


def record_size(payload_bytes: int) -> int:
    return (PREFIX.size + payload_bytes + 7) & ~7


def create_segment(path: Path, size: int) -> mmap.mmap:
    """Create a zeroed, allocated and mapped file, under its final name only when complete."""
    fresh = path.with_suffix(path.suffix + _TEMPORARY)
    descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        allocate(descriptor, size)
        mapped = mmap.mmap(descriptor, size)
        fresh.rename(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    return mapped


def open_segment(path: Path, *, write: bool) -> mmap.mmap:
    descriptor = os.open(path, os.O_RDWR if write else os.O_RDONLY)
    try:
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_WRITE if write else mmap.ACCESS_READ)
    finally:
        os.close(descriptor)


def allocate(descriptor: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    # Without fallocate (macOS) blocks are claimed by writing them; a sparse file would fault when the disk is full.
    for start in range(0, size, 1 << 20):
        os.pwrite(descriptor, bytes(min(1 << 20, size - start)), start)


def read_record(mapped: mmap.mmap, offset: int) -> bytes | None:
    """Return the payload at `offset`; None when nothing whole is there (end, closed, torn)."""
    if offset + PREFIX.size > len(mapped):
        return None
    mark, checksum = PREFIX.unpack_from(mapped, offset)
    end = offset + PREFIX.size + mark - 1
    if mark in (0, CLOSED) or end > len(mapped):
        return None
    payload = mapped[offset + PREFIX.size : end]
    return payload if zlib.crc32(payload) == checksum else None


def is_closed(mapped: mmap.mmap, offset: int) -> bool:
    if offset + PREFIX.size > len(mapped):
        return True
    mark: int = PREFIX.unpack_from(mapped, offset)[0]
    return mark == CLOSED
