"""Tasks. Their logs are in routes/log.py."""

from typing import Any

from litestar import Router, get

from determined.master.auth.permission import ANY_USER, USER_OR_EXPERIMENT
from determined.master.context import MasterContext
from determined.master.services import task as tasks
from determined.wire.context import GetTaskContextDirectoryResponse
from determined.wire.task import (
    GetActiveTasksCountResponse,
    GetTaskAcceleratorDataResponse,
    GetTaskResponse,
    GetTasksResponse,
)


@get("/api/v1/tasks", opt=ANY_USER)
async def list_tasks(ctx: MasterContext) -> GetTasksResponse:
    return GetTasksResponse(allocation_id_to_summary=await tasks.summaries(ctx))


@get("/tasks", opt=ANY_USER)
async def list_tasks_raw(ctx: MasterContext) -> dict[str, Any]:
    return await tasks.legacy_summaries(ctx)


@get("/api/v1/tasks/count", opt=ANY_USER)
async def count_tasks(ctx: MasterContext) -> GetActiveTasksCountResponse:
    return await tasks.counts(ctx)


@get("/api/v1/tasks/{task_id:str}", opt=USER_OR_EXPERIMENT)
async def get_task(ctx: MasterContext, task_id: str) -> GetTaskResponse:
    return GetTaskResponse(task=await tasks.get(ctx, task_id))


@get("/api/v1/tasks/{task_id:str}/context_directory", opt=USER_OR_EXPERIMENT)
async def get_context_directory(ctx: MasterContext, task_id: str) -> GetTaskContextDirectoryResponse:
    return GetTaskContextDirectoryResponse(b64_tgz=await tasks.context_directory(ctx, task_id))


@get("/api/v1/tasks/{task_id:str}/acceleratorData", opt=ANY_USER)
async def get_accelerators(ctx: MasterContext, task_id: str) -> GetTaskAcceleratorDataResponse:
    return GetTaskAcceleratorDataResponse(accelerator_data=await tasks.accelerators(ctx, task_id))


router = Router(
    path="",
    route_handlers=[count_tasks, get_accelerators, get_context_directory, get_task, list_tasks, list_tasks_raw],
)
