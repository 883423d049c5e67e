"""Deletes experiments: files of checkpoints and TensorBoards first, then every row. Rows in DELETING are the queue."""

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from determined.errors import DeterminedError, NotFound
from determined.master.context import MasterContext
from determined.master.db.queries import checkpoint_list
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries.batching import AnyRow
from determined.master.db.queries.checkpoint_list import CheckpointFilter
from determined.master.lifecycle import experiment as lifecycle
from determined.master.services.experiment_files import open_storage, remove_tensorboard

logger = logging.getLogger(__name__)

_PERIOD = 60.0
_ROWS_AT_A_TIME = 500
_ALL_FILES = ["**/*"]


@dataclass(slots=True)
class ExperimentDeleter:
    ctx: MasterContext

    async def run(self) -> None:
        """Until cancelled."""
        async with self.ctx.bus.listen("deletion") as hints:
            while not self.ctx.bus.closed:
                try:
                    await self.step()
                except DeterminedError as e:
                    # the database is away: the experiments stay DELETING, the next look finds them
                    logger.warning("deletion of experiments waits: %s", e.message)
                await hints.wait(_PERIOD)

    async def step(self) -> None:
        for row in await self.ctx.db.read(lambda conn: experiments.in_states(conn, ["DELETING"])):
            await self._delete(row["id"], row["config"])

    async def _delete(self, experiment_id: int, config: dict[str, Any]) -> None:
        stored = await self.ctx.db.read(lambda conn: _checkpoints(conn, experiment_id))
        try:
            await self._remove_files(experiment_id, config, stored)
        except Exception as e:  # noqa: BLE001 - any storage driver may fail in its own way; people may ask again
            logger.warning("experiment %s: its files could not be deleted: %s", experiment_id, e)
            why = f"its files could not be deleted: {e}"
            await self.ctx.db.write(lambda conn: lifecycle.fail_delete(conn, experiment_id, why))
        else:
            await self._remove_rows(experiment_id)
            logger.info("experiment %s: deleted", experiment_id)
        self.ctx.bus.publish(f"experiment:{experiment_id}", "experiments")

    async def _remove_rows(self, experiment_id: int) -> None:
        """Nothing to do where they are gone already: a deletion is asked for and done as often as anybody likes."""
        with contextlib.suppress(NotFound):
            while await self.ctx.db.write(lambda conn: lifecycle.delete_some(conn, experiment_id, _ROWS_AT_A_TIME)):
                pass
            await self.ctx.db.write(lambda conn: lifecycle.finish_delete(conn, experiment_id))

    async def _remove_files(self, experiment_id: int, config: dict[str, Any], stored: list[AnyRow]) -> None:
        for row in stored:
            manager = await open_storage(self.ctx, experiment_id, row.storage or config.get("checkpoint_storage"))
            await asyncio.to_thread(manager.delete, row.uuid, list(_ALL_FILES))
        if config.get("checkpoint_storage"):
            await remove_tensorboard(self.ctx, experiment_id, config)


def _checkpoints(conn: Connection, experiment_id: int) -> list[AnyRow]:
    where = CheckpointFilter(experiment_id=experiment_id, states=("COMPLETED", "PARTIALLY_DELETED", "ERROR"))
    return checkpoint_list.load(conn, checkpoint_list.find(conn, where))
