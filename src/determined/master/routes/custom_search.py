"""Custom searches: events for the client that drives one, and its operations."""

from typing import Annotated, Any

from litestar import Request, Router, get, post
from litestar.params import QueryParameter

from determined.master.auth.identity import Caller
from determined.master.auth.permission import OWNER_OR_EXPERIMENT
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.limits import REPORT_BODY
from determined.master.services import custom_search
from determined.wire.custom_search import (
    GetSearcherEventsResponse,
    PostSearcherOperationsRequest,
    PostSearcherOperationsResponse,
)

AnyRequest = Request[Any, Any, Any]
Timeout = Annotated[float | None, QueryParameter(name="timeoutSeconds", ge=0, le=1e6)]

_POLL_SECONDS = 60.0


@get("/api/v1/experiments/{experiment_id:int}/searcher_events", opt=OWNER_OR_EXPERIMENT)
async def get_searcher_events(
    ctx: MasterContext,
    caller: Caller,
    experiment_id: int,
    seconds: Timeout = None,
) -> GetSearcherEventsResponse:
    found = await custom_search.events(ctx, caller, experiment_id, _POLL_SECONDS if seconds is None else seconds)
    return GetSearcherEventsResponse(searcher_events=found)


@post(
    "/api/v1/experiments/{experiment_id:int}/searcher_operations",
    status_code=200,
    request_max_body_size=REPORT_BODY,
    opt=OWNER_OR_EXPERIMENT,
)
async def post_searcher_operations(
    request: AnyRequest, ctx: MasterContext, caller: Caller, experiment_id: int
) -> PostSearcherOperationsResponse:
    asked = await read_body(request, PostSearcherOperationsRequest)
    await custom_search.post(ctx, caller, experiment_id, asked)
    return PostSearcherOperationsResponse()


router = Router(path="", route_handlers=[get_searcher_events, post_searcher_operations])
