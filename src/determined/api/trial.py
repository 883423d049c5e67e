"""Trials over HTTP."""

from collections.abc import Iterator

from determined.api.paging import pages
from determined.api.session import Session
from determined.wire.checkpoint import Checkpoint, ListCheckpoints
from determined.wire.log import STREAM_TRIAL_LOGS, LogQuery, TrialLogsResponse
from determined.wire.metric import STREAM_METRICS, MetricsReport, StreamMetrics
from determined.wire.shell import Shell
from determined.wire.stacks import REQUEST_STACKS, RequestStacksResponse
from determined.wire.trial import (
    GET_TRIAL,
    KILL_TRIAL,
    LIST_TRIAL_CHECKPOINTS,
    LIST_TRIAL_WORKLOADS,
    RETAIN_TRIAL_LOGS,
    ListTrialWorkloads,
    PutTrialRetainLogsRequest,
    Trial,
    WorkloadContainer,
)
from determined.wire.trial_shell import OPEN_TRIAL_SHELL

_WORKLOADS = 1000  # of a page


def get(session: Session, trial_id: int) -> Trial:
    return session.call(GET_TRIAL, trial_id=trial_id).trial


def kill(session: Session, trial_id: int) -> None:
    session.call(KILL_TRIAL, trial_id=trial_id)


def request_stacks(session: Session, trial_id: int) -> RequestStacksResponse:
    """Have the stacks of all ranks written to the trial's log."""
    return session.call(REQUEST_STACKS, trial_id=trial_id)


def open_shell(session: Session, trial_id: int) -> Shell:
    """Have a shell server started beside a running trial."""
    return session.call(OPEN_TRIAL_SHELL, trial_id=trial_id).shell


def logs(session: Session, trial_id: int, params: LogQuery) -> Iterator[TrialLogsResponse]:
    return session.follow(STREAM_TRIAL_LOGS, params, trial_id=trial_id)


def checkpoints(session: Session, trial_id: int, params: ListCheckpoints | None = None) -> Iterator[Checkpoint]:
    for page in pages(session, LIST_TRIAL_CHECKPOINTS, params or ListCheckpoints(), trial_id=trial_id):
        yield from page.checkpoints


def workloads(
    session: Session, trial_id: int, params: ListTrialWorkloads | None = None, *, all_pages: bool = True
) -> Iterator[WorkloadContainer]:
    params = params or ListTrialWorkloads(limit=_WORKLOADS)
    for page in pages(session, LIST_TRIAL_WORKLOADS, params, all_pages=all_pages, trial_id=trial_id):
        yield from page.workloads


def metrics(session: Session, trial_ids: list[int], group: str) -> Iterator[MetricsReport]:
    for item in session.follow(STREAM_METRICS, StreamMetrics(trial_ids=trial_ids, group=group)):
        yield from item.metrics


def retain_logs(session: Session, trial_id: int, days: int) -> None:
    request = PutTrialRetainLogsRequest(trial_id=trial_id, num_days=days)
    session.call(RETAIN_TRIAL_LOGS, request, trial_id=trial_id)
