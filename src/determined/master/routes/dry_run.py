"""Dry runs of experiments."""

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.limits import DRY_RUN_BODY
from determined.master.routes.serve import serve
from determined.master.services import dry_run
from determined.wire.dry_run import DRY_RUN_EXPERIMENT, DryRunRequest, DryRunResponse


@serve(DRY_RUN_EXPERIMENT, ANY_USER, max_body=DRY_RUN_BODY)
async def dry_run_experiment(payload: DryRunRequest, ctx: MasterContext, caller: Caller) -> DryRunResponse:
    return await dry_run.dry_run(ctx, caller, payload)
