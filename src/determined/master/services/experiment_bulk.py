"""Verbs on many experiments at once, by ids or by filter; each answers for itself."""

import asyncio
from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from determined.errors import DeterminedError, InvalidArgument
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as rows
from determined.master.db.queries import experiment_edit, experiment_list
from determined.master.db.queries.experiment_list import ExperimentFilter
from determined.master.services import experiment as experiments
from determined.master.services.retention_days import check_days
from determined.wire.experiment_bulk import BulkExperimentFilters, ExperimentActionResult

Change = Callable[[Connection, int], None]


async def act(ctx: MasterContext, verb: str, ids: Sequence[int]) -> list[ExperimentActionResult]:
    change = experiments.VERBS[verb]
    return await for_each(ctx, ids, lambda conn, i: change(conn, ctx.clock.now(), i))


async def delete(ctx: MasterContext, caller: Caller, ids: Sequence[int]) -> list[ExperimentActionResult]:
    results = await for_each(ctx, ids, lambda conn, i: experiments.begin_delete(conn, ctx.clock.now(), caller, i))
    ctx.bus.publish("deletion")
    return results


async def move(ctx: MasterContext, project_id: int, ids: Sequence[int]) -> list[ExperimentActionResult]:
    return await for_each(ctx, ids, lambda conn, i: experiments.move_to(conn, i, project_id))


async def retain_logs(ctx: MasterContext, days: int, ids: Sequence[int]) -> list[ExperimentActionResult]:
    check_days(days)

    def change(conn: Connection, experiment_id: int) -> None:
        rows.get(conn, experiment_id)
        experiment_edit.retain_logs_of_experiment(conn, experiment_id, days)

    return await for_each(ctx, ids, change)


async def select(
    ctx: MasterContext,
    ids: Sequence[int],
    filters: BulkExperimentFilters | None,
    project_id: int | None,
) -> list[int]:
    """The experiments a bulk verb means: the ids given, or everything that matches the filters."""
    if filters is None:
        if not ids:
            raise InvalidArgument("give experimentIds or filters")
        return list(dict.fromkeys(ids))
    where = _filter(filters, project_id)
    return await ctx.db.read(lambda conn: experiment_list.find(conn, where))


async def for_each(ctx: MasterContext, ids: Sequence[int], change: Change) -> list[ExperimentActionResult]:
    """Each in its own transaction (they share commits): one that cannot be changed does not hold back the others."""
    return list(await asyncio.gather(*(_try(ctx, i, change) for i in ids)))


async def _try(ctx: MasterContext, experiment_id: int, change: Change) -> ExperimentActionResult:
    try:
        result = await ctx.db.write(lambda conn: _change(conn, experiment_id, change))
    except DeterminedError as e:
        result = ExperimentActionResult(id=experiment_id, error=e.message)
    experiments.announce(ctx, experiment_id)
    return result


def _change(conn: Connection, experiment_id: int, change: Change) -> ExperimentActionResult:
    before = experiment_edit.standing(conn, experiment_id)
    change(conn, experiment_id)
    after = experiment_edit.standing(conn, experiment_id)
    result = ExperimentActionResult(id=experiment_id, error="", changed=before != after)
    if before is not None and after is not None and before[-1] != after[-1]:
        result.previous_project_id = before[-1]
    return result


def _filter(filters: BulkExperimentFilters, project_id: int | None) -> ExperimentFilter:
    return ExperimentFilter(
        archived=filters.archived,
        description=filters.description,
        name=filters.name,
        labels=filters.labels or (),
        project_id=filters.project_id or project_id or None,
        states=[state.removeprefix("STATE_") for state in filters.states or ()],
        user_ids=filters.user_ids or (),
        not_ids=filters.excluded_experiment_ids or (),
    )
