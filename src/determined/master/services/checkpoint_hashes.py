"""Hashes of the files of checkpoints, as the manifests in their storages have them. The files are not read.

Tasks have written the manifests, and users chosen the storages: a checkpoint whose manifest cannot be read in time
stays without hashes.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import msgspec
from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import NoDirectStorageAccess
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import trial_record
from determined.master.services.checkpoint_download import USABLE
from determined.master.services.experiment_files import open_storage
from determined.master.services.storage_check_threads import check_in_time, new_threads
from determined.master.services.storage_reading import failure
from determined.storage import StorageManager
from determined.wire.trial_record import TrialRecord

logger = logging.getLogger(__name__)

Hashes = dict[str, str]

_SECONDS = 40.0  # for all checkpoints of an answer; clients wait for a minute
_threads = new_threads()


@dataclass(slots=True)
class _Stored:
    """Checkpoints of one storage, each with the paths that it was reported with."""

    section: JsonObject | None
    checkpoints: dict[str, frozenset[str]] = field(default_factory=dict)


async def add(ctx: MasterContext, experiment_id: int, trials: Sequence[TrialRecord]) -> None:
    """Add hashes to the checkpoints of trials."""
    places = await ctx.db.read(lambda conn: _places(conn, experiment_id, [trial.id for trial in trials]))
    found: dict[str, Hashes] = {}
    deadline = asyncio.get_running_loop().time() + _SECONDS
    for place in places:
        try:
            manager = await open_storage(ctx, experiment_id, place.section)
            await _read(manager, place, found, deadline)
        except Exception as e:  # noqa: BLE001  drivers have errors of their own
            # the rest of this storage too: a store that is away may take seconds to say so for each checkpoint
            logger.info("experiment %s: hashes of checkpoints cannot be read: %s", experiment_id, failure(e))
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


async def _read(manager: StorageManager, place: _Stored, found: dict[str, Hashes], deadline: float) -> None:
    for uuid, paths in place.checkpoints.items():
        if asyncio.get_running_loop().time() > deadline:
            raise TimeoutError(f"it takes more than {_SECONDS:.0f} s")
        await check_in_time(partial(_read_one, manager, uuid, paths, found), _threads)


def _read_one(manager: StorageManager, uuid: str, paths: frozenset[str], found: dict[str, Hashes]) -> None:
    try:
        found[uuid] = {path: digest for path, digest in manager.hashes(uuid).items() if path in paths}
    except (OSError, NoDirectStorageAccess):  # of the storage, not of this checkpoint
        raise
    except Exception as e:  # noqa: BLE001  drivers have errors of their own
        logger.info("checkpoint %s: hashes cannot be read: %s", uuid, failure(e))
