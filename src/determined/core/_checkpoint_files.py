"""Checkpoint files between this job's ranks and a store: whole or in shards, downloads shared by a node's workers."""

import contextlib
import json
import logging
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar, cast

from determined._json import JsonObject
from determined.core import _sharding
from determined.core._distributed import DistributedContext
from determined.core._modes import DownloadMode
from determined.core._sharding import METADATA, Share
from determined.errors import CheckpointDamaged, CheckpointNotFound, CheckpointNotStored
from determined.storage import Selector, StorageManager
from determined.storage.listing import list_directory, select
from determined.storage.manifest import Entry, resources
from determined.wire.userdata import json_encode

logger = logging.getLogger("determined.core")

T = TypeVar("T")
Stored = tuple[dict[str, int], JsonObject]  # resources to report, merged metadata


class CheckpointFiles:
    """The file side of CheckpointContext. Collective calls: an error on one rank is an error on all."""

    def __init__(self, dist: DistributedContext, storage: StorageManager) -> None:
        self._dist = dist
        self.storage = storage

    def upload(
        self, directory: Path, storage_id: str, metadata: JsonObject, selector: Selector | None
    ) -> dict[str, int]:
        """Store one rank's directory; the resources to report."""
        write_metadata(directory, metadata)
        files = list_directory(directory)
        paths = select(files, selector)
        self.storage.upload(directory, storage_id, paths)
        stored = {path: files[path] for path in sorted(paths)}
        self._check_stored(storage_id, stored)
        return stored

    def upload_shards(
        self,
        directory: Path | None,
        storage_id: str,
        metadata: JsonObject,
        selector: Selector | None,
        check: Callable[[JsonObject], None],
    ) -> Stored:
        """Store the union of all ranks' files, on all ranks together; the same answer on every rank.

        `check` refuses merged metadata before anything is copied.
        """
        shares = self._agree(self._share(directory, metadata, selector))
        merged = self._merged(shares)
        check(merged)
        writer = next(rank for rank, share in enumerate(shares) if share.directory is not None)
        self._refuse_conflicts(shares, directory)

        def stage() -> list[Entry]:
            mine = _sharding.assigned(self._dist.rank, shares)
            if self._dist.rank == writer and directory is not None:
                write_metadata(directory, merged)
                mine.add(METADATA)
            return [] if directory is None or not mine else self.storage.stage(directory, storage_id, mine)

        entries = [entry for part in self._together(stage, storage_id) for entry in part]
        stored = resources({entry.path: entry for entry in entries}.values())

        def publish() -> None:
            self.storage.publish(storage_id, entries)
            self._check_stored(storage_id, stored)  # also what other ranks staged: their disk may be another one

        self._on_chief(publish)
        return stored, merged

    def publish_shared(
        self,
        directory: Path,
        storage_id: str,
        metadata: JsonObject,
        check: Callable[[JsonObject], None],
    ) -> Stored:
        """Publish the one directory that all ranks have written into, on all ranks together."""
        merged = self._merged(self._dist.allgather(Share(metadata=metadata)))
        check(merged)

        def publish() -> dict[str, int]:
            write_metadata(directory, merged)
            entries = self.storage.stage(directory, storage_id)
            self.storage.publish(storage_id, entries)
            stored = resources(entries)
            self._check_stored(storage_id, stored)
            return stored

        return self._on_chief(publish), merged

    def _check_stored(self, storage_id: str, stored: dict[str, int]) -> None:
        """Look for it by the path that the next run uses, before anybody is told that it can be restored."""
        try:
            self.storage.check(storage_id, stored)
        except (CheckpointNotFound, CheckpointDamaged, OSError) as err:
            raise CheckpointNotStored(
                f"checkpoint {storage_id} was written to {self.storage._base_path} and cannot be restored from there: "
                f"{err}; it is not reported. Is that directory the same for every rank and node?"
            ) from err

    def download(self, storage_id: str, directory: Path, mode: DownloadMode, selector: Selector | None) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        if mode is DownloadMode.NoSharedDownload:
            self.storage.download(storage_id, directory, selector)
            return
        chosen = self._wanted_by_node(storage_id, selector)
        self._on_local_chief(lambda: self.storage.download(storage_id, directory, chosen))

    @contextlib.contextmanager
    def restored(self, storage_id: str, mode: DownloadMode, selector: Selector | None) -> Iterator[Path]:
        if mode is DownloadMode.NoSharedDownload:
            with self.storage.restore_path(storage_id, selector) as path:
                yield path
            return
        chosen = self._wanted_by_node(storage_id, selector)
        with contextlib.ExitStack() as held:
            yield self._on_local_chief(lambda: held.enter_context(self.storage.restore_path(storage_id, chosen)))
            # Nobody's files may go before everybody on the node has left the block. After an error nobody is waited
            # for: the others may wait for this rank in turn, and learn of its end from the next call they make.
            self._dist.gather_local(None)

    def _share(self, directory: Path | None, metadata: JsonObject, selector: Selector | None) -> Share:
        if directory is None:
            error = "a selector without a ckpt_dir selects nothing; pass both or neither" if selector else None
            return Share(metadata=metadata, error=error)
        try:
            files = list_directory(directory)
            status = directory.stat()
            paths = {path: files[path] for path in select(files, selector) if path != METADATA}
        except Exception as err:  # noqa: BLE001  told to all ranks, or the others would wait for this one for ever
            return Share(error=f"rank {self._dist.rank}: {err}")
        identity = (self._dist.cross_rank, status.st_dev, status.st_ino)
        return Share(identity, selector is not None, paths, metadata)

    def _agree(self, mine: Share) -> list[Share]:
        shares: list[Share] = self._dist.allgather(mine)
        errors = [share.error for share in shares if share.error]
        if errors:
            raise RuntimeError(f"refusing to upload: {'; '.join(errors)}")
        if all(share.directory is None for share in shares):
            raise RuntimeError("refusing to upload: every rank passed ckpt_dir=None, there is nothing to store")
        uploads = _sharding.uploaders(shares)
        return [
            share if upload else Share(share.directory, share.has_selector, {}, share.metadata)
            for share, upload in zip(shares, uploads, strict=True)
        ]

    def _merged(self, shares: list[Share]) -> JsonObject:
        merged, clashes = _sharding.merge_metadata([share.metadata for share in shares])
        if clashes:
            raise RuntimeError(f"refusing to upload with metadata conflicts: ranks give different values for {clashes}")
        return merged

    def _refuse_conflicts(self, shares: list[Share], directory: Path | None) -> None:
        twice = _sharding.duplicates(shares)
        mine = [path for path in shares[self._dist.rank].paths if path in twice]
        hashes = self._each(lambda: {path: _md5(directory / path) for path in mine} if directory is not None else {})
        clashing = _sharding.conflicts(shares, hashes)
        if clashing:
            lines = [f"{path} (ranks {ranks})" for path, ranks in sorted(clashing.items())]
            raise RuntimeError("refusing to upload with files conflicts:\n" + "\n".join(lines))

    def _together(self, work: Callable[[], T], storage_id: str) -> list[T]:
        """Do as `_each`; if one fails nothing stays behind."""
        try:
            return self._each(work)
        except RuntimeError:
            if self._dist.rank == 0:
                self.storage.discard(storage_id)
            raise

    def _each(self, work: Callable[[], T]) -> list[T]:
        """Return every rank's result on every rank; if one fails all do."""
        outcomes = self._dist.allgather(_attempt(work))
        errors = [(rank, err) for rank, (err, _) in enumerate(outcomes) if err is not None]
        if errors:
            raise RuntimeError(f"rank {errors[0][0]} could not store its part: {errors[0][1]}") from errors[0][1]
        return [cast(T, result) for _, result in outcomes]

    def _on_chief(self, work: Callable[[], T]) -> T:
        err, result = self._dist.broadcast(_attempt(work) if self._dist.rank == 0 else None)
        if err is not None:
            raise err
        return result  # type: ignore[no-any-return]

    def _on_local_chief(self, work: Callable[[], T]) -> T:
        err, result = self._dist.broadcast_local(_attempt(work) if self._dist.local_rank == 0 else None)
        if err is not None:
            raise err
        return result  # type: ignore[no-any-return]

    def _wanted_by_node(self, storage_id: str, selector: Selector | None) -> Selector | None:
        """A file is fetched when any worker of the node wants it; a worker without a selector wants all."""
        if not any(self._dist.allgather_local(selector is not None)):
            return None
        names: list[str] = self._on_local_chief(lambda: [entry.path for entry in self.storage.entries(storage_id)])
        chosen = {name for name in names if selector is None or selector(name)}
        union: set[str] = set().union(*self._dist.allgather_local(chosen))
        return union.__contains__


def write_metadata(directory: Path, metadata: JsonObject) -> None:
    (directory / METADATA).write_text(json_encode(metadata, indent=2) + "\n")


def read_metadata(storage: StorageManager, storage_id: str) -> JsonObject:
    """Return what a stored checkpoint says about itself. Raises CheckpointNotFound."""
    if METADATA not in {entry.path for entry in storage.entries(storage_id)}:
        raise CheckpointNotFound(f"checkpoint {storage_id} has no {METADATA}; it was stored without metadata")
    return dict(json.loads(storage.read(f"{storage_id}/{METADATA}")))


def _attempt(work: Callable[[], T]) -> tuple[Exception | None, T | None]:
    try:
        return None, work()
    except Exception as err:  # noqa: BLE001  handed to every rank, which raises it: alone it would hang the others
        return _portable(err), None


def _portable(err: Exception) -> Exception:
    """Some drivers' errors cannot be unpickled; another rank gets their words."""
    try:
        pickle.loads(pickle.dumps(err))  # noqa: S301  our own, a moment ago
    except Exception:  # noqa: BLE001  whatever its class does, the words remain
        return RuntimeError(f"{type(err).__name__}: {err}")
    return err


def _md5(path: Path) -> str:
    import hashlib  # loads OpenSSL, and only sharded checkpoints compare files

    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as source:
        while block := source.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
