"""Check that checkpoints reported by a task are where the master finds them, before they are written down.

The task has checked the files itself, but it may have mounts of its own, or the disk of its node alone. Where tasks run
on the master's machine, the master sees the files as the next run will. It refuses a checkpoint only if files are
missing, too short or another's; if it cannot look, or gets no answer, it accepts the report of the task.
"""

import contextlib
import errno
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import sleep

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import CheckpointDamaged, CheckpointNotFound, FailedPrecondition, NoDirectStorageAccess
from determined.master.config import MasterConfig
from determined.master.context import MasterContext
from determined.master.db.queries import checkpoint as rows
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import report as reports
from determined.master.db.queries import runner as runners
from determined.master.db.queries import storage_backend as storages
from determined.master.lifecycle.checkpoint_place import place_of
from determined.master.services.experiment_files import build, has_directory, manager_of
from determined.master.services.storage_check_threads import check_in_time
from determined.wire.report import CheckpointReport, ReportBatch

logger = logging.getLogger(__name__)

_LOOKS = 5
_BETWEEN_LOOKS_SECONDS = 1.0  # all looks end before `check_in_time` gives up
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
    records = checkpoint_reports(batch)
    return await _refusals(ctx, allocation_id, resource_id, records) if records else {}


def checkpoint_reports(batch: ReportBatch) -> list[CheckpointReport]:
    """Return the reports of checkpoints in a batch. Nearly all segments have none, which their types tell fast."""
    return [
        record
        for segment in batch.segments
        if CheckpointReport in set(map(type, segment.records))
        for record in segment.records
        if isinstance(record, CheckpointReport)
    ]


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
            # Whoever sends the batch does not wait for all looks at each of several that are missing.
            reason = await _refusal(ctx, reported, record, section, looks=1 if refused else _LOOKS)
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
    ctx: MasterContext, reported: _Reported, record: CheckpointReport, section: JsonObject | None, *, looks: int
) -> str | None:
    place = place_of(ctx.config, reported.active, section, reported.engine)
    if place.reason:
        return place.reason
    if place.is_here:
        manager = await manager_of(ctx, reported.experiment_id, place)
        look = partial(manager.check, record.uuid, record.resources)
    elif place.is_shared:
        look = partial(_look_from_another_machine, ctx.config, place.section, record, looks)
    else:
        return None
    try:
        await check_in_time(look)
    except NoDirectStorageAccess as e:
        return e.message
    except (CheckpointNotFound, CheckpointDamaged, ValueError) as e:
        return f"the master does not see it: {e}; {_ADVICE}"
    except TimeoutError:
        raise
    except OSError as e:
        logger.warning("checkpoint %s is taken unseen, by the word of its task: %r", record.uuid, e)
    return None


def _look_from_another_machine(
    config: MasterConfig, section: JsonObject | None, record: CheckpointReport, looks: int
) -> None:
    """Look, if this machine has that directory, more than once: a network file system may show new files late."""
    manager = build(section)
    if not has_directory(config, section):
        raise NotADirectoryError(errno.ENOTDIR, "the master has no such directory", manager._base_path)
    for _ in range(looks - 1):
        with contextlib.suppress(CheckpointNotFound, CheckpointDamaged):
            manager.check(record.uuid, record.resources)
            return
        sleep(_BETWEEN_LOOKS_SECONDS)
    manager.check(record.uuid, record.resources)
