"""The garbage collector: applies keep policies of ended experiments and deletes checkpoint files that were marked.

What to do is in the rows (`delete_requested_at`, `gc_time`), so a restart goes on where it was. Files are deleted in a
thread; one that cannot be deleted is tried again with growing pauses, then its checkpoint becomes ERROR.
"""

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from determined._backoff import Backoff
from determined.errors import DeterminedError
from determined.master.context import MasterContext
from determined.master.db.queries import checkpoint as rows
from determined.master.db.queries.checkpoint import PendingDeletion
from determined.master.lifecycle import checkpoint as lifecycle
from determined.master.services.experiment_files import open_storage, sweep_staging

logger = logging.getLogger(__name__)

ATTEMPTS = 4
_RETRY = Backoff(first=2.0)
_PERIOD = 60.0  # seconds between looks when nobody hints
_MIN_PAUSE = 1.0  # a busy scheduler hints many times a second
_BATCH = 64
_ALL_FILES = ["**/*"]
_SWEEP_EVERY = timedelta(days=1)
_STALE_SECONDS = 7 * 24 * 3600.0  # nobody writes a checkpoint with longer pauses


@dataclass(slots=True)
class _Failure:
    attempts: int = 0
    not_before: datetime | None = None


@dataclass(slots=True)
class GarbageCollector:
    ctx: MasterContext
    _failures: dict[str, _Failure] = field(default_factory=dict)
    _swept_at: datetime | None = None

    async def run(self) -> None:
        """Collect until cancelled."""
        async with self.ctx.bus.listen("gc", "schedule") as hints:
            while not self.ctx.bus.closed:
                try:
                    await self.step()
                except DeterminedError as e:
                    # the database is away: what is due stays due, the next look finds it
                    logger.warning("garbage collection waits: %s", e.message)
                await hints.wait(self._pause())
                await asyncio.sleep(_MIN_PAUSE)

    async def step(self) -> int:
        """Mark what policies let go, delete what is marked, and return how many checkpoints were handled."""
        for experiment_id in await self.ctx.db.read(rows.due_for_gc):
            await self._apply_policy(experiment_id)
        handled = 0
        for row in await self.ctx.db.read(lambda conn: rows.pending_deletions(conn, _BATCH)):
            if self._is_due(row.uuid):
                handled += await self._delete_if_unused(row.uuid)
        await self._sweep()
        return handled

    async def _sweep(self) -> None:
        """Delete, once a day, what killed uploads left in the cluster's own store."""
        now = self.ctx.clock.now()
        if self._swept_at is not None and now - self._swept_at < _SWEEP_EVERY:
            return
        self._swept_at = now
        try:
            swept = await asyncio.to_thread(sweep_staging, self.ctx.config, _STALE_SECONDS, now.timestamp())
        except Exception as e:  # noqa: BLE001 - any file system may fail in its own way; tomorrow is another day
            logger.warning("what killed uploads left cannot be swept: %s", e)
            return
        if swept:
            logger.info("removed what %s uploads left that were killed: %s", len(swept), ", ".join(swept))

    async def _apply_policy(self, experiment_id: int) -> None:
        now = self.ctx.clock.now()
        marked = await self.ctx.db.write(lambda conn: lifecycle.collect_garbage(conn, now, experiment_id))
        if marked:
            logger.info("experiment %s: %s checkpoints are not kept by its policy", experiment_id, len(marked))

    async def _delete_if_unused(self, uuid: str) -> int:
        """Delete the checkpoint unless an experiment that starts from it went live since the batch was read."""
        for row in await self.ctx.db.read(lambda conn: rows.pending_deletions(conn, 1, uuid)):
            await self._delete(row)
            return 1
        return 0

    async def _delete(self, row: PendingDeletion) -> None:
        asked = lifecycle.Deletion(row.delete_requested_at, row.delete_globs)
        try:
            left = await self._delete_files(row)
        except Exception as e:  # noqa: BLE001 - any storage driver may fail in its own way; the checkpoint is tried again
            await self._failed(row.uuid, asked, e)
            return
        self._failures.pop(row.uuid, None)
        await self.ctx.db.write(lambda conn: lifecycle.files_left(conn, row.uuid, left, asked))
        self.ctx.bus.publish("checkpoints")

    async def _delete_files(self, row: PendingDeletion) -> dict[str, int]:
        """Delete files and return those that are left; no globs at all only looks which are there."""
        manager = await open_storage(self.ctx, row.experiment_id, row.storage or row.experiment_storage)
        globs = _ALL_FILES if row.delete_globs is None else row.delete_globs
        return await asyncio.to_thread(manager.delete, row.uuid, list(globs))

    async def _failed(self, uuid: str, deletion: lifecycle.Deletion, error: Exception) -> None:
        failure = self._failures.setdefault(uuid, _Failure())
        delay = _RETRY.delay(failure.attempts)
        failure.attempts += 1
        logger.warning("checkpoint %s: attempt %s to delete failed: %s", uuid, failure.attempts, error)
        if failure.attempts < ATTEMPTS:
            failure.not_before = self.ctx.clock.now() + timedelta(seconds=delay)
            return
        del self._failures[uuid]
        await self.ctx.db.write(lambda conn: lifecycle.deletion_failed(conn, uuid, deletion))

    def _is_due(self, uuid: str) -> bool:
        failure = self._failures.get(uuid)
        return failure is None or failure.not_before is None or self.ctx.clock.now() >= failure.not_before

    def _pause(self) -> float:
        return 1.0 if self._failures else _PERIOD
