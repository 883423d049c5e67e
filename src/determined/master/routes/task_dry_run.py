"""Dry runs of commands, notebooks, shells and TensorBoards."""

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.limits import DRY_RUN_BODY
from determined.master.routes.serve import serve
from determined.master.services import task_dry_run
from determined.wire.task_dry_run import DRY_RUN_TASK, DryRunTaskRequest, DryRunTaskResponse


@serve(DRY_RUN_TASK, ANY_USER, max_body=DRY_RUN_BODY)
async def dry_run_task(payload: DryRunTaskRequest, ctx: MasterContext, caller: Caller) -> DryRunTaskResponse:
    return await task_dry_run.dry_run(ctx, caller, payload)
