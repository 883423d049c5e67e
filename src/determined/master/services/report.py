"""Journals of runners into the database: each record exactly once, with everything that follows from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from types import MappingProxyType

from sqlalchemy import Connection

from determined.errors import Conflict, Gone
from determined.master.auth.identity import Caller, require_task
from determined.master.context import MasterContext
from determined.master.db.queries import checkpoint as checkpoints
from determined.master.db.queries import report as queries
from determined.master.db.queries.report import Target
from determined.master.services import checkpoint_check
from determined.master.services.report_pieces import in_pieces
from determined.master.services.report_records import Application
from determined.storage.checkpoint_id import is_checkpoint_id
from determined.wire.report import Record, ReportAnswer, ReportBatch, Segment

_TERMINATED = "TERMINATED"
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Outcome:
    answer: ReportAnswer
    topics: set[str] = field(default_factory=set)


async def receive(
    ctx: MasterContext, caller: Caller, allocation_id: str, resource_id: str, batch: ReportBatch
) -> ReportAnswer:
    """Write what is new in the batch; answers how far each journal has come. Ended allocations may still report."""
    require_task(caller, allocation_id)
    refused = await checkpoint_check.refusals(ctx, allocation_id, resource_id, batch)
    now = ctx.clock.now()
    answer = ReportAnswer(positions={})
    for piece in in_pieces(batch):
        store = partial(write, now=now, allocation_id=allocation_id, resource_id=resource_id, batch=piece)
        outcome = await ctx.db.write(partial(store, refused=refused))
        ctx.bus.publish(*outcome.topics)
        outcome.answer.refused.update(answer.refused)
        answer = outcome.answer
    return answer


def write(
    conn: Connection,
    now: datetime,
    allocation_id: str,
    resource_id: str,
    batch: ReportBatch,
    refused: Mapping[str, str] = _NOTHING,
) -> Outcome:
    """Write in one transaction. Raises Conflict (a gap, with known positions) or Gone (a stale run) before any effect.

    `refused`: checkpoints that are not to be taken, and why.
    """
    target = queries.target(conn, allocation_id, resource_id)
    if target is None:
        raise Gone(f"runner {resource_id} of allocation {allocation_id} is unknown; it must end")
    if target.is_over and _ended(target):
        raise Gone(f"allocation {allocation_id} is over; its token is no longer valid")
    known = queries.positions(conn, resource_id)
    reached, fresh = past(known, batch.segments)
    if not fresh:
        lost = not_taken(conn, target, batch, refused)
        return Outcome(ReportAnswer(positions=known, ended=_ended(target), refused=lost))
    _refuse_stale(target)
    application = Application(conn, now, target, batch.sent, refused)
    application.apply(fresh)
    queries.advance(conn, resource_id, reached)
    if application.decided:
        target = queries.target(conn, allocation_id, resource_id) or target
    lost = not_taken(conn, target, batch, application.dropped)
    return Outcome(ReportAnswer(positions=known | reached, ended=_ended(target), refused=lost), application.topics)


def not_taken(conn: Connection, target: Target, batch: ReportBatch, reasons: Mapping[str, str]) -> dict[str, str]:
    """Return its checkpoints that have no row: also of a batch sent again, whose first answer was lost."""
    ids = {report.uuid for report in checkpoint_check.checkpoint_reports(batch)}
    lost = [one for one in sorted(ids) if is_checkpoint_id(one) and checkpoints.owner(conn, one) != target.trial_id]
    return {one: reasons.get(one, "it was refused before; the task's log says why") for one in lost}


def past(known: dict[str, int], segments: Sequence[Segment]) -> tuple[dict[str, int], list[Record]]:
    """Return the records beyond what is written, in order, and the positions they lead to."""
    reached: dict[str, int] = {}
    fresh: list[Record] = []
    for segment in segments:
        position = reached.get(segment.source, known.get(segment.source, 0))
        if segment.first > position + 1 or segment.first < 1:
            raise Conflict(
                f"journal '{segment.source}' goes on with record {segment.first}, but only {position} are written; "
                f"send again from record {position + 1}",
                positions=known,
            )
        new = segment.records[position + 1 - segment.first :]
        if new:
            fresh += new
            reached[segment.source] = position + len(new)
    return reached, fresh


def _refuse_stale(target: Target) -> None:
    if target.trial_run_id is not None and target.trial_run_id != target.run_id:
        raise Gone(
            f"trial {target.trial_id} is at run {target.trial_run_id}; run {target.run_id} of allocation "
            f"{target.allocation_id} is stale and its runner must end"
        )
    if target.drained:
        raise Gone(f"allocation {target.allocation_id} has ended and everything it said was written")


def _ended(target: Target) -> bool:
    return target.allocation_state == _TERMINATED
