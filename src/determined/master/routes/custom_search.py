"""Custom searches: events for the client that drives one, and its operations."""

from determined.master.auth.identity import Caller
from determined.master.auth.permission import OWNER_OR_EXPERIMENT
from determined.master.context import MasterContext
from determined.master.routes.limits import REPORT_BODY
from determined.master.routes.serve import serve
from determined.master.services import custom_search
from determined.wire.custom_search import (
    GET_SEARCHER_EVENTS,
    POST_SEARCHER_OPERATIONS,
    GetSearcherEvents,
    GetSearcherEventsResponse,
    PostSearcherOperationsRequest,
    PostSearcherOperationsResponse,
)

_POLL_SECONDS = 60.0


@serve(GET_SEARCHER_EVENTS, OWNER_OR_EXPERIMENT)
async def get_searcher_events(
    ctx: MasterContext, caller: Caller, experiment_id: int, params: GetSearcherEvents
) -> GetSearcherEventsResponse:
    seconds = _POLL_SECONDS if params.timeout_seconds is None else params.timeout_seconds
    return GetSearcherEventsResponse(searcher_events=await custom_search.events(ctx, caller, experiment_id, seconds))


@serve(POST_SEARCHER_OPERATIONS, OWNER_OR_EXPERIMENT, max_body=REPORT_BODY)
async def post_searcher_operations(
    payload: PostSearcherOperationsRequest, ctx: MasterContext, caller: Caller, experiment_id: int
) -> PostSearcherOperationsResponse:
    await custom_search.post(ctx, caller, experiment_id, payload)
    return PostSearcherOperationsResponse()
