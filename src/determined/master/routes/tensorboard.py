"""TensorBoards."""

from determined.config.task_kinds import TENSORBOARD
from determined.errors import FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER
from determined.master.context import MasterContext
from determined.master.routes.limits import SUBMIT_BODY
from determined.master.routes.request import AnyRequest
from determined.master.routes.serve import serve
from determined.master.routes.submit_turns import SubmitTurns
from determined.master.services import submitted_task as submitted_tasks
from determined.master.services import submitted_task_view as view
from determined.master.services import tensorboard as tensorboards
from determined.wire.submitted_task import ListSubmittedTasks, SetPriorityRequest
from determined.wire.tensorboard import (
    GET_TENSORBOARD,
    KILL_TENSORBOARD,
    LAUNCH_TENSORBOARD,
    LIST_TENSORBOARDS,
    SET_TENSORBOARD_PRIORITY,
    GetTensorboardResponse,
    GetTensorboardsResponse,
    KillTensorboardResponse,
    LaunchTensorboardRequest,
    LaunchTensorboardResponse,
    SetTensorboardPriorityResponse,
)


@serve(LIST_TENSORBOARDS, ANY_USER)
async def list_tensorboards(params: ListSubmittedTasks, ctx: MasterContext) -> GetTensorboardsResponse:
    tasks, pagination = await submitted_tasks.list_tasks(ctx, TENSORBOARD, params)
    return GetTensorboardsResponse(tensorboards=[view.tensorboard(task) for task in tasks], pagination=pagination)


@serve(LAUNCH_TENSORBOARD, ANY_USER, max_body=SUBMIT_BODY, errors=(FailedPrecondition,))
async def launch_tensorboard(
    request: AnyRequest, ctx: MasterContext, caller: Caller, submit_turns: SubmitTurns
) -> LaunchTensorboardResponse:
    async with submit_turns.body(request, caller, LaunchTensorboardRequest) as asked:
        task, messages = await tensorboards.launch(ctx, caller, asked)
    return LaunchTensorboardResponse(
        tensorboard=view.tensorboard(task), config=submitted_tasks.shown_config(task), warnings=[], messages=messages
    )


@serve(GET_TENSORBOARD, ANY_USER)
async def get_tensorboard(ctx: MasterContext, task_id: str) -> GetTensorboardResponse:
    task = await submitted_tasks.get(ctx, TENSORBOARD, task_id)
    return GetTensorboardResponse(tensorboard=view.tensorboard(task), config=submitted_tasks.shown_config(task))


@serve(KILL_TENSORBOARD, OWNER)
async def kill_tensorboard(ctx: MasterContext, caller: Caller, task_id: str) -> KillTensorboardResponse:
    return KillTensorboardResponse(
        tensorboard=view.tensorboard(await submitted_tasks.kill(ctx, caller, TENSORBOARD, task_id))
    )


@serve(SET_TENSORBOARD_PRIORITY, OWNER)
async def set_tensorboard_priority(
    payload: SetPriorityRequest, ctx: MasterContext, caller: Caller, task_id: str
) -> SetTensorboardPriorityResponse:
    task = await submitted_tasks.set_priority(ctx, caller, TENSORBOARD, task_id, payload.priority)
    return SetTensorboardPriorityResponse(tensorboard=view.tensorboard(task))
