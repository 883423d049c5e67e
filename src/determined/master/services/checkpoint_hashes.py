"""Hashes of the files of checkpoints, as the manifests in their storages have them. The files are not read."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import CheckpointDamaged, CheckpointNotFound, DeterminedError
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import trial_record
from determined.master.services.checkpoint_download import USABLE
from determined.master.services.experiment_files import open_storage
from determined.storage import StorageManager
from determined.wire.trial_record import TrialRecord

logger = logging.getLogger(__name__)

Hashes = dict[str, str]


@dataclass(slots=True)
class _Stored:
    """Checkpoints of one storage, each with the paths that it was reported with."""

    section: JsonObject | None
    checkpoints: dict[str, frozenset[str]] = field(default_factory=dict)


async def add(ctx: MasterContext, experiment_id: int, trials: Sequence[TrialRecord]) -> None:
    """Add hashes to the checkpoints of trials. Those whose manifest cannot be read stay without."""
    places = await ctx.db.read(lambda conn: _places(conn, experiment_id, [trial.id for trial in trials]))
    found: dict[str, Hashes] = {}
    for place in places:
        try:
            manager = await open_storage(ctx, experiment_id, place.section)
            await asyncio.to_thread(_read, manager, place, found)
        except (DeterminedError, OSError) as e:
            # the rest of this storage too: a store that is away may take minutes to say so for each checkpoint
            logger.info("experiment %s: hashes of checkpoints cannot be read: %s", experiment_id, e)
    for checkpoint in (checkpoint for trial in trials for checkpoint in trial.checkpoints):
        checkpoint.hashes = found.get(checkpoint.uuid, {})


def _places(conn: Connection, experiment_id: int, trial_ids: Sequence[int]) -> list[_Stored]:
    default = experiments.get(conn, experiment_id).config.get("checkpoint_storage")
    places: dict[bytes, _Stored] = {}
    for row in trial_record.checkpoints_of(conn, trial_ids):
        if row.state in USABLE:
            section = row.storage or default
            place = places.setdefault(msgspec.json.encode(section, order="deterministic"), _Stored(section))
            place.checkpoints[row.uuid] = frozenset(row.resources)
    return list(places.values())


def _read(manager: StorageManager, place: _Stored, found: dict[str, Hashes]) -> None:
    for uuid, paths in place.checkpoints.items():
        found[uuid] = dict(_hashes(manager, uuid, paths))


def _hashes(manager: StorageManager, uuid: str, paths: frozenset[str]) -> Iterator[tuple[str, str]]:
    try:
        entries = manager.entries(uuid)
    except (CheckpointNotFound, CheckpointDamaged):
        return
    for entry in entries:
        if entry.path in paths and isinstance(entry.hash, str):  # a task has written the manifest: it may say anything
            yield entry.path, entry.hash
