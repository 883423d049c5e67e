"""Runs, the flat view of trials: search across experiments, metadata, and verbs on many at once."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from determined.config import parse_checkpoint_storage
from determined.errors import DeterminedError, FailedPrecondition, InvalidArgument
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import experiment_list, storage_backend
from determined.master.db.queries import run as rows
from determined.master.db.queries import trial as trials
from determined.master.lifecycle import experiment as experiment_lifecycle
from determined.master.lifecycle import trial as trial_lifecycle
from determined.master.services import experiment as experiment_service
from determined.master.services import run_view
from determined.master.services.experiment_list import DEFAULT_LIMIT, rows_of
from determined.master.services.own_trial import check_author
from determined.master.services.paging import window
from determined.wire.run import RunActionResult, SearchRunsRequest, SearchRunsResponse

Change = Callable[[Connection, datetime, int], None]


async def search(ctx: MasterContext, asked: SearchRunsRequest) -> SearchRunsResponse:
    def read(conn: Connection) -> SearchRunsResponse:
        conditions = rows.run_conditions(asked.filter, asked.project_id)
        page = window(rows.count_runs(conn, conditions), asked.limit or DEFAULT_LIMIT, asked.offset)
        start, size = rows_of(page)
        ids = rows.find_runs(conn, conditions, asked.sort, size, start)
        return SearchRunsResponse(runs=run_view.load(conn, ctx.clock.now(), ids), pagination=page)

    return await ctx.db.read(read)


async def select(ctx: MasterContext, ids: Sequence[int], filter_text: str | None, project_id: int | None) -> list[int]:
    """The runs a bulk verb means: the ids given, or everything that matches the filter."""
    if ids:
        return list(dict.fromkeys(ids))
    if filter_text is None:
        raise InvalidArgument("give runIds or a filter")
    return await ctx.db.read(
        lambda conn: rows.find_runs(conn, rows.run_conditions(filter_text, project_id), None, None, 0)
    )


async def act(ctx: MasterContext, verb: str, ids: Sequence[int]) -> list[RunActionResult]:
    """kill, pause, resume, archive, unarchive; each run answers for itself."""
    return await _for_each(ctx, ids, _VERBS[verb])


async def delete(ctx: MasterContext, caller: Caller, ids: Sequence[int]) -> list[RunActionResult]:
    """A run goes with its experiment; one of several runs cannot be deleted alone."""

    def change(conn: Connection, now: datetime, run_id: int) -> None:
        experiment_service.begin_delete(conn, now, caller, _sole_experiment(conn, run_id))

    results = await _for_each(ctx, ids, change)
    ctx.bus.publish("deletion")
    return results


async def move(
    ctx: MasterContext, project_id: int, ids: Sequence[int], *, skip_multitrial: bool
) -> list[RunActionResult]:
    def change(conn: Connection, _now: datetime, run_id: int) -> None:
        experiment_id = trials.get(conn, run_id)["experiment_id"]
        if skip_multitrial:
            _sole_experiment(conn, run_id)
        experiment_service.move_to(conn, experiment_id, project_id)

    return await _for_each(ctx, ids, change)


async def prepare_reporting(
    ctx: MasterContext, caller: Caller, run_id: int, storage: dict[str, Any] | None
) -> int | None:
    """Where this run's checkpoints go, as an id that its reports name."""
    if storage is not None:
        parse_checkpoint_storage(storage)

    def run(conn: Connection) -> int | None:
        trial = trials.get(conn, run_id)
        check_author(conn, caller, run_id)
        config = storage or experiments.get(conn, trial["experiment_id"])["config"].get("checkpoint_storage")
        if not config:
            return None
        storage_id = storage_backend.ensure(conn, config)
        storage_backend.allow(conn, run_id, storage_id)
        return storage_id

    return await ctx.db.write(run)


async def metadata(ctx: MasterContext, run_id: int) -> dict[str, Any]:
    return await ctx.db.read(lambda conn: trials.get(conn, run_id)["metadata"] or {})


async def set_metadata(ctx: MasterContext, caller: Caller, run_id: int, values: dict[str, Any]) -> dict[str, Any]:
    def run(conn: Connection) -> dict[str, Any]:
        check_author(conn, caller, run_id)
        rows.set_metadata(conn, run_id, values)
        return values

    return await ctx.db.write(run)


def _sole_experiment(conn: Connection, run_id: int) -> int:
    experiment_id: int = trials.get(conn, run_id)["experiment_id"]
    if len(experiment_list.trial_ids(conn, experiment_id)) > 1:
        raise FailedPrecondition(
            f"run {run_id} is one of several of experiment {experiment_id}; use the experiment instead"
        )
    return experiment_id


async def _for_each(ctx: MasterContext, ids: Sequence[int], change: Change) -> list[RunActionResult]:
    results = list(await asyncio.gather(*(_try(ctx, run_id, change) for run_id in ids)))
    ctx.bus.publish("schedule", "experiments", "gc")
    return results


async def _try(ctx: MasterContext, run_id: int, change: Change) -> RunActionResult:
    error = ""
    try:
        await ctx.db.write(lambda conn: change(conn, ctx.clock.now(), run_id))
    except DeterminedError as e:
        error = e.message
    ctx.bus.publish(f"trial:{run_id}")
    return RunActionResult(id=run_id, error=error)


def _pause(conn: Connection, now: datetime, run_id: int) -> None:
    experiment_lifecycle.pause(conn, now, _sole_experiment(conn, run_id))


def _resume(conn: Connection, now: datetime, run_id: int) -> None:
    experiment_lifecycle.activate(conn, now, _sole_experiment(conn, run_id))


def _archive(conn: Connection, _now: datetime, run_id: int) -> None:
    _set_archived(conn, run_id, True)


def _unarchive(conn: Connection, _now: datetime, run_id: int) -> None:
    _set_archived(conn, run_id, False)


def _set_archived(conn: Connection, run_id: int, archived: bool) -> None:
    state = trials.get(conn, run_id)["state"]
    if state not in ("COMPLETED", "CANCELED", "ERROR"):
        raise FailedPrecondition(f"run {run_id}: incompatible state {state}; only an ended one can be archived")
    rows.set_archived(conn, run_id, archived)


_VERBS: dict[str, Change] = {
    "kill": trial_lifecycle.kill,
    "pause": _pause,
    "resume": _resume,
    "archive": _archive,
    "unarchive": _unarchive,
}
