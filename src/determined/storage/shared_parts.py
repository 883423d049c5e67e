"""Parts of a file that are the same in an earlier one, shared with it on file systems that have clones.

The earlier file is the one of the same path in the last checkpoint that this process has stored or read. The new file
stays a plain file: what is shared is known to the file system alone.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from determined.storage.block_cuts import Span, tensors
from determined.storage.cloning import clone_range

_COMPARED = 1024 * 1024
_PROBE = 4096
_WORTH = 8  # a file of which less than an eighth is the same is left as it is


@dataclass(frozen=True, slots=True)
class Part:
    """Part of a new file, at `begin`, that is at `known` in the earlier one."""

    begin: int
    known: int
    length: int


def find(new: int, earlier: int) -> list[Part]:
    """Return the parts of file `new` that `earlier` has, such as its file system can share; none if they are few.

    What differs is found by its first bytes: where all of a file has changed, hardly anything is read.
    """
    size, unit = os.fstat(new).st_size, os.fstatvfs(new).f_bsize
    parts: list[Part] = []
    for candidate in _candidates(new, earlier):
        for piece in _pieces(candidate, unit):
            if _is_same(new, earlier, piece):
                _add(parts, piece)
    return parts if sum(part.length for part in parts) * _WORTH >= size else []


def write(new: int, earlier: int, parts: list[Part], target: int) -> bool:
    """Write the content of `new` to `target`, which shares `parts` with `earlier`; False where it cannot."""
    size, position = os.fstat(new).st_size, 0
    os.ftruncate(target, size)
    for part in parts:
        if not clone_range(earlier, part.known, part.length, target, part.begin):
            return False
    for part in [*parts, Part(size, 0, 0)]:
        _copy(new, target, position, part.begin)
        position = part.begin + part.length
    return True


def _candidates(new: int, earlier: int) -> list[Part]:
    """Return which parts of two files are to be compared: each large tensor, and what is at the same place in both."""
    here, there = tensors(new), tensors(earlier)
    size = min(os.fstat(new).st_size, os.fstat(earlier).st_size)
    if not here or [_length(span) for span in here] != [_length(span) for span in there]:
        return [Part(0, 0, size)]
    return [Part(span[0], known[0], _length(span)) for span, known in zip(here, there, strict=True)]


def _length(span: Span) -> int:
    return span[1] - span[0]


def _pieces(part: Part, unit: int) -> Iterator[Part]:
    """Cut a part at the file system's blocks; none where these lie differently in the two files."""
    skipped = -part.begin % unit
    if (part.known + skipped) % unit:
        return
    usable = (part.length - skipped) // unit * unit
    for offset in range(skipped, skipped + usable, _COMPARED):
        yield Part(part.begin + offset, part.known + offset, min(_COMPARED, skipped + usable - offset))


def _is_same(new: int, earlier: int, part: Part) -> bool:
    return all(
        os.pread(new, length, part.begin) == os.pread(earlier, length, part.known)
        for length in (min(_PROBE, part.length), part.length)
    )


def _add(parts: list[Part], part: Part) -> None:
    """Add a part, to the last one where it follows in both files."""
    last = parts[-1] if parts else Part(0, 0, 0)
    if parts and (part.begin, part.known) == (last.begin + last.length, last.known + last.length):
        parts[-1] = Part(last.begin, last.known, last.length + part.length)
    else:
        parts.append(part)


def _copy(source: int, target: int, begin: int, end: int) -> None:
    while begin < end:
        content = os.pread(source, min(_COMPARED, end - begin), begin)
        if not content:
            raise OSError("a file became shorter while it was stored; do not write to a saved checkpoint")
        begin += os.pwrite(target, content, begin)
