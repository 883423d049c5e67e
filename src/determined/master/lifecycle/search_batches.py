"""Large searches in pieces: no transaction of theirs holds the writer for long, however many trials they have.

What a search has asked for beyond one piece lies in `search_queue`, as does a mark where trials are left whose state or
end is to be passed on. `go_on` does the next piece; the loop below calls it until nothing is left. A master killed in
between finds the rest in the rows.
"""

import asyncio
import logging
from datetime import datetime

from sqlalchemy import Connection

from determined.errors import DeterminedError, NotFound
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import search_queue
from determined.master.lifecycle import operations, search, topics, trial_state
from determined.master.lifecycle.states import TERMINAL, State

logger = logging.getLogger(__name__)

_IDLE_SECONDS = 1.0  # the bus is a hint and may be lost
_REST_SECONDS = 0.01  # others may write between two pieces


def go_on(conn: Connection, now: datetime, experiment_id: int) -> bool:
    """Do the next piece of what is left of an experiment; whether there is more."""
    experiment = experiments.get(conn, experiment_id)
    state = State(experiment.state)
    search_queue.unmark(conn, experiment_id)
    if state in TERMINAL:
        search_queue.drop_operations(conn, experiment_id)
    elif not trial_state.push_more(conn, now, experiment_id, state):
        operations.advance(conn, now, experiment_id)
    search.settle(conn, now, experiment_id)
    return search_queue.is_waiting(conn, experiment_id)


async def run(ctx: MasterContext) -> None:
    """Handle one piece of each experiment in turn, until cancelled."""
    async with ctx.bus.listen(topics.PIECES) as hints:
        while not ctx.bus.closed:
            more = await _pass(ctx)
            await (asyncio.sleep(_REST_SECONDS) if more else hints.wait(_IDLE_SECONDS))


async def _pass(ctx: MasterContext) -> bool:
    """Do one pass; return whether there was anything to do."""
    try:
        waiting = await ctx.db.read(search_queue.experiments)
        for experiment_id in waiting:
            await _go_on(ctx, experiment_id)
    except DeterminedError as e:
        # the database is away: what is left lies in the rows, the next look finds it
        logger.warning("large searches wait: %s", e.message)
        return False
    return bool(waiting)


async def _go_on(ctx: MasterContext, experiment_id: int) -> None:
    try:
        await ctx.db.write(lambda conn: go_on(conn, ctx.clock.now(), experiment_id))
    except NotFound:
        return  # deleted meanwhile, and its rows with it
    ctx.bus.publish(topics.SCHEDULE, f"experiment:{experiment_id}")
