"""The job queue."""

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, noted
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import job as jobs
from determined.master.services.paging import page
from determined.wire.job import (
    GET_JOB_QUEUE_STATS,
    LIST_JOBS,
    LIST_JOBS_V2,
    UPDATE_JOB_QUEUE,
    GetJobQueueStats,
    GetJobQueueStatsResponse,
    GetJobsResponse,
    GetJobsV2Response,
    ListJobs,
    RBACJob,
    UpdateJobQueueRequest,
)

DEFAULT_LIMIT = 100


@serve(LIST_JOBS, ANY_USER)
async def get_jobs(ctx: MasterContext, params: ListJobs) -> GetJobsResponse:
    shown, pagination = page(await jobs.list_jobs(ctx, params), params.limit or DEFAULT_LIMIT, params.offset)
    return GetJobsResponse(jobs=shown, pagination=pagination)


@serve(LIST_JOBS_V2, ANY_USER)
async def get_jobs_v2(ctx: MasterContext, params: ListJobs) -> GetJobsV2Response:
    shown, pagination = page(await jobs.list_jobs(ctx, params), params.limit or DEFAULT_LIMIT, params.offset)
    return GetJobsV2Response(jobs=[RBACJob(full=job) for job in shown], pagination=pagination)


@serve(GET_JOB_QUEUE_STATS, ANY_USER)
async def get_stats(ctx: MasterContext, params: GetJobQueueStats) -> GetJobQueueStatsResponse:
    return GetJobQueueStatsResponse(results=await jobs.stats(ctx, params.resource_pools or ()))


@serve(UPDATE_JOB_QUEUE, noted(ANY_USER, "jobs of others: administrators"))
async def update_queue(payload: UpdateJobQueueRequest, ctx: MasterContext, caller: Caller) -> None:
    await jobs.update(ctx, caller, payload.updates)
