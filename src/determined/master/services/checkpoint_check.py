"""Check that checkpoints reported by a task are where the master finds them, before they are written down.

The task has looked by itself, but it may have mounts of its own. Where tasks run on the master's machine the master is
the outsider who sees what the next run will see. It refuses only what it saw to be missing, cut short or another's: a
storage that it cannot read, or that does not answer, is left to the word of the task.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import CheckpointDamaged, CheckpointNotFound, FailedPrecondition, NoDirectStorageAccess
from determined.master.context import MasterContext
from determined.master.db.queries import checkpoint as rows
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import report as reports
from determined.master.db.queries import runner as runners
from determined.master.db.queries import storage_backend as storages
from determined.master.lifecycle.checkpoint_place import place_of
from determined.master.services.experiment_files import manager_of
from determined.wire.report import CheckpointReport, ReportBatch

logger = logging.getLogger(__name__)

_SECONDS = 10.0  # for one look; a training waits for it
_MOST_THREADS = 32  # a network file system that hangs keeps each one for ever
_free = threading.Semaphore(_MOST_THREADS)
_ADVICE = (
    "save in a directory that the master and every task see under the same path, not in a mount, volume or /tmp of one "
    "task (checkpoint_storage)"
)


@dataclass(frozen=True, slots=True)
class _Reported:
    """Report of new checkpoints in a batch, and what is needed to look for them."""

    experiment_id: int
    active: JsonObject
    engine: str
    checkpoints: list[tuple[CheckpointReport, JsonObject | None]]  # with the storage that each is in


async def refusals(ctx: MasterContext, allocation_id: str, resource_id: str, batch: ReportBatch) -> dict[str, str]:
    """Return checkpoints of this batch that cannot be restored, by id, and why."""
    records = [r for segment in batch.segments for r in segment.records if isinstance(r, CheckpointReport)]
    return await _refusals(ctx, allocation_id, resource_id, records) if records else {}


async def require_seen(ctx: MasterContext, allocation_id: str | None, record: CheckpointReport) -> None:
    """Check a report that comes by itself. One that is no task's may be of any machine: it is taken unseen.

    Raises:
        FailedPrecondition: it cannot be restored.
    """
    if allocation_id is None:
        return
    chief = await ctx.db.read(lambda conn: next(iter(runners.of_allocation(conn, allocation_id)), None))
    refused = await _refusals(ctx, allocation_id, chief.resource_id, [record]) if chief else {}
    if record.uuid in refused:
        raise FailedPrecondition(f"checkpoint {record.uuid} is not taken: {refused[record.uuid]}")


async def _refusals(
    ctx: MasterContext, allocation_id: str, resource_id: str, records: Sequence[CheckpointReport]
) -> dict[str, str]:
    reported = await ctx.db.read(lambda conn: _read(conn, allocation_id, resource_id, records))
    refused: dict[str, str] = {}
    if reported is None:
        return refused
    for record, section in reported.checkpoints:
        try:
            reason = await _refusal(ctx, reported, record, section)
        except TimeoutError as e:  # the others would wait as long, and whoever sends the batch gives up
            logger.warning("checkpoint %s and what follows it is taken unseen: %s", record.uuid, e or "no answer")
            break
        if reason is not None:
            refused[record.uuid] = reason
    return refused


def _read(
    conn: Connection, allocation_id: str, resource_id: str, records: Sequence[CheckpointReport]
) -> _Reported | None:
    target = reports.target(conn, allocation_id, resource_id)
    if target is None or target.trial_id is None or target.experiment_id is None:
        return None
    active = experiments.get(conn, target.experiment_id).config
    own = active.get("checkpoint_storage")
    new = [
        (record, own if record.storage_id is None else storages.get(conn, record.storage_id))
        for record in records
        if rows.owner(conn, record.uuid) is None
    ]
    return _Reported(target.experiment_id, active, runners.get(conn, resource_id).engine, new)


async def _refusal(
    ctx: MasterContext, reported: _Reported, record: CheckpointReport, section: JsonObject | None
) -> str | None:
    place = place_of(ctx.config, reported.active, section, reported.engine)
    if place.reason:
        return place.reason
    if not place.is_here:
        return None
    manager = await manager_of(ctx, reported.experiment_id, place)

    def look() -> None:
        manager.check(record.uuid, record.resources)

    try:
        await _in_time(look)
    except NoDirectStorageAccess as e:
        return e.message
    except (CheckpointNotFound, CheckpointDamaged, ValueError) as e:
        return f"the master does not see it: {e}; {_ADVICE}"
    except TimeoutError:
        raise
    except OSError as e:
        logger.warning("checkpoint %s is taken unseen, by the word of its task: %r", record.uuid, e)
    return None


async def _in_time(look: Callable[[], None]) -> None:
    """Run it in a thread that a storage which never answers may keep. Raises TimeoutError."""
    if not _free.acquire(blocking=False):
        raise TimeoutError(f"{_MOST_THREADS} looks at storages have not ended")
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[None] = loop.create_future()

    def run() -> None:
        error = None
        try:
            look()
        except Exception as e:  # noqa: BLE001  raised again where it is waited for
            error = e
        _free.release()
        with contextlib.suppress(RuntimeError):  # the master has ended meanwhile
            loop.call_soon_threadsafe(_settle, answer, error)

    threading.Thread(target=run, name="checkpoint check", daemon=True).start()
    await asyncio.wait_for(answer, _SECONDS)


def _settle(answer: "asyncio.Future[None]", error: Exception | None) -> None:
    if answer.done():
        return  # nobody waits any more
    if error is None:
        answer.set_result(None)
    else:
        answer.set_exception(error)
