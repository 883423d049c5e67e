"""Logs of tasks and trials: read, followed, posted, cleaned up."""

from typing import Any

from litestar.response import Stream

from determined.errors import InvalidArgument
from determined.master.auth.identity import Caller, require_admin
from determined.master.auth.permission import ADMIN, ANY_USER, OWNER_OR_TRIAL
from determined.master.context import MasterContext
from determined.master.routes.limits import REPORT_BODY
from determined.master.routes.paged_stream import ndjson_pages
from determined.master.routes.serve import serve
from determined.master.routes.streaming import ndjson
from determined.master.services import log as logs
from determined.master.services import log_fields, log_post
from determined.wire.log import (
    CLEANUP_LOGS,
    POST_TASK_LOGS,
    POST_TASK_LOGS_OLDER,
    STREAM_TASK_LOG_FIELDS,
    STREAM_TASK_LOGS,
    STREAM_TRIAL_LOG_FIELDS,
    STREAM_TRIAL_LOGS,
    CleanupLogsResponse,
    Follow,
    LogQuery,
    PostTaskLogsRequest,
)


@serve(STREAM_TASK_LOGS, ANY_USER)
async def task_logs(ctx: MasterContext, task_id: str, params: LogQuery) -> Stream:
    return ndjson_pages(await logs.task_logs(ctx, task_id, params))


@serve(STREAM_TRIAL_LOGS, ANY_USER)
async def trial_logs(ctx: MasterContext, trial_id: int, params: LogQuery) -> Stream:
    return ndjson_pages(await logs.trial_logs(ctx, trial_id, params))


@serve(STREAM_TASK_LOG_FIELDS, ANY_USER)
async def task_log_fields(ctx: MasterContext, task_id: str, params: Follow) -> Stream:
    return ndjson(await log_fields.of_task(ctx, task_id, follow=params.follow))


@serve(STREAM_TRIAL_LOG_FIELDS, ANY_USER)
async def trial_log_fields(ctx: MasterContext, trial_id: int, params: Follow) -> Stream:
    return ndjson(await log_fields.of_trial(ctx, trial_id, follow=params.follow))


@serve(POST_TASK_LOGS, OWNER_OR_TRIAL, max_body=REPORT_BODY)
async def post_task_logs(payload: PostTaskLogsRequest, ctx: MasterContext, caller: Caller) -> None:
    await log_post.post(ctx, caller, payload.logs)


@serve(POST_TASK_LOGS_OLDER, OWNER_OR_TRIAL, max_body=REPORT_BODY)
async def post_task_logs_older(payload: Any, ctx: MasterContext, caller: Caller) -> None:
    if not isinstance(payload, list) or not all(isinstance(entry, dict) for entry in payload):
        raise InvalidArgument("/task-logs takes a list of objects")
    await log_post.post(ctx, caller, log_post.from_older(payload))


@serve(CLEANUP_LOGS, ADMIN)
async def cleanup_logs(ctx: MasterContext, caller: Caller) -> CleanupLogsResponse:
    require_admin(caller)
    return CleanupLogsResponse(removed_count=str(await logs.sweep(ctx, ctx.clock.now())))
