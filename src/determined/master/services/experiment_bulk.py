"""Verbs on many experiments at once, by ids or by filter; each answers for itself."""

import asyncio
from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from determined.errors import DeterminedError, FailedPrecondition, InvalidArgument
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as rows
from determined.master.db.queries import experiment_edit, experiment_list
from determined.master.lifecycle.states import STOPPING, TERMINAL, State
from determined.master.services import experiment as experiments
from determined.master.services.retention_days import check_days
from determined.wire.experiment import ExperimentState, ListExperiments
from determined.wire.experiment_bulk import BulkExperimentFilters, ExperimentActionResult

Change = Callable[[Connection, int], None]


_LIVE = (State.ACTIVE, State.PAUSED, *STOPPING)
# What a filter that names no states means by "all", verb by verb; ACTIVE covers all that is shown as queued or running.
_APPLIES_TO: dict[str, Sequence[str]] = {
    "pause": (State.ACTIVE,),
    "activate": (State.PAUSED,),
    "cancel": _LIVE,
    "kill": _LIVE,
    "archive": tuple(TERMINAL),
    "unarchive": tuple(TERMINAL),
}
_STEERING = frozenset({"pause", "activate", "cancel", "kill"})


async def act(ctx: MasterContext, verb: str, ids: Sequence[int]) -> list[ExperimentActionResult]:
    change = experiments.VERBS[verb]

    def apply(conn: Connection, experiment_id: int) -> None:
        if verb in _STEERING:
            _refuse_ended(conn, experiment_id)
        change(conn, ctx.clock.now(), experiment_id)

    return await for_each(ctx, ids, apply)


def _refuse_ended(conn: Connection, experiment_id: int) -> None:
    """Refuse one that has ended. Scripts for the official client look for the beginning of the message."""
    state = rows.get(conn, experiment_id).state
    if state in TERMINAL:
        raise FailedPrecondition(f"experiment in terminal state: experiment {experiment_id} is {state}")


async def delete(ctx: MasterContext, caller: Caller, ids: Sequence[int]) -> list[ExperimentActionResult]:
    results = await for_each(ctx, ids, lambda conn, i: experiments.begin_delete(conn, ctx.clock.now(), caller, i))
    ctx.bus.publish("deletion")
    return results


async def move(ctx: MasterContext, project_id: int, ids: Sequence[int]) -> list[ExperimentActionResult]:
    return await for_each(ctx, ids, lambda conn, i: experiments.move_to(conn, i, project_id))


async def retain_logs(
    ctx: MasterContext, caller: Caller, days: int, ids: Sequence[int]
) -> list[ExperimentActionResult]:
    check_days(days)
    return await for_each(ctx, ids, lambda conn, i: experiments.keep_logs(conn, caller, i, days))


async def select(
    ctx: MasterContext,
    ids: Sequence[int],
    filters: BulkExperimentFilters | None,
    project_id: int | None,
    verb: str = "",
) -> list[int]:
    """List the experiments a bulk verb means: the ids given, or all that match the filters and that it applies to."""
    if filters is None:
        if not ids:
            raise InvalidArgument("give experimentIds or filters")
        return list(dict.fromkeys(ids))
    where = _filter(filters, project_id, verb)
    return await ctx.db.read(lambda conn: experiment_list.find(conn, where))


async def for_each(ctx: MasterContext, ids: Sequence[int], change: Change) -> list[ExperimentActionResult]:
    """Change each in its own transaction (they share commits): one that fails does not hold back the others."""
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
    if before is not None and after is not None and before.project_id != after.project_id:
        result.previous_project_id = before.project_id
    return result


def _filter(filters: BulkExperimentFilters, project_id: int | None, verb: str) -> ListExperiments:
    project = filters.project_id or project_id or 0
    return ListExperiments(
        archived=filters.archived,
        description=filters.description,
        name=filters.name,
        labels=filters.labels,
        project_id=project if project > 0 else None,  # -1 is how clients write "any"
        states=filters.states or [ExperimentState(f"STATE_{state}") for state in _APPLIES_TO.get(verb, ())],
        user_ids=filters.user_ids,
        not_ids=filters.excluded_experiment_ids,
    )
