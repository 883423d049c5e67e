"""Places at which a file is cut into blocks, so that what did not change is the same block again.

Files of torch (zip archives that compress nothing) and of safetensors are cut where a large tensor begins: what is
before it, such as counters and random states, may grow without moving the content of later blocks. Other files are cut
by size.
"""

import os
import struct
from collections.abc import Iterator
from itertools import pairwise

import msgspec

BLOCK = 4 * 1024 * 1024
_LARGE = 256 * 1024  # bytes of a tensor that gets blocks of its own
_GAP = 64 * 1024  # bytes between two such tensors that do
_ZIP, _ZIP_HEADER = b"PK\x03\x04", 30
_MOST_JSON = 100 * 1024 * 1024  # safetensors allows no longer header

Span = tuple[int, int]


def cuts(fd: int, most: int = BLOCK) -> list[Span]:
    """Return begin and length of each block of a file, in its order."""
    size = os.fstat(fd).st_size
    bounds = sorted({0, size, *_bounds(tensors(fd))})
    return [(begin, min(most, end - begin)) for start, end in pairwise(bounds) for begin in range(start, end, most)]


def tensors(fd: int) -> list[Span]:
    """Return begin and end of the large tensors of a file, sorted; none where it is of another format, or damaged."""
    import zipfile  # takes milliseconds, and most training processes read nothing in blocks

    read = _zip_records if os.pread(fd, len(_ZIP), 0) == _ZIP else _safetensors
    try:
        spans = list(read(fd))
    except (zipfile.BadZipFile, struct.error, OSError, ValueError, NotImplementedError, RecursionError):
        return []
    size = os.fstat(fd).st_size
    return sorted((begin, end) for begin, end in spans if begin >= 0 and end <= size and end - begin >= _LARGE)


def _bounds(spans: list[Span]) -> Iterator[int]:
    for (begin, end), (following, _) in pairwise([*spans, (2**63, 2**63)]):
        yield begin
        if following - end >= _GAP:
            yield end


def _zip_records(fd: int) -> Iterator[Span]:
    import zipfile

    with os.fdopen(os.dup(fd), "rb") as file, zipfile.ZipFile(file) as archive:
        for record in archive.infolist():
            if record.compress_type == zipfile.ZIP_STORED and record.file_size >= _LARGE:
                header = os.pread(fd, _ZIP_HEADER, record.header_offset)
                name, extra = struct.unpack_from("<HH", header, _ZIP_HEADER - 4)
                begin = record.header_offset + _ZIP_HEADER + name + extra
                yield begin, begin + record.file_size


class _Tensor(msgspec.Struct):
    data_offsets: Span


def _safetensors(fd: int) -> Iterator[Span]:
    (length,) = struct.unpack("<Q", os.pread(fd, 8, 0))
    if length > _MOST_JSON or os.pread(fd, 1, 8) != b"{":
        return
    listed = msgspec.json.decode(os.pread(fd, length, 8), type=dict[str, msgspec.Raw])
    for name, raw in listed.items():
        if name != "__metadata__":
            begin, end = msgspec.json.decode(raw, type=_Tensor).data_offsets
            yield 8 + length + begin, 8 + length + end
