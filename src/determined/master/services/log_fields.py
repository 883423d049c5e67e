"""Values that the fields of a log take, so that a reader can offer filters; followed while the log grows."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta

from sqlalchemy import Connection

from determined.master.context import MasterContext
from determined.master.db.log_chunk import Origin
from determined.master.db.queries import log as queries
from determined.master.db.queries import log_scope
from determined.master.db.queries.log_scope import LogScope
from determined.wire.log import TaskLogsFieldsResponse, TrialLogsFieldsResponse

_POLL_SECONDS = 1.0
_GRACE = timedelta(seconds=5)


async def of_task(ctx: MasterContext, task_id: str, *, follow: bool) -> AsyncIterator[object]:
    await ctx.db.read(lambda conn: log_scope.of_task(conn, task_id))
    return _stream(ctx, lambda conn: log_scope.of_task(conn, task_id), follow)


async def of_trial(ctx: MasterContext, trial_id: int, *, follow: bool) -> AsyncIterator[object]:
    await ctx.db.read(lambda conn: log_scope.of_trial(conn, trial_id))
    return _stream(ctx, lambda conn: log_scope.of_trial(conn, trial_id), follow)


async def _stream(ctx: MasterContext, find: Callable[[Connection], LogScope], follow: bool) -> AsyncIterator[object]:
    """Send the fields whenever they have become more."""
    known: set[Origin] = set()
    sent = False
    start: dict[str, int] = {}
    async with ctx.bus.listen(*(await ctx.db.read(find)).topics) as listener:
        while True:
            scope, found = await ctx.db.read(_reader(find, start))
            if not sent or not found <= known:
                known |= found
                sent = True
                yield _answer(scope, known)
            if not follow or ctx.bus.closed or scope.over(ctx.clock.now(), _GRACE):
                return
            await listener.wait(_POLL_SECONDS)


def _reader(
    find: Callable[[Connection], LogScope], start: dict[str, int]
) -> Callable[[Connection], tuple[LogScope, set[Origin]]]:
    def run(conn: Connection) -> tuple[LogScope, set[Origin]]:
        scope = find(conn)
        found: set[Origin] = set()
        for task_id in scope.task_ids:
            new, start[task_id] = queries.origins(conn, task_id, start.get(task_id, 1))
            found |= new
        return scope, found

    return run


def _answer(scope: LogScope, known: set[Origin]) -> TaskLogsFieldsResponse | TrialLogsFieldsResponse:
    agents = sorted({o.agent_id for o in known if o.agent_id})
    containers = sorted({o.container_id for o in known if o.container_id})
    ranks = sorted({o.rank for o in known if o.rank is not None})
    sources = sorted({o.source for o in known})
    stdtypes = sorted({o.stdtype for o in known})
    if scope.trial_id is not None:
        return TrialLogsFieldsResponse(
            agent_ids=agents, container_ids=containers, rank_ids=ranks, sources=sources, stdtypes=stdtypes
        )
    return TaskLogsFieldsResponse(
        agent_ids=agents,
        allocation_ids=sorted({o.allocation_id for o in known if o.allocation_id}),
        container_ids=containers,
        rank_ids=ranks,
        sources=sources,
        stdtypes=stdtypes,
    )
