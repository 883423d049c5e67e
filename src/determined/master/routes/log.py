"""Logs of tasks and trials: read, followed, posted, cleaned up."""

from typing import Annotated, Any

from litestar import Request, Router, get, post
from litestar.di import Provide
from litestar.params import Parameter
from litestar.response import Stream

from determined.errors import InvalidArgument
from determined.master.auth.identity import Caller, require_admin
from determined.master.auth.permission import ADMIN, ANY_USER, OWNER_OR_TRIAL
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.limits import REPORT_BODY
from determined.master.routes.paged_stream import ndjson_pages
from determined.master.routes.params import MAX_INT64, parse_time
from determined.master.routes.streaming import ndjson
from determined.master.services import log as logs
from determined.master.services import log_fields, log_post
from determined.master.services.log import LogQuery, LogText
from determined.wire.base import OrderBy
from determined.wire.log import CleanupLogsResponse, LogLevel, PostTaskLogsRequest

AnyRequest = Request[Any, Any, Any]


async def read_query(
    *,
    limit: Annotated[int | None, Parameter(query="limit", ge=0, le=2**31 - 1, required=False)] = None,
    follow: Annotated[bool, Parameter(query="follow", required=False)] = False,
    order_by: Annotated[OrderBy | None, Parameter(query="orderBy", required=False)] = None,
    allocation_ids: Annotated[list[str] | None, Parameter(query="allocationIds", required=False)] = None,
    agent_ids: Annotated[list[str] | None, Parameter(query="agentIds", required=False)] = None,
    container_ids: Annotated[list[str] | None, Parameter(query="containerIds", required=False)] = None,
    rank_ids: Annotated[list[int] | None, Parameter(query="rankIds", required=False)] = None,
    levels: Annotated[list[LogLevel] | None, Parameter(query="levels", required=False)] = None,
    stdtypes: Annotated[list[str] | None, Parameter(query="stdtypes", required=False)] = None,
    sources: Annotated[list[str] | None, Parameter(query="sources", required=False)] = None,
    timestamp_before: Annotated[str | None, Parameter(query="timestampBefore", required=False)] = None,
    timestamp_after: Annotated[str | None, Parameter(query="timestampAfter", required=False)] = None,
    search_text: Annotated[str | None, Parameter(query="searchText", required=False)] = None,
    enable_regex: Annotated[bool, Parameter(query="enableRegex", required=False)] = False,
    after_id: Annotated[int | None, Parameter(query="afterId", ge=0, le=MAX_INT64, required=False)] = None,
    before_id: Annotated[int | None, Parameter(query="beforeId", ge=0, le=MAX_INT64, required=False)] = None,
) -> LogQuery:
    """The filters every log endpoint takes; `afterId` and `beforeId` (ours) start at a line known by its id."""
    newest_first = order_by == OrderBy.DESC
    if (after_id if newest_first else before_id) is not None:
        raise InvalidArgument("afterId goes with orderBy=ORDER_BY_ASC, beforeId with orderBy=ORDER_BY_DESC")
    return LogQuery(
        wanted=logs.log_filter(
            allocation_ids=allocation_ids,
            agent_ids=agent_ids,
            container_ids=container_ids,
            rank_ids=rank_ids,
            levels=levels,
            stdtypes=stdtypes,
            sources=sources,
            before=parse_time(timestamp_before, "timestampBefore"),
            after=parse_time(timestamp_after, "timestampAfter"),
            text=LogText(search_text, enable_regex),
        ),
        limit=limit or None,
        follow=follow,
        newest_first=newest_first,
        after_id=after_id,
        before_id=before_id,
    )


@get("/api/v1/tasks/{task_id:str}/logs", opt=ANY_USER)
async def task_logs(ctx: MasterContext, task_id: str, log_query: LogQuery) -> Stream:
    return ndjson_pages(await logs.task_logs(ctx, task_id, log_query))


@get("/api/v1/trials/{trial_id:int}/logs", opt=ANY_USER)
async def trial_logs(ctx: MasterContext, trial_id: int, log_query: LogQuery) -> Stream:
    return ndjson_pages(await logs.trial_logs(ctx, trial_id, log_query))


@get("/api/v1/tasks/{task_id:str}/logs/fields", opt=ANY_USER)
async def task_log_fields(ctx: MasterContext, task_id: str, follow: bool = False) -> Stream:
    return ndjson(await log_fields.of_task(ctx, task_id, follow=follow))


@get("/api/v1/trials/{trial_id:int}/logs/fields", opt=ANY_USER)
async def trial_log_fields(ctx: MasterContext, trial_id: int, follow: bool = False) -> Stream:
    return ndjson(await log_fields.of_trial(ctx, trial_id, follow=follow))


@post("/api/v1/task/logs", status_code=200, request_max_body_size=REPORT_BODY, opt=OWNER_OR_TRIAL)
async def post_task_logs(request: AnyRequest, ctx: MasterContext, caller: Caller) -> dict[str, Any]:
    asked = await read_body(request, PostTaskLogsRequest)
    await log_post.post(ctx, caller, asked.logs)
    return {}


@post("/task-logs", status_code=200, request_max_body_size=REPORT_BODY, opt=OWNER_OR_TRIAL)
async def post_task_logs_older(request: AnyRequest, ctx: MasterContext, caller: Caller) -> dict[str, Any]:
    asked = await read_body(request, Any)
    if not isinstance(asked, list) or not all(isinstance(entry, dict) for entry in asked):
        raise InvalidArgument("/task-logs takes a list of objects")
    await log_post.post(ctx, caller, log_post.from_older(asked))
    return {}


@post("/api/v1/cleanup_logs", status_code=200, opt=ADMIN)
async def cleanup_logs(ctx: MasterContext, caller: Caller) -> CleanupLogsResponse:
    require_admin(caller)
    return CleanupLogsResponse(removed_count=str(await logs.sweep(ctx, ctx.clock.now())))


router = Router(
    path="",
    route_handlers=[
        task_logs,
        trial_logs,
        task_log_fields,
        trial_log_fields,
        post_task_logs,
        post_task_logs_older,
        cleanup_logs,
    ],
    dependencies={"log_query": Provide(read_query)},
)
