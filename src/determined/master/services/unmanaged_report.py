"""Journals of unmanaged trials into the database: each record exactly once, as those of runners (report.py)."""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from types import MappingProxyType

from sqlalchemy import Connection

from determined.errors import FailedPrecondition, Gone, InvalidArgument
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db.queries import report as queries
from determined.master.db.queries.report import Target
from determined.master.lifecycle import unmanaged as lifecycle
from determined.master.services.own_trial import check_reporter
from determined.master.services.report import Outcome, not_taken, past
from determined.master.services.report_pieces import in_pieces
from determined.master.services.report_records import Application
from determined.wire.report import (
    Alert,
    CheckpointReport,
    LogLine,
    MetricReport,
    Missing,
    Progress,
    Record,
    ReportAnswer,
    ReportBatch,
    Status,
)

# Records that say something of an allocation mean nothing here: its client sets the state of an unmanaged trial.
_TAKEN = (Alert, LogLine, MetricReport, CheckpointReport, Progress, Status)
_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")


async def receive(ctx: MasterContext, caller: Caller, trial_id: int, run_id: int, batch: ReportBatch) -> ReportAnswer:
    """Write what is new in the batch, and answer how far each journal has come.

    Checkpoints are taken unseen: their files may be on any machine.

    Raises:
        Forbidden: another's trial. FailedPrecondition: a managed one. Gone: a later run has begun. Conflict: a gap.
    """
    _check_names(batch)
    now = ctx.clock.now()
    answer = ReportAnswer(positions={})
    for piece in in_pieces(batch):
        outcome = await ctx.db.write(
            partial(write, now=now, caller=caller, trial_id=trial_id, run_id=run_id, batch=piece)
        )
        ctx.bus.publish(*outcome.topics)
        outcome.answer.refused.update(answer.refused)
        answer = outcome.answer
    return answer


def write(conn: Connection, now: datetime, caller: Caller, trial_id: int, run_id: int, batch: ReportBatch) -> Outcome:
    """Write in one transaction; raises as `receive`, before any effect."""
    check_reporter(conn, caller, trial_id)
    target = queries.unmanaged_target(conn, trial_id, run_id)
    if target is None:
        raise FailedPrecondition(f"trial {trial_id} is managed; its own task alone reports for it")
    if not batch.segments:  # a sign of life
        _refuse_stale(target)
    known = queries.unmanaged_positions(conn, trial_id, {segment.source for segment in batch.segments})
    reached, fresh = past(known, batch.segments)
    if target.run_id == target.trial_run_id:  # a process of an earlier run would keep the trial alive for ever
        lifecycle.note_activity(conn, now, trial_id)
    if not fresh:
        return Outcome(ReportAnswer(positions=known, refused=not_taken(conn, target, batch, MappingProxyType({}))))
    _refuse_stale(target)
    application = Application(conn, now, target, batch.sent, MappingProxyType({}))
    application.apply(_without_allocation(fresh))
    queries.advance_unmanaged(conn, trial_id, reached)
    refused = not_taken(conn, target, batch, application.dropped)
    return Outcome(ReportAnswer(positions=known | reached, refused=refused), application.topics)


def _without_allocation(records: Sequence[Record]) -> list[Record]:
    return [record if isinstance(record, _TAKEN) else Missing() for record in records]


def _refuse_stale(target: Target) -> None:
    if target.run_id != target.trial_run_id:
        raise Gone(
            f"trial {target.trial_id} is at run {target.trial_run_id}: another process has started it again, and "
            f"reports of run {target.run_id} are no longer taken"
        )


def _check_names(batch: ReportBatch) -> None:
    for segment in batch.segments:
        if not _NAME.fullmatch(segment.source):
            raise InvalidArgument(
                f"journal name {segment.source[:200]!r} is not allowed; use up to 200 letters, digits, '.', '_' and '-'"
            )
