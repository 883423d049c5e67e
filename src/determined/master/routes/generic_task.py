"""Generic tasks."""

from determined.errors import Conflict, FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, USER_OR_EXPERIMENT, noted
from determined.master.context import MasterContext
from determined.master.routes.limits import SUBMIT_BODY
from determined.master.routes.request import AnyRequest
from determined.master.routes.serve import serve
from determined.master.routes.submit_turns import SubmitTurns
from determined.master.services import generic_task as generic_tasks
from determined.master.services.experiment_create import launch_warnings
from determined.wire.generic_task import (
    CREATE_GENERIC_TASK,
    GET_GENERIC_TASK_CONFIG,
    KILL_GENERIC_TASK,
    PAUSE_GENERIC_TASK,
    UNPAUSE_GENERIC_TASK,
    CreateGenericTaskRequest,
    CreateGenericTaskResponse,
    GetGenericTaskConfigResponse,
    KillGenericTaskRequest,
)


@serve(
    CREATE_GENERIC_TASK,
    noted(ANY_USER, "parent and forked task: their owner or administrator"),
    max_body=SUBMIT_BODY,
    errors=(FailedPrecondition,),
)
async def create_generic_task(
    request: AnyRequest, ctx: MasterContext, caller: Caller, submit_turns: SubmitTurns
) -> CreateGenericTaskResponse:
    async with submit_turns.body(request, caller, CreateGenericTaskRequest) as asked:
        task_id, warnings = await generic_tasks.create(ctx, caller, asked)
    return CreateGenericTaskResponse(task_id=task_id, warnings=launch_warnings(warnings))


@serve(GET_GENERIC_TASK_CONFIG, USER_OR_EXPERIMENT)
async def get_generic_task_config(ctx: MasterContext, task_id: str) -> GetGenericTaskConfigResponse:
    return GetGenericTaskConfigResponse(config=await generic_tasks.config_text(ctx, task_id))


@serve(KILL_GENERIC_TASK, OWNER, errors=(Conflict,))
async def kill_generic_task(payload: KillGenericTaskRequest, ctx: MasterContext, caller: Caller, task_id: str) -> None:
    await generic_tasks.kill(ctx, caller, task_id, from_root=bool(payload.kill_from_root))


@serve(PAUSE_GENERIC_TASK, OWNER, errors=(Conflict,))
async def pause_generic_task(ctx: MasterContext, caller: Caller, task_id: str) -> None:
    await generic_tasks.pause(ctx, caller, task_id)


@serve(UNPAUSE_GENERIC_TASK, OWNER, errors=(Conflict,))
async def unpause_generic_task(ctx: MasterContext, caller: Caller, task_id: str) -> None:
    await generic_tasks.unpause(ctx, caller, task_id)
