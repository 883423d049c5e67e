"""Checkpoints: report, list, describe, change, delete."""

from collections.abc import Sequence

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import Forbidden, InvalidArgument, NotFound
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import checkpoint as rows
from determined.master.db.queries import checkpoint_list, validation
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import trial as trials
from determined.master.db.queries.checkpoint_list import CheckpointPosition, CheckpointScope
from determined.master.lifecycle import checkpoint as lifecycle
from determined.master.services import checkpoint_check, checkpoint_view
from determined.master.services.experiment_list import rows_of
from determined.master.services.own_trial import check_author, check_reporter
from determined.master.services.paging import page as cut
from determined.master.services.paging import window
from determined.master.services.parse_time import parse_time
from determined.wire.base import OrderBy, Pagination
from determined.wire.checkpoint import (
    Checkpoint,
    CheckpointState,
    ListCheckpoints,
    PatchCheckpoint,
    ReportCheckpointRequest,
    SortBy,
)
from determined.wire.report import CheckpointReport


async def get(ctx: MasterContext, uuid: str) -> Checkpoint:
    return await ctx.db.read(lambda conn: checkpoint_view.one(conn, uuid))


async def list_of_experiment(
    ctx: MasterContext, experiment_id: int, params: ListCheckpoints
) -> tuple[list[Checkpoint], Pagination]:
    return await _list(ctx, CheckpointScope(experiment_id=experiment_id), params)


async def list_of_trial(
    ctx: MasterContext, trial_id: int, params: ListCheckpoints
) -> tuple[list[Checkpoint], Pagination]:
    return await _list(ctx, CheckpointScope(trial_id=trial_id), params)


async def _list(
    ctx: MasterContext, scope: CheckpointScope, params: ListCheckpoints
) -> tuple[list[Checkpoint], Pagination]:
    def read(conn: Connection) -> tuple[list[Checkpoint], Pagination]:
        _require_owner_of_list(conn, scope)
        if not params.sort_by_metric and params.sort_by_attr is not SortBy.SEARCHER_METRIC:
            return _by_column(conn, scope, params)
        uuids, pagination = cut(_by_metric(conn, scope, params), params.limit, params.offset)
        return checkpoint_view.load(conn, uuids), pagination

    return await ctx.db.read(read)


async def report(ctx: MasterContext, caller: Caller, request: ReportCheckpointRequest) -> None:
    """Record a reported checkpoint. Raises InvalidArgument for a report that names no trial or no steps."""
    if request.state is not CheckpointState.COMPLETED:
        raise InvalidArgument(f"state {request.state} cannot be reported; only STATE_COMPLETED can")
    steps = request.metadata.get("steps_completed")
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 0:
        raise InvalidArgument(f"metadata.steps_completed={steps!r} must be a whole number")
    if caller.kind == "task" and request.allocation_id not in (None, "", caller.allocation_id):
        raise Forbidden(f"allocation {caller.allocation_id} may not report for allocation {request.allocation_id}")
    time = _timestamp(request.report_time)
    task_id = request.task_id or (caller.allocation_id or "").rpartition(".")[0]

    def run(conn: Connection) -> int:
        trial = rows.trial_of_task(conn, task_id)
        if trial is None:
            raise NotFound(f"task {task_id!r} is no task of a trial; only trials report checkpoints")
        check_reporter(conn, caller, trial.id)
        lifecycle.report(
            conn,
            ctx.clock.now(),
            trial_id=trial.id,
            allocation_id=request.allocation_id or caller.allocation_id,
            run_id=trial.run_id,
            uuid=request.uuid,
            steps=steps,
            metadata=request.metadata,
            resources=request.resources,
            time=time,
            storage_id=request.storage_id,
        )
        return trial.id

    record = CheckpointReport(request.uuid, steps, request.metadata, request.resources, time or 0.0, request.storage_id)
    await checkpoint_check.require_seen(ctx, caller.allocation_id, record)
    trial_id = await ctx.db.write(run)
    ctx.bus.publish(f"trial:{trial_id}")


async def set_metadata(ctx: MasterContext, caller: Caller, uuid: str, metadata: JsonObject) -> Checkpoint:
    """Replace the database's copy; files in the storage stay as they are."""

    def run(conn: Connection) -> Checkpoint:
        row = rows.state_of(conn, uuid)
        if row is None or row.trial_id is None:
            raise NotFound(f"checkpoint {uuid} not found")
        check_author(conn, caller, row.trial_id)
        steps = row.metadata.get("steps_completed")
        rows.update_row(conn, uuid, {"metadata": {"steps_completed": steps, **metadata}})
        return checkpoint_view.one(conn, uuid)

    return await ctx.db.write(run)


async def patch(ctx: MasterContext, caller: Caller, patches: Sequence[PatchCheckpoint]) -> None:
    """Tell which files are left after something else deleted some."""

    def run(conn: Connection) -> None:
        uuids = [p.uuid for p in patches]
        rows.require_all(conn, uuids)
        for trial_id in rows.trials_of(conn, uuids):
            check_author(conn, caller, trial_id)
        lifecycle.refuse_registered(conn, uuids, "patched")
        for change in patches:
            if change.resources is not None:
                lifecycle.files_left(conn, change.uuid, _sizes(change.resources.resources or {}))

    await ctx.db.write(run)


async def delete(ctx: MasterContext, caller: Caller, uuids: Sequence[str]) -> None:
    await _request(ctx, caller, uuids, None)


async def remove_files(ctx: MasterContext, caller: Caller, uuids: Sequence[str], globs: Sequence[str]) -> None:
    """Remove files. No globs at all asks to look again which files are there."""
    await _request(ctx, caller, uuids, globs)


async def _request(ctx: MasterContext, caller: Caller, uuids: Sequence[str], globs: Sequence[str] | None) -> None:
    if not uuids:
        raise InvalidArgument("checkpointUuids is empty; say which checkpoints to delete")
    unique = list(dict.fromkeys(uuids))

    def run(conn: Connection) -> None:
        rows.require_all(conn, unique)
        for row in checkpoint_list.load(conn, unique):
            require_owner(caller, row.owner_id, f"checkpoint {row.uuid}")
        lifecycle.request_delete(conn, ctx.clock.now(), unique, globs)

    await ctx.db.write(run)
    ctx.bus.publish("gc")


def _require_owner_of_list(conn: Connection, scope: CheckpointScope) -> None:
    """Raise NotFound for a list of something that does not exist, rather than answer an empty one."""
    if scope.experiment_id is not None:
        experiments.get(conn, scope.experiment_id)
    if scope.trial_id is not None:
        trials.get(conn, scope.trial_id)


def _by_column(
    conn: Connection, scope: CheckpointScope, params: ListCheckpoints
) -> tuple[list[Checkpoint], Pagination]:
    pagination = window(checkpoint_list.count(conn, scope, params), params.limit, params.offset)
    start, size = rows_of(pagination)
    uuids = checkpoint_list.find(conn, scope, params, limit=size, offset=start)
    return checkpoint_view.load(conn, uuids), pagination


def _by_metric(conn: Connection, scope: CheckpointScope, params: ListCheckpoints) -> list[str]:
    """List all matches by a validation metric, those without it last whichever way."""
    positions = checkpoint_list.positions(conn, scope, params)
    places = [(p.trial_id, p.steps_completed) for p in positions]
    if not params.sort_by_metric:
        values = validation.searcher_values(conn, places)
    else:
        values = validation.metric_values(conn, places, params.sort_by_metric)
    sign = -1.0 if params.order_by is OrderBy.DESC else 1.0

    def key(row: CheckpointPosition) -> tuple[bool, float, int, int]:
        value = values.get((row.trial_id, row.steps_completed))
        return (value is None, sign * value[0] if value else 0.0, row.trial_id, row.steps_completed)

    return [row.uuid for row in sorted(positions, key=key)]


def _timestamp(text: str | None) -> float | None:
    moment = parse_time(text, "reportTime")
    return None if moment is None else moment.timestamp()


def _sizes(resources: dict[str, str]) -> dict[str, int]:
    try:
        return {path: int(size) for path, size in resources.items()}
    except ValueError as e:
        raise InvalidArgument(f"resources hold a size that is no number: {e}") from e
