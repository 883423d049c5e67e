"""Shells."""

from determined.config.task_kinds import SHELL
from determined.errors import FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, OWNER_OR_TASK_ITSELF
from determined.master.context import MasterContext
from determined.master.routes.limits import SUBMIT_BODY
from determined.master.routes.request import AnyRequest
from determined.master.routes.serve import serve
from determined.master.routes.submit_turns import SubmitTurns
from determined.master.services import shell as shells
from determined.master.services import submitted_task as submitted_tasks
from determined.wire.shell import (
    GET_SHELL,
    KILL_SHELL,
    LAUNCH_SHELL,
    LIST_SHELLS,
    REPORT_SHELL_IDLE,
    SET_SHELL_PRIORITY,
    GetShellResponse,
    GetShellsResponse,
    IdleShellRequest,
    KillShellResponse,
    LaunchShellRequest,
    LaunchShellResponse,
    SetShellPriorityResponse,
)
from determined.wire.submitted_task import ListSubmittedTasks, SetPriorityRequest


@serve(LIST_SHELLS, ANY_USER)
async def list_shells(params: ListSubmittedTasks, ctx: MasterContext, caller: Caller) -> GetShellsResponse:
    tasks, pagination = await submitted_tasks.list_tasks(ctx, SHELL, params)
    return GetShellsResponse(shells=await shells.all_to_wire(ctx, caller, tasks), pagination=pagination)


@serve(LAUNCH_SHELL, ANY_USER, max_body=SUBMIT_BODY, errors=(FailedPrecondition,))
async def launch_shell(
    request: AnyRequest, ctx: MasterContext, caller: Caller, submit_turns: SubmitTurns
) -> LaunchShellResponse:
    async with submit_turns.body(request, caller, LaunchShellRequest) as asked:
        task, messages = await submitted_tasks.launch(ctx, caller, SHELL, asked)
    return LaunchShellResponse(
        shell=await shells.to_wire(ctx, caller, task),
        config=submitted_tasks.shown_config(task),
        warnings=[],
        messages=messages,
    )


@serve(GET_SHELL, ANY_USER)
async def get_shell(ctx: MasterContext, caller: Caller, task_id: str) -> GetShellResponse:
    task = await submitted_tasks.get(ctx, SHELL, task_id)
    return GetShellResponse(shell=await shells.to_wire(ctx, caller, task), config=submitted_tasks.shown_config(task))


@serve(KILL_SHELL, OWNER)
async def kill_shell(ctx: MasterContext, caller: Caller, task_id: str) -> KillShellResponse:
    task = await submitted_tasks.kill(ctx, caller, SHELL, task_id)
    return KillShellResponse(shell=await shells.to_wire(ctx, caller, task))


@serve(SET_SHELL_PRIORITY, OWNER)
async def set_shell_priority(
    payload: SetPriorityRequest, ctx: MasterContext, caller: Caller, task_id: str
) -> SetShellPriorityResponse:
    task = await submitted_tasks.set_priority(ctx, caller, SHELL, task_id, payload.priority)
    return SetShellPriorityResponse(shell=await shells.to_wire(ctx, caller, task))


@serve(REPORT_SHELL_IDLE, OWNER_OR_TASK_ITSELF)
async def report_shell_idle(payload: IdleShellRequest, ctx: MasterContext, caller: Caller, task_id: str) -> None:
    await submitted_tasks.report_use(ctx, caller, SHELL, task_id, idle=bool(payload.idle))
