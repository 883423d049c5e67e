"""Custom searches over HTTP."""

from typing import Any

from determined.api.session import Session
from determined.wire.custom_search import GetSearcherEventsResponse, SearcherEvent

_ANSWER_SECONDS = 30.0  # beyond what the master was asked to wait


def events(session: Session, experiment_id: int, wait_seconds: float) -> list[SearcherEvent]:
    """What is unanswered, oldest first; waits for the first one up to `wait_seconds`."""
    path = f"/api/v1/experiments/{experiment_id}/searcher_events"
    limit = wait_seconds + _ANSWER_SECONDS
    params = {"timeoutSeconds": wait_seconds}
    return session.get_as(path, GetSearcherEventsResponse, params, timeout=limit).searcher_events


def post(session: Session, experiment_id: int, operations: list[dict[str, Any]], event_id: int) -> None:
    """Answer an event; the same answer again does nothing."""
    path = f"/api/v1/experiments/{experiment_id}/searcher_operations"
    session.post(path, {"searcherOperations": operations, "triggeredByEvent": {"id": event_id}})
