"""Runs, the flat view of trials: search across experiments, metadata, and verbs on many at once."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import parse_checkpoint_storage
from determined.errors import DeterminedError, FailedPrecondition, InvalidArgument
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import experiment_list, query_filter, storage_backend
from determined.master.db.queries import run as rows
from determined.master.db.queries import trial as trials
from determined.master.db.queries.batching import batches
from determined.master.lifecycle import experiment as experiment_lifecycle
from determined.master.lifecycle import trial as trial_lifecycle
from determined.master.services import experiment as experiment_service
from determined.master.services import run_group, run_view
from determined.master.services.experiment_list import DEFAULT_LIMIT, rows_of
from determined.master.services.own_trial import check_author
from determined.master.services.paging import window
from determined.wire.run import RunActionResult, SearchRunsRequest, SearchRunsResponse

Change = Callable[[Connection, datetime, int], None]


async def search(ctx: MasterContext, request: SearchRunsRequest) -> SearchRunsResponse:
    if request.group_by:
        return await run_group.search(ctx, request)

    def read(conn: Connection) -> SearchRunsResponse:
        conditions = rows.run_conditions(query_filter.parse(request.filter), request.project_id)
        page = window(rows.count_runs(conn, conditions), request.limit or DEFAULT_LIMIT, request.offset)
        start, size = rows_of(page)
        ids = rows.find_runs(conn, conditions, request.sort, size, start)
        return SearchRunsResponse(runs=run_view.load(conn, ctx.clock.now(), ids), pagination=page)

    return await ctx.db.read(read)


async def select(ctx: MasterContext, ids: Sequence[int], filter_text: str | None, project_id: int | None) -> list[int]:
    """Return the runs a bulk verb means: the ids given, or everything that matches the filter."""
    if ids:
        return list(dict.fromkeys(ids))
    if filter_text is None:
        raise InvalidArgument("give runIds or a filter")
    conditions = rows.run_conditions(query_filter.parse(filter_text), project_id)
    return await ctx.db.read(lambda conn: rows.find_runs(conn, conditions, None, None, 0))


async def act(ctx: MasterContext, verb: str, ids: Sequence[int]) -> list[RunActionResult]:
    """kill, pause, resume, archive, unarchive; each run answers for itself."""
    if verb in _ARCHIVING:
        return await _archive(ctx, ids, _ARCHIVING[verb])
    return await _for_each(ctx, ids, _VERBS[verb])


async def delete(ctx: MasterContext, caller: Caller, ids: Sequence[int]) -> list[RunActionResult]:
    """Delete a run with its experiment; one of several runs cannot be deleted alone."""

    def change(conn: Connection, now: datetime, run_id: int) -> None:
        experiment_service.begin_delete(conn, now, caller, _sole_experiment(conn, run_id))

    results = await _for_each(ctx, ids, change)
    ctx.bus.publish("deletion")
    return results


async def move(
    ctx: MasterContext, project_id: int, ids: Sequence[int], *, skip_multitrial: bool
) -> list[RunActionResult]:
    def change(conn: Connection, _now: datetime, run_id: int) -> None:
        experiment_id = trials.get(conn, run_id).experiment_id
        if skip_multitrial:
            _sole_experiment(conn, run_id)
        experiment_service.move_to(conn, experiment_id, project_id)

    return await _for_each(ctx, ids, change)


async def prepare_reporting(ctx: MasterContext, caller: Caller, run_id: int, storage: JsonObject | None) -> int | None:
    """Return where this run's checkpoints go, as an id that its reports name."""
    if storage is not None:
        parse_checkpoint_storage(storage)

    def run(conn: Connection) -> int | None:
        trial = trials.get(conn, run_id)
        check_author(conn, caller, run_id)
        config = storage or experiments.get(conn, trial.experiment_id).config.get("checkpoint_storage")
        if not config:
            return None
        storage_id = storage_backend.ensure(conn, config)
        storage_backend.allow(conn, run_id, storage_id)
        return storage_id

    return await ctx.db.write(run)


async def metadata(ctx: MasterContext, run_id: int) -> JsonObject:
    return await ctx.db.read(lambda conn: trials.get(conn, run_id).metadata or {})


async def set_metadata(ctx: MasterContext, caller: Caller, run_id: int, values: JsonObject) -> JsonObject:
    def run(conn: Connection) -> JsonObject:
        check_author(conn, caller, run_id)
        rows.set_metadata(conn, run_id, values)
        return values

    return await ctx.db.write(run)


def _sole_experiment(conn: Connection, run_id: int) -> int:
    experiment_id: int = trials.get(conn, run_id).experiment_id
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
    try:
        result = await ctx.db.write(lambda conn: _change(conn, ctx.clock.now(), run_id, change))
    except DeterminedError as e:
        result = RunActionResult(id=run_id, error=e.message)
    ctx.bus.publish(f"trial:{run_id}")
    return result


def _change(conn: Connection, now: datetime, run_id: int, change: Change) -> RunActionResult:
    before = rows.standing(conn, run_id)
    change(conn, now, run_id)
    after = rows.standing(conn, run_id)
    result = RunActionResult(id=run_id, error="", changed=before != after)
    if before is not None and after is not None and before.project_id != after.project_id:
        result.previous_project_id = before.project_id
    return result


def _pause(conn: Connection, now: datetime, run_id: int) -> None:
    experiment_lifecycle.pause(conn, now, _sole_experiment(conn, run_id))


def _resume(conn: Connection, now: datetime, run_id: int) -> None:
    experiment_lifecycle.activate(conn, now, _sole_experiment(conn, run_id))


async def _archive(ctx: MasterContext, ids: Sequence[int], archived: bool) -> list[RunActionResult]:
    """Many in one statement: nothing else follows from it, and it is done to everything that a filter finds."""
    results: list[RunActionResult] = []
    for some in batches(ids):
        results += await ctx.db.write(partial(_archive_some, ids=some, archived=archived))
    ctx.bus.publish("experiments", "gc", *(f"trial:{run_id}" for run_id in ids))
    return results


def _archive_some(conn: Connection, *, ids: Sequence[int], archived: bool) -> list[RunActionResult]:
    rows_to_change = rows.archiving(conn, ids)
    results = [_archived(run_id, rows_to_change.get(run_id), archived) for run_id in ids]
    rows.set_archived(conn, [result.id for result in results if result.changed], archived)
    return results


def _archived(run_id: int, before: tuple[str, bool] | None, archived: bool) -> RunActionResult:
    if before is None:
        return RunActionResult(id=run_id, error=f"trial {run_id} not found")
    state, was = before
    if state not in _ENDED:
        error = f"run {run_id}: incompatible state {state}; only an ended one can be archived"
        return RunActionResult(id=run_id, error=error)
    return RunActionResult(id=run_id, error="", changed=was != archived)


_ENDED = ("COMPLETED", "CANCELED", "ERROR")
_ARCHIVING = {"archive": True, "unarchive": False}
_VERBS: dict[str, Change] = {
    "kill": trial_lifecycle.kill,
    "pause": _pause,
    "resume": _resume,
}
