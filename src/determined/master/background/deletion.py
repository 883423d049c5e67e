"""Deletes experiments: files of checkpoints and TensorBoards first, then every row. Rows in DELETING are the queue.

Workspaces and projects in DELETING are deleted with all of theirs.
"""

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import DeterminedError, NotFound
from determined.master.context import MasterContext
from determined.master.db.queries import checkpoint_list, place_deletion
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import project as projects
from determined.master.db.queries import workspace as workspaces
from determined.master.db.queries.checkpoint_list import CheckpointDetail, CheckpointScope
from determined.master.db.queries.place_deletion import Place
from determined.master.lifecycle import experiment as lifecycle
from determined.master.lifecycle import webhook_triggers
from determined.master.services.experiment_files import open_storage, remove_tensorboard
from determined.wire.checkpoint import CheckpointState, ListCheckpoints

logger = logging.getLogger(__name__)

_PERIOD = 60.0
_ROWS_AT_A_TIME = 500
_EXPERIMENTS_AT_A_TIME = 50
_ALL_FILES = ["**/*"]


@dataclass(slots=True)
class ExperimentDeleter:
    ctx: MasterContext

    async def run(self) -> None:
        """Delete until cancelled."""
        async with self.ctx.bus.listen("deletion") as hints:
            while not self.ctx.bus.closed:
                try:
                    await self.step()
                except DeterminedError as e:
                    # the database is away: the experiments stay DELETING, the next look finds them
                    logger.warning("deletion of experiments waits: %s", e.message)
                await hints.wait(_PERIOD)

    async def step(self) -> None:
        places = await self.ctx.db.read(place_deletion.waiting)
        for place in places:
            while await self.ctx.db.write(partial(_begin_some, now=self.ctx.clock.now(), place=place)):
                pass
        await self._delete_experiments()
        for place in places:
            await self.ctx.db.write(partial(_settle, place=place))
        if places:
            webhook_triggers.forget(self.ctx.db.engine)
            self.ctx.bus.publish("experiments")

    async def _delete_experiments(self) -> None:
        for row in await self.ctx.db.read(lambda conn: experiments.in_states(conn, ["DELETING"])):
            await self._delete(row.id, row.config)

    async def _delete(self, experiment_id: int, config: JsonObject) -> None:
        stored = await self.ctx.db.read(lambda conn: _checkpoints(conn, experiment_id))
        try:
            await self._remove_files(experiment_id, config, stored)
        except Exception as e:  # noqa: BLE001 - any storage driver may fail in its own way; people may ask again
            logger.warning("experiment %s: its files could not be deleted: %s", experiment_id, e)
            why = f"its files could not be deleted: {e}"
            with contextlib.suppress(NotFound):  # deleted meanwhile
                now = self.ctx.clock.now()
                await self.ctx.db.write(lambda conn: lifecycle.fail_delete(conn, now, experiment_id, why))
        else:
            await self._remove_rows(experiment_id)
            logger.info("experiment %s: deleted", experiment_id)
        self.ctx.bus.publish(f"experiment:{experiment_id}", "experiments")

    async def _remove_rows(self, experiment_id: int) -> None:
        """Remove the rows, if any are left: a deletion can be asked for and done any number of times."""
        with contextlib.suppress(NotFound):
            while await self.ctx.db.write(lambda conn: lifecycle.delete_some(conn, experiment_id, _ROWS_AT_A_TIME)):
                pass
            await self.ctx.db.write(lambda conn: lifecycle.finish_delete(conn, experiment_id))

    async def _remove_files(self, experiment_id: int, config: JsonObject, stored: list[CheckpointDetail]) -> None:
        for row in stored:
            manager = await open_storage(self.ctx, experiment_id, row.storage or config.get("checkpoint_storage"))
            await asyncio.to_thread(manager.delete, row.uuid, list(_ALL_FILES))
        if config.get("checkpoint_storage"):
            await remove_tensorboard(self.ctx, experiment_id, config)


def _begin_some(conn: Connection, *, now: datetime, place: Place) -> bool:
    """Begin the deletion of some experiments of a place; False when none is left, or one may not be deleted."""
    some = place_deletion.untouched(conn, place, _EXPERIMENTS_AT_A_TIME)
    try:
        for experiment_id in some:
            lifecycle.begin_delete(conn, now, experiment_id)
    except DeterminedError as e:
        place_deletion.mark(conn, place, place_deletion.DELETE_FAILED, e.message)
        return False
    return bool(some)


def _settle(conn: Connection, *, place: Place) -> None:
    """Remove a place that is empty now; one with an experiment that could not be deleted has failed."""
    held = place_deletion.experiments_in(conn, place)
    failed = [row for row in held if row.state == place_deletion.DELETE_FAILED]
    if failed:
        why = f"experiment {failed[0].id}: {failed[0].error or 'it could not be deleted'}"
        place_deletion.mark(conn, place, place_deletion.DELETE_FAILED, why)
    elif not held and place.workspace_id is not None:
        workspaces.remove(conn, place.workspace_id)
    elif not held and place.project_id is not None:
        projects.remove(conn, place.project_id)


def _checkpoints(conn: Connection, experiment_id: int) -> list[CheckpointDetail]:
    states = [CheckpointState.COMPLETED, CheckpointState.PARTIALLY_DELETED, CheckpointState.ERROR]
    scope = CheckpointScope(experiment_id=experiment_id)
    return checkpoint_list.load(conn, checkpoint_list.find(conn, scope, ListCheckpoints(states=states)))
