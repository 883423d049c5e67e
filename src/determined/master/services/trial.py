"""Service of one trial and the trials of an experiment: show, kill, and what its task says about itself."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from determined.errors import InvalidArgument
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import experiment_edit, trial_access, trial_list
from determined.master.db.queries import trial as rows
from determined.master.lifecycle import search, topics
from determined.master.lifecycle import trial as lifecycle
from determined.master.services import trial_view
from determined.master.services.experiment_list import rows_of
from determined.master.services.paging import window
from determined.master.services.retention_days import FOREVER, check_days
from determined.wire.experiment import GetExperimentTrialsResponse, ListTrials
from determined.wire.trial import (
    GetCurrentTrialSearcherOperationResponse,
    SearcherOperation,
    Trial,
    ValidateAfterOperation,
)


async def get(ctx: MasterContext, trial_id: int) -> Trial:
    return await ctx.db.read(lambda conn: trial_view.one(conn, ctx.clock.now(), trial_id))


async def list_of_experiment(ctx: MasterContext, experiment_id: int, params: ListTrials) -> GetExperimentTrialsResponse:
    def read(conn: Connection) -> GetExperimentTrialsResponse:
        now = ctx.clock.now()
        experiments.get(conn, experiment_id)
        page = window(trial_list.count(conn, experiment_id, params), params.limit, params.offset)
        start, size = rows_of(page)
        ids = trial_list.find(conn, now, experiment_id, params, limit=size, offset=start)
        return GetExperimentTrialsResponse(trials=trial_view.load(conn, now, ids), pagination=page)

    return await ctx.db.read(read)


async def kill(ctx: MasterContext, trial_id: int) -> None:
    await _change(ctx, trial_id, lambda conn, now: lifecycle.kill(conn, now, trial_id))


async def set_runner_state(ctx: MasterContext, trial_id: int, state: str) -> None:
    def run(conn: Connection) -> None:
        rows.get(conn, trial_id)
        rows.update_row(conn, trial_id, {"runner_state": state})

    await ctx.db.write(run)
    ctx.bus.publish(f"trial:{trial_id}")


async def report_progress(ctx: MasterContext, trial_id: int, value: float, *, raw: bool) -> None:
    def run(conn: Connection) -> list[str]:
        search.progress_reported(conn, ctx.clock.now(), trial_id, value, raw)
        return topics.of_trial(conn, trial_id)

    ctx.bus.publish(*await ctx.db.write(run))


async def report_early_exit(ctx: MasterContext, trial_id: int, reason: str) -> None:
    await _change(ctx, trial_id, lambda conn, now: search.early_exit_reported(conn, now, trial_id, reason))


async def current_operation(ctx: MasterContext, trial_id: int) -> GetCurrentTrialSearcherOperationResponse:
    current = await ctx.db.read(lambda conn: search.current_operation(conn, trial_id))
    if current is None:
        return GetCurrentTrialSearcherOperationResponse(completed=True)
    length, completed = current
    operation = SearcherOperation(validate_after=ValidateAfterOperation(length=length))
    return GetCurrentTrialSearcherOperationResponse(op=operation, completed=completed)


async def complete_operation(ctx: MasterContext, trial_id: int, length: int | None, metric: Any) -> None:
    if length is None:
        raise InvalidArgument("op.length is missing; say which operation is complete")
    await _change(ctx, trial_id, lambda conn, now: search.complete_operation(conn, now, trial_id, length, metric))


async def retain_logs(ctx: MasterContext, caller: Caller, trial_id: int, days: int) -> None:
    check_days(days)

    def run(conn: Connection) -> None:
        require_owner(caller, trial_access.of_trial(conn, trial_id).owner_id, f"trial {trial_id}")
        experiment_edit.retain_logs(conn, [trial_id], days)

    await ctx.db.write(run)


async def remaining_log_days(ctx: MasterContext, trial_id: int) -> int:
    """Return the days until the sweep may take the trial's logs; -1 when they stay."""

    def read(conn: Connection) -> int:
        trial = rows.get(conn, trial_id)
        days = trial.log_retention_days
        days = ctx.config.retention_policy.log_retention_days if days is None else days
        if days == FOREVER or trial.end_time is None:
            return int(days)
        since_end: timedelta = ctx.clock.now() - trial.end_time
        return max(0, int(days) - since_end.days)

    return await ctx.db.read(read)


async def _change(ctx: MasterContext, trial_id: int, change: Callable[[Connection, datetime], None]) -> None:
    """Write something that may end a trial, and say so to whoever waits for the trial or its experiment."""

    def run(conn: Connection) -> list[str]:
        change(conn, ctx.clock.now())
        return topics.of_trial(conn, trial_id)

    ctx.bus.publish(topics.SCHEDULE, *await ctx.db.write(run), "experiments", "gc")
