"""Deduplication of a store on a file system: what of a checkpoint is written, and what is stored already."""

import contextlib
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from determined.storage import content_index, copying, tree
from determined.storage.content_index import ContentIndex
from determined.storage.fields import Deduplicate
from determined.storage.manifest import Entry

_SWEEP_EVERY = 2 * 24 * 3600.0  # seconds; twice as rarely as a master that knows the storage


class Deduplication:
    """Deduplication of the store at `base`, as its section asks for it."""

    def __init__(self, base: str, mode: Deduplicate) -> None:
        self._base = base
        self._mode = mode

    def replace(self, staging: Path, files: Iterable[str]) -> None:
        """Put what is stored already in the place of staged files that have the same content."""
        self._take(staging, staging, files)

    def copy(self, source: Path, staging: Path, files: list[str]) -> list[tuple[int, str]]:
        """Bring files to the staging directory, without writing what is stored already; size and hash of each."""
        taken = self._take(source, staging, files)
        rest = [path for path in files if path not in taken]
        copied = copying.copy_files((source / path, staging / path) for path in rest)
        known = dict(zip(rest, copied, strict=True))
        known |= zip(taken, copying.hash_files([staging / path for path in taken]), strict=True)
        return [known[path] for path in files]

    def note(self, final: Path, entries: Iterable[Entry]) -> None:
        """Enter what is published in the index. What is only staged is not shared: somebody may still write to it."""
        large = [entry.path for entry in entries if entry.size >= content_index.LEAST]
        if self._mode is Deduplicate.NONE or not large:
            return
        index = ContentIndex(self._base, final.stat().st_uid)
        for path in large:
            index.note(final / path)
        index.sweep_if_due(time.time(), _SWEEP_EVERY)

    @contextlib.contextmanager
    def releasing(self, parent: int, name: str | None = None) -> Iterator[None]:
        """Release what nobody else has of the directory `parent`, or `name` in it, once the block has removed it."""
        keys: set[str] = set()
        uid = os.geteuid()
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            fd = parent if name is None else stack.enter_context(tree.directory(name, parent))
            uid, keys = os.fstat(fd).st_uid, content_index.shared_keys(fd)
        yield
        if keys:
            ContentIndex(self._base, uid).release(keys)

    def _take(self, source: Path, staging: Path, files: Iterable[str]) -> set[str]:
        if self._mode is Deduplicate.NONE:
            return set()
        index = ContentIndex(self._base, staging.stat().st_uid)
        large = [path for path in files if (source / path).stat().st_size >= content_index.LEAST]
        return {path for path in large if index.take(source / path, staging / path)}
