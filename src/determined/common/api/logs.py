"""Upstream's `determined.common.api.logs`: lines of trials and tasks."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from determined.common.api import bindings
from determined.common.api._session import BaseSession

__all__ = ["levels_at_or_above", "pprint_logs", "task_logs", "trial_logs"]


def pprint_logs(logs: Iterable[bindings.v1TaskLogsResponse | bindings.v1TrialLogsResponse]) -> None:
    """Print messages as they are; they end with a newline themselves."""
    for log in logs:
        sys.stdout.write(log.message)


def trial_logs(
    session: BaseSession,
    trial_id: int,
    head: int | None = None,
    tail: int | None = None,
    follow: bool = False,
    agent_ids: list[str] | None = None,
    container_ids: list[str] | None = None,
    rank_ids: list[int] | None = None,
    sources: list[str] | None = None,
    stdtypes: list[str] | None = None,
    min_level: bindings.v1LogLevel | None = None,
    timestamp_before: str | None = None,
    timestamp_after: str | None = None,
    search_text: str | None = None,
) -> Iterator[bindings.v1TrialLogsResponse]:
    """Yield lines of a trial. Raises ValueError for more than one of head, tail and follow."""
    filters: dict[str, Any] = {
        "agentIds": agent_ids, "containerIds": container_ids, "rankIds": rank_ids, "searchText": search_text,
        "sources": sources, "stdtypes": stdtypes, "timestampAfter": timestamp_after,
        "timestampBefore": timestamp_before,
    }  # fmt: skip
    lines = bindings.get_TrialLogs(session, trialId=trial_id, **filters, **_window(head, tail, follow, min_level))
    yield from lines if tail is None else reversed(list(lines))


def task_logs(
    session: BaseSession,
    task_id: str,
    head: int | None = None,
    tail: int | None = None,
    follow: bool = False,
    allocation_ids: list[str] | None = None,
    agent_ids: list[str] | None = None,
    container_ids: list[str] | None = None,
    rank_ids: list[int] | None = None,
    sources: list[str] | None = None,
    stdtypes: list[str] | None = None,
    min_level: bindings.v1LogLevel | None = None,
    timestamp_before: str | None = None,
    timestamp_after: str | None = None,
) -> Iterator[bindings.v1TaskLogsResponse]:
    """Yield lines of a task. Raises ValueError for more than one of head, tail and follow."""
    filters: dict[str, Any] = {
        "agentIds": agent_ids, "allocationIds": allocation_ids, "containerIds": container_ids, "rankIds": rank_ids,
        "sources": sources, "stdtypes": stdtypes, "timestampAfter": timestamp_after,
        "timestampBefore": timestamp_before,
    }  # fmt: skip
    lines = bindings.get_TaskLogs(session, taskId=task_id, **filters, **_window(head, tail, follow, min_level))
    yield from lines if tail is None else reversed(list(lines))


def levels_at_or_above(min_level: bindings.v1LogLevel | None) -> list[bindings.v1LogLevel] | None:
    """List a level and those above it; None for all."""
    levels = list(bindings.v1LogLevel)
    return None if min_level is None else levels[levels.index(min_level) :]


def _window(head: int | None, tail: int | None, follow: bool, min_level: bindings.v1LogLevel | None) -> dict[str, Any]:
    if sum((head is not None, tail is not None, follow)) > 1:
        raise ValueError("give one of head, tail and follow")
    order = None if tail is None else bindings.v1OrderBy.DESC
    return {"follow": follow, "levels": levels_at_or_above(min_level), "limit": head or tail, "orderBy": order}
