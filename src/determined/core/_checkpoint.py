"""CheckpointContext: save, find and load checkpoints, and tell the master about them."""

import contextlib
import logging
import os
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from determined._json import JsonObject
from determined.core._checkpoint_background import BackgroundSave, BackgroundSaves
from determined.core._checkpoint_files import CheckpointFiles, Stored
from determined.core._disk_full import naming_full_store
from determined.core._distributed import DistributedContext
from determined.core._master import Master
from determined.core._modes import DownloadMode
from determined.core._reporter import Reporter
from determined.core._shared_block import SharedBlock
from determined.errors import CheckpointNotStored, NotFound
from determined.storage import Selector, StorageManager
from determined.wire.report import CheckpointReport
from determined.wire.userdata import to_plain

logger = logging.getLogger("determined.core")

Directory = str | os.PathLike[str]


class CheckpointContext:
    """Checkpoints of a trial. A half-written one is never seen: it is published as a whole or not at all."""

    def __init__(
        self,
        *,
        dist: DistributedContext,
        storage_manager: StorageManager,
        reporter: Reporter,
        master: Master,
        storage_id: int | None = None,
        before_report: Callable[[], None] = lambda: None,
    ) -> None:
        self._dist = dist
        self._storage_manager = storage_manager
        self._files = CheckpointFiles(dist, storage_manager)
        self._reporter = reporter
        self._master = master
        self._storage_id = storage_id
        self._before_report = before_report
        self._background = BackgroundSaves()
        self._background_dist: DistributedContext | None = None

    def upload(
        self,
        ckpt_dir: Directory | None,
        metadata: JsonObject | None = None,
        *,
        shard: bool = False,
        selector: Selector | None = None,
    ) -> str:
        """Store a directory as a checkpoint and report it.

        Args:
            ckpt_dir: what to store; in a sharded upload a rank with nothing passes None.
            metadata: must hold an int `steps_completed`.
            shard: collective; every rank brings a part.
            selector: which relative paths to store (directories end with `/`).

        Returns:
            The checkpoint's storage id.

        Raises:
            ValueError: `metadata` lacks `steps_completed`.
            RuntimeError: a rank other than the chief without `shard`, nothing to store, or ranks that disagree.
            CheckpointNotStored: the files are not where the next run and the master look for them.

        Example:
            >>> with open("model/weights", "w") as f: f.write("1")
            >>> core_context.checkpoint.upload("model", {"steps_completed": 1})
        """
        self._background.wait()
        given = dict(metadata or {})
        directory = None if ckpt_dir is None else Path(ckpt_dir)
        if shard:
            storage_id = self._dist.broadcast(str(uuid.uuid4()))
            stored = self._files.upload_shards(directory, storage_id, given, selector, self._check)
            self._finish(storage_id, *stored)
            self._note_uploaded(directory)
            return str(storage_id)
        self._only_chief("upload")
        self._check(given)
        if directory is None:
            raise RuntimeError("ckpt_dir=None is for sharded uploads; pass a directory, or shard=True on every rank")
        storage_id = str(uuid.uuid4())
        with naming_full_store(self._storage_manager):
            resources = self._files.upload(directory, storage_id, given, selector)
        self._finish(storage_id, resources, given)
        self._note_uploaded(directory)
        return storage_id

    @contextlib.contextmanager
    def store_path(self, metadata: JsonObject | None = None, *, shard: bool = False) -> Iterator[tuple[Path, str]]:
        """Yield (directory to write into, storage id); store and report it on a clean exit, drop it otherwise.

        Raises:
            ValueError: `metadata` lacks `steps_completed`.
            RuntimeError: a rank other than the chief without `shard`, ranks that disagree, or another rank has failed
                in its block; every rank gets this, also from an exchange of its own in there.
            CheckpointNotStored: the files are not where the next run and the master look for them.

        Example:
            >>> with core_context.checkpoint.store_path({"steps_completed": 1}) as (path, storage_id):
            ...     (path / "weights").write_text("1")
        """
        self._background.wait()
        given = dict(metadata or {})
        if shard:
            with self._store_shards(given) as place:
                yield place
            return
        self._only_chief("store_path")
        self._check(given)
        storage_id = str(uuid.uuid4())
        with self._kept(storage_id) as path:
            yield path, storage_id
            resources = self._files.upload(path, storage_id, given, None)
        self._finish(storage_id, resources, given)

    @contextlib.contextmanager
    def store_path_async(self, metadata: JsonObject | None = None, *, shard: bool = False) -> Iterator[BackgroundSave]:
        """Do as `store_path`, but hash, store and report the files in the background once the block is left.

        What the block writes by itself, and what it hands to `BackgroundSave.write_later`, is stored. The next save
        waits for this one, and so do the end of an operation of the searcher, whatever else uses checkpoints of this
        context, and its end. A checkpoint that could not be stored is never reported.

        Raises:
            Exception: what went wrong with the last save in the background, whatever it is.
            ValueError, RuntimeError: as `store_path` does.

        Example:
            >>> with core_context.checkpoint.store_path_async({"steps_completed": 1}) as save:
            ...     (save.path / "weights").write_text("1")
            >>> save.wait()  # for who wants to know now whether it is stored
        """
        self._background.wait()
        given = dict(metadata or {})
        if shard:
            with self._begin_shards(given) as save:
                yield save
            return
        self._only_chief("store_path_async")
        self._check(given)
        storage_id = str(uuid.uuid4())
        with contextlib.ExitStack() as kept:
            save = BackgroundSave(kept.enter_context(self._kept(storage_id)), storage_id)
            yield save
            rest = kept.pop_all()

        def store() -> None:
            with rest:
                save._write()
                resources = self._files.upload(save.path, storage_id, given, None)
            self._finish(storage_id, resources, given)

        self._background.start(save, store)

    def download(
        self,
        storage_id: str,
        ckpt_dir: Directory,
        download_mode: DownloadMode | str = DownloadMode.LocalWorkersShareDownload,
        *,
        selector: Selector | None = None,
    ) -> None:
        """Copy a checkpoint into `ckpt_dir`, each file checked against its manifest.

        Raises:
            CheckpointNotFound: no such checkpoint, or one that was never completed.
            CheckpointDamaged: a file is not what was stored.
        """
        self._background.wait()
        self._files.download(storage_id, Path(ckpt_dir), DownloadMode(download_mode), selector)

    @contextlib.contextmanager
    def restore_path(
        self,
        storage_id: str,
        download_mode: DownloadMode | str = DownloadMode.LocalWorkersShareDownload,
        *,
        selector: Selector | None = None,
    ) -> Iterator[Path]:
        """Yield a directory that holds the checkpoint for the length of the block. Raises as `download`."""
        self._background.wait()
        with self._files.restored(storage_id, DownloadMode(download_mode), selector) as path:
            yield path

    def get_metadata(self, storage_id: str) -> JsonObject:
        """The metadata the master has; {} when there is none."""
        from determined.wire.checkpoint import GET_CHECKPOINT

        self._background.wait()
        path, settled = GET_CHECKPOINT.at(checkpoint_uuid=storage_id), self._reporter.settle
        answer = self._master.insist(lambda s: s.get(path), "checkpoint.get_metadata", after=settled)
        return answer["checkpoint"].get("metadata") or {}  # of all that a checkpoint has, only this is needed

    def delete(self, storage_id: str) -> None:
        """Delete a checkpoint's files, after the master has heard of it: it must not be one to resume from meanwhile.

        While the master is away this waits for it.
        """
        from determined.wire import checkpoint as wire

        self._background.wait()
        nothing = wire.PatchCheckpointOptionalResources(resources={})
        request = wire.PatchCheckpointsRequest(checkpoints=[wire.PatchCheckpoint(uuid=storage_id, resources=nothing)])
        what, settled = "checkpoint.delete", self._reporter.settle
        with contextlib.suppress(NotFound):
            self._master.insist(lambda s: s.call(wire.PATCH_CHECKPOINTS, request), what, after=settled)
        self._storage_manager.delete(storage_id, ["**/*"])

    def _create_file(self, path: Path) -> contextlib.AbstractContextManager[BinaryIO]:
        """A new file in the directory of `store_path`, hashed while it is written and not once more afterwards."""
        return self._storage_manager.create_file(path)

    @contextlib.contextmanager
    def _store_shards(self, metadata: JsonObject) -> Iterator[tuple[Path, str]]:
        storage_id: str = self._dist.broadcast(str(uuid.uuid4()))
        saving = SharedBlock(self._dist, " while saving")
        with self._kept(storage_id, lambda: saving.is_over) as path:
            with saving:
                yield path, storage_id
            stored = self._store_files(self._files, path, storage_id, metadata)
        self._finish(storage_id, *stored)

    @contextlib.contextmanager
    def _begin_shards(self, metadata: JsonObject) -> Iterator[BackgroundSave]:
        storage_id: str = self._dist.broadcast(str(uuid.uuid4()))
        dist = self._connect_background()
        saving, writing = SharedBlock(self._dist, " while saving"), SharedBlock(dist, " while saving")
        block = saving
        with contextlib.ExitStack() as kept:
            path = kept.enter_context(self._kept(storage_id, lambda: block.is_over))
            with saving:
                save = BackgroundSave(path, storage_id)
                yield save
            block, rest = writing, kept.pop_all()

        def store() -> None:
            with rest:
                with writing:
                    save._write()
                stored = self._store_files(CheckpointFiles(dist, self._storage_manager), path, storage_id, metadata)
            self._finish(storage_id, *stored)

        self._background.start(save, store)

    def _connect_background(self) -> DistributedContext:
        """Return the ranks of this job on connections that the background thread has for itself. Collective."""
        if self._background_dist is None:
            self._background_dist = self._dist._connected_again()
        return self._background_dist

    def _store_files(self, files: CheckpointFiles, path: Path, storage_id: str, metadata: JsonObject) -> Stored:
        """Store what all ranks have written, on all of them together."""
        if self._storage_manager.store_path_is_direct_access():
            return files.publish_shared(path, storage_id, metadata, self._check)
        return files.upload_shards(path, storage_id, metadata, None, self._check)

    def _wait(self) -> None:
        """Wait for the save in the background. Raises what it failed with."""
        self._background.wait()

    def _close(self) -> None:
        """Wait for the save in the background; a failure is in the log."""
        self._background.let_finish()
        if self._background_dist is not None and self._background_dist is not self._dist:
            self._background_dist.close()

    @contextlib.contextmanager
    def _kept(self, storage_id: str, is_ours: Callable[[], bool] = lambda: True) -> Iterator[Path]:
        """A directory to write into that leaves nothing behind when the block fails.

        `is_ours`: asked then, whether no other rank writes there. One that does leaves nothing behind either.
        """
        path = self._storage_manager.pre_store_path(storage_id)
        try:
            with naming_full_store(self._storage_manager):  # before what was written is removed
                yield path
        except BaseException:
            if is_ours():
                self._storage_manager.discard(storage_id)
            raise
        finally:
            self._storage_manager.release_store_path(path)

    def _finish(self, storage_id: str, resources: dict[str, int], metadata: JsonObject) -> None:
        if self._dist.rank == 0:
            self._report(storage_id, resources, metadata)

    def _report(self, storage_id: str, resources: dict[str, int], metadata: JsonObject) -> None:
        plain = to_plain(metadata)
        steps = plain["steps_completed"]
        self._before_report()  # who resumes from it does not take, or tell of, the steps before it again
        self._reporter.report(CheckpointReport(storage_id, steps, plain, resources, time.time(), self._storage_id))
        if self._reporter.settle():
            self._refuse_unseen(storage_id)
            logger.info("Reported checkpoint to master %s", storage_id)
        else:
            logger.info("Checkpoint %s is stored; the master is away and gets its report later", storage_id)

    def _note_uploaded(self, directory: Path | None) -> None:
        if directory is not None:
            self._reporter.note_uploaded(directory)

    def _refuse_unseen(self, storage_id: str) -> None:
        reason = self._reporter.refusal(storage_id)
        if reason is not None:
            raise CheckpointNotStored(f"the master does not take checkpoint {storage_id}: {reason}")

    def _check(self, metadata: JsonObject) -> None:
        """Check arguments before anything is copied, so that a forgotten key does not cost an upload."""
        steps = metadata.get("steps_completed")
        if isinstance(steps, bool) or not hasattr(steps, "__index__"):
            raise ValueError(
                f"checkpoint metadata needs an int 'steps_completed', got {steps!r}; "
                'pass metadata={"steps_completed": n}'
            )

    def _only_chief(self, call: str) -> None:
        if self._dist.rank != 0:
            raise RuntimeError(
                f"rank {self._dist.rank} called {call} without shard=True; call it on rank 0 only, or on all with it"
            )
