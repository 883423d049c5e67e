"""Commands."""

from determined.config.task_kinds import COMMAND
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
from determined.wire.command import (
    GET_COMMAND,
    KILL_COMMAND,
    LAUNCH_COMMAND,
    LIST_COMMANDS,
    SET_COMMAND_PRIORITY,
    GetCommandResponse,
    GetCommandsResponse,
    KillCommandResponse,
    LaunchCommandRequest,
    LaunchCommandResponse,
    SetCommandPriorityResponse,
)
from determined.wire.submitted_task import ListSubmittedTasks, SetPriorityRequest


@serve(LIST_COMMANDS, ANY_USER)
async def list_commands(params: ListSubmittedTasks, ctx: MasterContext) -> GetCommandsResponse:
    tasks, pagination = await submitted_tasks.list_tasks(ctx, COMMAND, params)
    return GetCommandsResponse(commands=[view.command(task) for task in tasks], pagination=pagination)


@serve(LAUNCH_COMMAND, ANY_USER, max_body=SUBMIT_BODY, errors=(FailedPrecondition,))
async def launch_command(
    request: AnyRequest, ctx: MasterContext, caller: Caller, submit_turns: SubmitTurns
) -> LaunchCommandResponse:
    async with submit_turns.body(request, caller, LaunchCommandRequest) as asked:
        task, messages = await submitted_tasks.launch(ctx, caller, COMMAND, asked)
    return LaunchCommandResponse(
        command=view.command(task), config=submitted_tasks.shown_config(task), warnings=[], messages=messages
    )


@serve(GET_COMMAND, ANY_USER)
async def get_command(ctx: MasterContext, task_id: str) -> GetCommandResponse:
    task = await submitted_tasks.get(ctx, COMMAND, task_id)
    return GetCommandResponse(command=view.command(task), config=submitted_tasks.shown_config(task))


@serve(KILL_COMMAND, OWNER)
async def kill_command(ctx: MasterContext, caller: Caller, task_id: str) -> KillCommandResponse:
    return KillCommandResponse(command=view.command(await submitted_tasks.kill(ctx, caller, COMMAND, task_id)))


@serve(SET_COMMAND_PRIORITY, OWNER)
async def set_command_priority(
    payload: SetPriorityRequest, ctx: MasterContext, caller: Caller, task_id: str
) -> SetCommandPriorityResponse:
    task = await submitted_tasks.set_priority(ctx, caller, COMMAND, task_id, payload.priority)
    return SetCommandPriorityResponse(command=view.command(task))
