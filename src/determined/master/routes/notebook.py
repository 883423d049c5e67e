"""Notebooks."""

from determined.config import mask_secrets
from determined.config.task_kinds import NOTEBOOK
from determined.errors import FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, OWNER_OR_TASK_ITSELF
from determined.master.context import MasterContext
from determined.master.routes.limits import SUBMIT_BODY
from determined.master.routes.request import AnyRequest
from determined.master.routes.serve import serve
from determined.master.routes.submit_turns import SubmitTurns
from determined.master.services import notebook as notebooks
from determined.master.services import notebook_checkpoint
from determined.master.services import submitted_task as submitted_tasks
from determined.wire.allocation import AllocationState
from determined.wire.notebook import (
    GET_NOTEBOOK,
    KILL_NOTEBOOK,
    LAUNCH_NOTEBOOK,
    LIST_NOTEBOOKS,
    REPORT_NOTEBOOK_IDLE,
    SET_NOTEBOOK_PRIORITY,
    GetNotebookResponse,
    GetNotebooksResponse,
    IdleNotebookRequest,
    KillNotebookResponse,
    LaunchNotebookRequest,
    LaunchNotebookResponse,
    Notebook,
    SetNotebookPriorityResponse,
)
from determined.wire.submitted_task import ListSubmittedTasks, SetPriorityRequest


@serve(LIST_NOTEBOOKS, ANY_USER)
async def list_notebooks(params: ListSubmittedTasks, ctx: MasterContext, caller: Caller) -> GetNotebooksResponse:
    tasks, pagination = await submitted_tasks.list_tasks(ctx, NOTEBOOK, params)
    return GetNotebooksResponse(
        notebooks=[notebooks.to_wire(ctx, caller, task) for task in tasks], pagination=pagination
    )


@serve(LAUNCH_NOTEBOOK, ANY_USER, max_body=SUBMIT_BODY, errors=(FailedPrecondition,))
async def launch_notebook(
    request: AnyRequest, ctx: MasterContext, caller: Caller, submit_turns: SubmitTurns
) -> LaunchNotebookResponse:
    async with submit_turns.body(request, caller, LaunchNotebookRequest) as payload:
        asked = await notebook_checkpoint.fill(ctx, caller, payload) if payload.checkpoint_uuid else payload
        if asked.preview:
            return _preview(await submitted_tasks.prepare(ctx, caller, NOTEBOOK, asked))
        task, messages = await submitted_tasks.launch(ctx, caller, NOTEBOOK, asked)
    return LaunchNotebookResponse(
        notebook=notebooks.to_wire(ctx, caller, task),
        config=submitted_tasks.shown_config(task),
        warnings=[],
        messages=messages,
    )


@serve(GET_NOTEBOOK, ANY_USER)
async def get_notebook(ctx: MasterContext, caller: Caller, task_id: str) -> GetNotebookResponse:
    task = await submitted_tasks.get(ctx, NOTEBOOK, task_id)
    return GetNotebookResponse(notebook=notebooks.to_wire(ctx, caller, task), config=submitted_tasks.shown_config(task))


@serve(KILL_NOTEBOOK, OWNER)
async def kill_notebook(ctx: MasterContext, caller: Caller, task_id: str) -> KillNotebookResponse:
    return KillNotebookResponse(
        notebook=notebooks.to_wire(ctx, caller, await submitted_tasks.kill(ctx, caller, NOTEBOOK, task_id))
    )


@serve(SET_NOTEBOOK_PRIORITY, OWNER)
async def set_notebook_priority(
    payload: SetPriorityRequest, ctx: MasterContext, caller: Caller, task_id: str
) -> SetNotebookPriorityResponse:
    task = await submitted_tasks.set_priority(ctx, caller, NOTEBOOK, task_id, payload.priority)
    return SetNotebookPriorityResponse(notebook=notebooks.to_wire(ctx, caller, task))


@serve(REPORT_NOTEBOOK_IDLE, OWNER_OR_TASK_ITSELF)
async def report_notebook_idle(payload: IdleNotebookRequest, ctx: MasterContext, caller: Caller, task_id: str) -> None:
    await submitted_tasks.report_use(ctx, caller, NOTEBOOK, task_id, idle=bool(payload.idle))


def _preview(prepared: submitted_tasks.Prepared) -> LaunchNotebookResponse:
    """Answer what would run; the notebook has no id."""
    new = prepared.new
    notebook = Notebook(
        id="",
        description=new.description,
        job_id="",
        resource_pool=new.pool,
        start_time="",
        state=AllocationState.UNSPECIFIED,
        username="",
        workspace_id=new.workspace_id,
    )
    return LaunchNotebookResponse(
        notebook=notebook,
        config=mask_secrets(new.config),
        messages=prepared.messages,
        from_template=prepared.from_template,
    )
