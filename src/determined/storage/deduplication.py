"""Deduplication of a store on a file system: what of a checkpoint is written, and what is stored already."""

import contextlib
import logging
import os
import stat
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

from determined.storage import block_names, blocks, content_index, copying, shared_parts, tree
from determined.storage.content_index import ContentIndex
from determined.storage.fields import Deduplicate
from determined.storage.hashed_files import HashedFiles
from determined.storage.manifest import Entry
from determined.storage.shared_parts import Part

logger = logging.getLogger("determined.core")

_SWEEP_EVERY = 2 * 24 * 3600.0  # seconds; twice as rarely as a master that knows the storage


class Deduplication:
    """Deduplication of the store at `base`, as its section asks for it."""

    def __init__(self, base: str, mode: Deduplicate) -> None:
        self._base = base
        self._mode = mode
        self._earlier: dict[str, Path] = {}  # by path in a checkpoint: the file stored or read last
        self._clones = True  # until the file system says that it has none

    def stage_written(self, staging: Path, files: list[str], hashed: HashedFiles) -> list[Entry]:
        """Replace those files that were written to the staging directory and are stored already."""
        digests = hashed.digests(staging / path for path in files)
        entries = [Entry(path, *digest) for path, digest in zip(files, digests, strict=True)]
        index = self._index(staging)
        if self._mode is Deduplicate.FILES:
            for path in self._large(staging, files):
                if not index.take(staging / path, staging / path):
                    self._share_parts(path, staging / path, staging / path)
        return self._in_blocks(staging, staging, entries)

    def stage_copies(self, source: Path, staging: Path, files: list[str]) -> list[Entry]:
        """Bring files to the staging directory, without writing what is stored already."""
        large = self._large(source, files)
        index = self._index(staging)
        unwritten, read_from = set(large), source
        if self._mode is Deduplicate.FILES:
            unwritten = {path for path in large if self._bring(index, path, source, staging)}
            read_from = staging
        written = [path for path in files if path not in unwritten]
        copied = copying.copy_files((source / path, staging / path) for path in written)
        known = dict(zip(written, copied, strict=True))
        known |= zip(unwritten, copying.hash_files([read_from / path for path in unwritten]), strict=True)
        return self._in_blocks(source, staging, [Entry(path, *known[path]) for path in files])

    def note(self, final: Path, entries: Iterable[Entry]) -> None:
        """Enter what is published in the index. What is only staged is not shared: somebody may still write to it."""
        large = [entry for entry in entries if entry.size >= content_index.LEAST]
        if self._mode is Deduplicate.NONE or not large:
            return
        index = self._index(final)
        self.remember(final, large)
        for entry in large:
            if not entry.blocks:
                index.note(final / entry.path)
            for name in set(entry.blocks):
                _note_block(index, final / block_names.path(name))
        index.sweep_if_due(time.time(), _SWEEP_EVERY)

    def remember(self, final: Path, entries: Iterable[Entry]) -> None:
        """Remember a checkpoint that was stored or read: the next one may have much in common with it."""
        if self._mode is Deduplicate.FILES and self._clones:
            large = [entry for entry in entries if entry.size >= content_index.LEAST and not entry.blocks]
            self._earlier = {entry.path: final / entry.path for entry in large}

    @contextlib.contextmanager
    def releasing(self, parent: int, name: str | None = None) -> Iterator[None]:
        """Release what nobody else has of the directory `parent`, or `name` in it, once the block has removed it."""
        keys: set[str] = set()
        uid = os.geteuid()
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            fd = parent if name is None else stack.enter_context(tree.directory(name, parent))
            uid, keys = os.fstat(fd).st_uid, _shared_keys(fd)
        yield
        if keys:
            ContentIndex(self._base, uid).release(keys)

    def _index(self, directory: Path) -> ContentIndex:
        return ContentIndex(self._base, directory.stat().st_uid)

    def _large(self, source: Path, files: Iterable[str]) -> list[str]:
        if self._mode is Deduplicate.NONE:
            return []
        return [path for path in files if (source / path).stat().st_size >= content_index.LEAST]

    def _bring(self, index: ContentIndex, path: str, source: Path, staging: Path) -> bool:
        """Make a file of the staging directory out of what is stored; False where it has to be copied."""
        return index.take(source / path, staging / path) or self._share_parts(path, source / path, staging / path)

    def _share_parts(self, path: str, source: Path, target: Path) -> bool:
        """Put a file in the place of `target` that shares with the last checkpoint what `source` has in common."""
        if not self._clones or path not in self._earlier:
            return False
        try:
            with source.open("rb") as new, self._earlier[path].open("rb") as earlier:
                parts = shared_parts.find(new.fileno(), earlier.fileno())
                return bool(parts) and self._write_shared(new.fileno(), earlier.fileno(), parts, target)
        except OSError as err:
            logger.debug("%s shares nothing with %s: %s", target, self._earlier[path], err)
            return False

    def _write_shared(self, new: int, earlier: int, parts: list[Part], target: Path) -> bool:
        part = target.with_name(f".{uuid.uuid4()}.part")  # no name that the user has given to another file
        try:
            with part.open("xb") as out:
                self._clones = shared_parts.write(new, earlier, parts, out.fileno())
                os.fchmod(out.fileno(), os.fstat(new).st_mode & 0o777)
            if self._clones:
                part.replace(target)
            return self._clones
        finally:
            part.unlink(missing_ok=True)

    def _in_blocks(self, source: Path, staging: Path, entries: list[Entry]) -> list[Entry]:
        """Store large files as blocks, where the section asks for them."""
        if self._mode is not Deduplicate.BLOCKS:
            return entries
        index = self._index(staging)
        return [
            _in_blocks(source / entry.path, staging, entry, index) if entry.size >= content_index.LEAST else entry
            for entry in entries
        ]


def _in_blocks(source: Path, staging: Path, entry: Entry, index: ContentIndex) -> Entry:
    names = blocks.store(source, staging, index)
    (staging / entry.path).unlink(missing_ok=True)  # written there, or staged before in another form
    return Entry(entry.path, entry.size, entry.hash, names)


def _note_block(index: ContentIndex, block: Path) -> None:
    is_known = block.stat().st_nlink > 1
    if not is_known and block_names.key_of(block.name) == block.name:
        index.note(block, block.name)


def _shared_keys(fd: int) -> set[str]:
    """Return the keys of files below `fd` that have more than one name: those that an index may hold."""
    keys = set()
    for path, status in tree.walk(fd):
        if not stat.S_ISREG(status.st_mode) or status.st_nlink == 1:
            continue
        if path.startswith(f"{block_names.DIRECTORY}/"):
            keys.add(block_names.key_of(path.rpartition("/")[2]))
        elif status.st_size >= content_index.LEAST:
            with contextlib.suppress(OSError), os.fdopen(tree.open_file(fd, path), "rb") as file:
                keys.add(content_index.content_key(file.fileno()))
    return keys
