"""Trials over HTTP."""

from collections.abc import Iterator
from typing import Any

from determined.api.paging import given, pages
from determined.api.session import Session
from determined.wire.checkpoint import Checkpoint
from determined.wire.codec import convert
from determined.wire.log import TrialLogsResponse
from determined.wire.metric import GetMetricsResponse, MetricsReport
from determined.wire.trial import (
    GetTrialCheckpointsResponse,
    GetTrialResponse,
    GetTrialWorkloadsResponse,
    Trial,
    WorkloadContainer,
)

_ROOT = "/api/v1/trials"


def get(session: Session, trial_id: int) -> Trial:
    return session.get_as(f"{_ROOT}/{trial_id}", GetTrialResponse).trial


def kill(session: Session, trial_id: int) -> None:
    session.post(f"{_ROOT}/{trial_id}/kill", {})


def logs(session: Session, trial_id: int, **filters: Any) -> Iterator[TrialLogsResponse]:
    """`filters`: follow, limit, orderBy, rankIds, levels, stdtypes, sources, searchText, enableRegex, times, ids."""
    for item in session.stream(f"{_ROOT}/{trial_id}/logs", params=given(**filters)):
        yield convert(item, TrialLogsResponse)


def checkpoints(session: Session, trial_id: int, **filters: Any) -> Iterator[Checkpoint]:
    def fetch(size: int, start: int) -> GetTrialCheckpointsResponse:
        params = given(limit=size, offset=start, **filters)
        return session.get_as(f"{_ROOT}/{trial_id}/checkpoints", GetTrialCheckpointsResponse, params=params)

    for page in pages(fetch):
        yield from page.checkpoints


def workloads(
    session: Session, trial_id: int, *, limit: int = 1000, offset: int = 0, all_pages: bool = True, **filters: Any
) -> Iterator[WorkloadContainer]:
    def fetch(size: int, start: int) -> GetTrialWorkloadsResponse:
        params = given(limit=size, offset=start, **filters)
        return session.get_as(f"{_ROOT}/{trial_id}/workloads", GetTrialWorkloadsResponse, params=params)

    for page in pages(fetch, limit=limit, offset=offset, all_pages=all_pages):
        yield from page.workloads


def metrics(session: Session, trial_ids: list[int], group: str) -> Iterator[MetricsReport]:
    params = {"trialIds": trial_ids, "group": group}
    for item in session.stream(f"{_ROOT}/metrics/trial_metrics", params=params):
        yield from convert(item, GetMetricsResponse).metrics


def retain_logs(session: Session, trial_id: int, days: int) -> None:
    session.put(f"{_ROOT}/{trial_id}/retain_logs", {"trialId": trial_id, "numDays": days})
