"""Custom searches over HTTP."""

import msgspec

from determined._json import JsonObject
from determined.api.session import Session
from determined.wire.custom_search import (
    GET_SEARCHER_EVENTS,
    POST_SEARCHER_OPERATIONS,
    GetSearcherEvents,
    PostSearcherOperationsRequest,
    SearcherEvent,
    SearcherOperation,
    TriggeringEvent,
)

_ANSWER_SECONDS = 30.0  # beyond what the master was asked to wait


def events(session: Session, experiment_id: int, wait_seconds: float) -> list[SearcherEvent]:
    """List what is unanswered, oldest first; wait for the first one up to `wait_seconds`."""
    params, limit = GetSearcherEvents(timeout_seconds=wait_seconds), wait_seconds + _ANSWER_SECONDS
    return session.call(GET_SEARCHER_EVENTS, params, timeout=limit, experiment_id=experiment_id).searcher_events


def post(session: Session, experiment_id: int, operations: list[JsonObject], event_id: int) -> None:
    """Answer an event; the same answer again does nothing."""
    answer = msgspec.convert(operations, list[SearcherOperation], strict=False)  # lengths are text
    request = PostSearcherOperationsRequest(searcher_operations=answer, triggered_by_event=TriggeringEvent(id=event_id))
    session.call(POST_SEARCHER_OPERATIONS, request, experiment_id=experiment_id)
