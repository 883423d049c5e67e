"""The job queue."""

from typing import Annotated, Any

from litestar import Request, Router, get, post
from litestar.params import QueryParameter

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.params import Limit, Offset
from determined.master.services import job as jobs
from determined.master.services.paging import page
from determined.wire.base import OrderBy
from determined.wire.job import (
    GetJobQueueStatsResponse,
    GetJobsResponse,
    GetJobsV2Response,
    JobState,
    RBACJob,
    UpdateJobQueueRequest,
)

AnyRequest = Request[Any, Any, Any]
PoolName = Annotated[str | None, QueryParameter(name="resourcePool")]
PoolNames = Annotated[list[str] | None, QueryParameter(name="resourcePools")]
Order = Annotated[OrderBy | None, QueryParameter(name="orderBy")]

DEFAULT_LIMIT = 100


@get("/api/v1/job-queues", opt=ANY_USER)
async def get_jobs(
    ctx: MasterContext,
    pool: PoolName = None,
    states: list[JobState] | None = None,
    order_by: Order = None,
    limit: Limit = None,
    offset: Offset = None,
) -> GetJobsResponse:
    wanted = jobs.QueueFilter(pool, states or (), order_by == OrderBy.DESC)
    shown, pagination = page(await jobs.list_jobs(ctx, wanted), limit or DEFAULT_LIMIT, offset)
    return GetJobsResponse(jobs=shown, pagination=pagination)


@get("/api/v1/job-queues-v2", opt=ANY_USER)
async def get_jobs_v2(
    ctx: MasterContext,
    pool: PoolName = None,
    states: list[JobState] | None = None,
    order_by: Order = None,
    limit: Limit = None,
    offset: Offset = None,
) -> GetJobsV2Response:
    wanted = jobs.QueueFilter(pool, states or (), order_by == OrderBy.DESC)
    shown, pagination = page(await jobs.list_jobs(ctx, wanted), limit or DEFAULT_LIMIT, offset)
    return GetJobsV2Response(jobs=[RBACJob(full=job) for job in shown], pagination=pagination)


@get("/api/v1/job-queues/stats", opt=ANY_USER)
async def get_stats(ctx: MasterContext, pools: PoolNames = None) -> GetJobQueueStatsResponse:
    return GetJobQueueStatsResponse(results=await jobs.stats(ctx, pools or ()))


@post("/api/v1/job-queues", status_code=200, opt=ANY_USER)
async def update_queue(request: AnyRequest, ctx: MasterContext, caller: Caller) -> dict[str, Any]:
    asked = await read_body(request, UpdateJobQueueRequest)
    await jobs.update(ctx, caller, asked.updates)
    return {}


router = Router(path="", route_handlers=[get_jobs, get_jobs_v2, get_stats, update_queue])
