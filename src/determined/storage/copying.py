"""Copy and hash files near the speed of a plain copy: 16 MiB pieces on a few threads, hashed while they are in cache.

The hash finds damage, not malice (whoever can change a file can change the manifest): CRC-32 of each piece, folded with
BLAKE2b. SHA-256 runs at a third of the speed of `cp` here and would stall training for that long at each save.
"""

import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from determined.storage import tree

PIECE = 16 * 1024 * 1024
# Read, hashed and written again while it is in a core's own cache: twice as much falls out of it on common machines,
# and then one copy in two takes half as long again.
_BUFFER = 256 * 1024
THREADS = min(4, os.cpu_count() or 1)
_SMALL = 4 * 1024 * 1024
_PREFIX = "crc32-16m:"


def copy_files(pairs: Iterable[tuple[Path, Path]], below: int | None = None) -> list[tuple[int, str]]:
    """Copy each (source, destination); return size and hash of each. Parent directories must exist.

    With a directory's descriptor `below`, sources are relative to it and no link on the way is followed; they belong to
    a checkpoint, and copies may be written to although files that checkpoints share may not.
    """
    todo = list(pairs)
    for source, destination in todo:
        status = _status(source, below)
        with destination.open("wb") as out:
            # XFS else reserves up to twice the space of a file that several threads make longer, for minutes.
            out.truncate(status.st_size)
        destination.chmod(status.st_mode & 0o777 | (0 if below is None else stat.S_IWUSR))
    # By turns, so that threads write to different files: writers of one wait for each other inside the kernel.
    by_turns = sorted(_pieces(todo, below), key=lambda piece: piece.offset)
    return _digests(by_turns, len(todo))


def hash_files(paths: Iterable[Path]) -> list[tuple[int, str]]:
    """Return size and hash of each file."""
    todo = [(path, None) for path in paths]
    return _digests(list(_pieces(todo, None)), len(todo))


class Digest:
    """The hash of a file from what is written to it, in its order: as `hash_files` would find it."""

    def __init__(self) -> None:
        import hashlib  # as below

        self._fold = hashlib.blake2b(digest_size=16)
        self._crc = self._size = 0

    def parts(self, block: memoryview) -> list[tuple[memoryview, int]]:
        """Cut the next block of the file where hashed pieces end, and return each part with the CRC-32 to go on from.

        CRCs of these parts may be found in any order.
        """
        cuts = [0, *range(PIECE - self._size % PIECE, len(block), PIECE), len(block)]
        parts = [block[begin:end] for begin, end in pairwise(cuts) if begin < end]
        return [(part, 0 if index else self._crc) for index, part in enumerate(parts)]

    def add(self, parts: list[tuple[memoryview, int]], crcs: list[int]) -> None:
        """Go on behind what `parts` returned last."""
        for (part, _), crc in zip(parts, crcs, strict=True):
            self._size += len(part)
            self._crc = crc
            if self._size % PIECE == 0:
                self._fold.update(crc.to_bytes(4, "big"))
                self._crc = 0

    def result(self) -> tuple[int, str]:
        """Return size and hash of what was written up to now."""
        fold = self._fold.copy()
        if self._size % PIECE:
            fold.update(self._crc.to_bytes(4, "big"))
        return self._size, _PREFIX + fold.hexdigest()


@dataclass(frozen=True, slots=True)
class _Piece:
    file: int
    source: Path
    destination: Path | None
    offset: int
    length: int
    below: int | None


def _pieces(pairs: Sequence[tuple[Path, Path | None]], below: int | None) -> Iterator[_Piece]:
    for index, (source, destination) in enumerate(pairs):
        size = _status(source, below).st_size
        for offset in range(0, size, PIECE):
            yield _Piece(index, source, destination, offset, min(PIECE, size - offset), below)


def _status(source: Path, below: int | None) -> os.stat_result:
    return source.stat() if below is None else tree.status(below, str(source))


def _digests(pieces: list[_Piece], files: int) -> list[tuple[int, str]]:
    import hashlib  # loads OpenSSL, and most trials end without a checkpoint

    sizes = [0] * files
    folds = [hashlib.blake2b(digest_size=16) for _ in range(files)]
    for piece, crc in zip(pieces, _run(pieces), strict=True):
        sizes[piece.file] += piece.length
        folds[piece.file].update(crc.to_bytes(4, "big"))
    return [(size, _PREFIX + fold.hexdigest()) for size, fold in zip(sizes, folds, strict=True)]


def _run(pieces: list[_Piece]) -> list[int]:
    if sum(piece.length for piece in pieces) <= _SMALL or THREADS == 1:
        return [_process(piece) for piece in pieces]
    with ThreadPoolExecutor(THREADS, thread_name_prefix="checkpoint-copy") as pool:
        return list(pool.map(_process, pieces))


def _process(piece: _Piece) -> int:
    try:
        return _open_and_transfer(piece)
    except OSError as err:
        if err.errno is None or err.filename is not None:
            raise
        raise OSError(err.errno, err.strerror, str(piece.destination or piece.source)) from err


def _open_and_transfer(piece: _Piece) -> int:
    if piece.below is None:
        source = os.open(piece.source, os.O_RDONLY)
    else:
        source = tree.open_file(piece.below, str(piece.source))
    try:
        if piece.destination is None:
            return _transfer(piece, source, None)
        destination = os.open(piece.destination, os.O_WRONLY)
        try:
            return _transfer(piece, source, destination)
        finally:
            os.close(destination)
    finally:
        os.close(source)


def _transfer(piece: _Piece, source: int, destination: int | None) -> int:
    buffer = memoryview(bytearray(min(_BUFFER, piece.length)))
    crc, offset, end = 0, piece.offset, piece.offset + piece.length
    while offset < end:
        got = os.preadv(source, [buffer[: min(_BUFFER, end - offset)]], offset)
        if got == 0:
            raise OSError(f"{piece.source} became shorter while it was copied; do not write to a saved checkpoint")
        block = buffer[:got]
        crc = zlib.crc32(block, crc)
        if destination is not None:
            _write_all(destination, block, offset)
        offset += got
    return crc


def _write_all(destination: int, block: memoryview, offset: int) -> None:
    while block:
        wrote = os.pwrite(destination, block, offset)
        block, offset = block[wrote:], offset + wrote
