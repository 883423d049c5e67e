"""Tasks. Their logs are in routes/log.py."""

from determined._json import JsonObject
from determined.master.auth.permission import ANY_USER, USER_OR_EXPERIMENT
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import task as tasks
from determined.wire.context import GET_CONTEXT_DIRECTORY, GetTaskContextDirectoryResponse
from determined.wire.task import (
    COUNT_TASKS,
    GET_TASK,
    GET_TASK_ACCELERATORS,
    LIST_TASKS,
    LIST_TASKS_RAW,
    GetActiveTasksCountResponse,
    GetTaskAcceleratorDataResponse,
    GetTaskResponse,
    GetTasksResponse,
)


@serve(LIST_TASKS, ANY_USER)
async def list_tasks(ctx: MasterContext) -> GetTasksResponse:
    return GetTasksResponse(allocation_id_to_summary=await tasks.summaries(ctx))


@serve(LIST_TASKS_RAW, ANY_USER)
async def list_tasks_raw(ctx: MasterContext) -> JsonObject:
    return await tasks.legacy_summaries(ctx)


@serve(COUNT_TASKS, ANY_USER)
async def count_tasks(ctx: MasterContext) -> GetActiveTasksCountResponse:
    return await tasks.counts(ctx)


@serve(GET_TASK, USER_OR_EXPERIMENT)
async def get_task(ctx: MasterContext, task_id: str) -> GetTaskResponse:
    return GetTaskResponse(task=await tasks.get(ctx, task_id))


@serve(GET_CONTEXT_DIRECTORY, USER_OR_EXPERIMENT)
async def get_context_directory(ctx: MasterContext, task_id: str) -> GetTaskContextDirectoryResponse:
    return GetTaskContextDirectoryResponse(b64_tgz=await tasks.context_directory(ctx, task_id))


@serve(GET_TASK_ACCELERATORS, ANY_USER)
async def get_accelerators(ctx: MasterContext, task_id: str) -> GetTaskAcceleratorDataResponse:
    return GetTaskAcceleratorDataResponse(accelerator_data=await tasks.accelerators(ctx, task_id))
