"""Custom searches over HTTP: the events their clients wait for, and the operations they answer with."""

from dataclasses import dataclass
from typing import Any

from msgspec import to_builtins
from sqlalchemy import Connection

from determined.config import ExperimentConfig
from determined.errors import FailedPrecondition
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.lifecycle import search, searchers
from determined.master.lifecycle.states import State
from determined.master.services import long_poll
from determined.master.services.experiment import announce
from determined.search.registry import searcher_of
from determined.wire.codec import convert
from determined.wire.custom_search import (
    INACTIVE_EVENT_ID,
    ExperimentInactive,
    PostSearcherOperationsRequest,
    SearcherEvent,
    TriggeringEvent,
)
from determined.wire.experiment import ExperimentState


async def events(ctx: MasterContext, caller: Caller, experiment_id: int, timeout_seconds: float) -> list[SearcherEvent]:
    """List what the client has not answered yet, once there is something; or that the experiment is not active.

    Raises:
        FailedPrecondition: the searcher is no custom one.
        Forbidden: the experiment is another's.
    """
    look = _Look(caller, experiment_id)
    seconds = long_poll.checked_timeout(timeout_seconds)
    return await long_poll.poll(ctx, f"experiment:{experiment_id}", look.read, bool, seconds)


async def post(ctx: MasterContext, caller: Caller, experiment_id: int, request: PostSearcherOperationsRequest) -> None:
    """Carry out what the client wants, all of it or, where something in it makes no sense, nothing.

    Raises:
        InvalidArgument: says which operation.
        FailedPrecondition: the searcher is no custom one.
        Forbidden: the experiment is another's.
    """
    triggered_by = request.triggered_by_event
    event_id = triggered_by.id if isinstance(triggered_by, TriggeringEvent) else triggered_by
    operations: list[dict[str, Any]] = to_builtins(request.searcher_operations)

    def run(conn: Connection) -> None:
        _own(conn, caller, experiment_id)
        search.operations_posted(conn, ctx.clock.now(), experiment_id, event_id, operations)

    await ctx.db.write(run)
    announce(ctx, experiment_id)


@dataclass(slots=True)
class _Look:
    """Reads the queue again and again; a search nobody has touched since is not rebuilt."""

    caller: Caller
    experiment_id: int
    seen: str | None = None
    found: list[SearcherEvent] | None = None

    def read(self, conn: Connection) -> list[SearcherEvent]:
        state = _own(conn, self.caller, self.experiment_id)
        if state != State.ACTIVE:
            inactive = ExperimentInactive(experiment_state=ExperimentState(f"STATE_{state}"))
            return [SearcherEvent(id=INACTIVE_EVENT_ID, experiment_inactive=inactive)]
        version = searchers.version(conn, self.experiment_id)
        if self.found is None or version != self.seen:
            searcher = searchers.peek(conn, self.experiment_id)
            waiting = [] if searcher is None else searcher.custom().events()
            self.seen, self.found = version, [convert(event, SearcherEvent) for event in waiting]
        return self.found


def _own(conn: Connection, caller: Caller, experiment_id: int) -> str:
    """Look up the experiment's state, for whoever may steer its search."""
    experiment = experiments.get(conn, experiment_id)
    require_owner(caller, experiment.owner_id, f"experiment {experiment_id}")
    if not searcher_of(experiment.config).driven_by_user:
        name = ExperimentConfig.load(experiment.config).searcher.name
        raise FailedPrecondition(
            f"experiment {experiment_id}: searcher {name!r} decides by itself; only `searcher.name: custom` has events"
        )
    return str(experiment.state)
