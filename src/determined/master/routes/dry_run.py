"""Dry runs of experiments."""

from typing import Any

from litestar import Request, Router, post

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.limits import DRY_RUN_BODY
from determined.master.services import dry_run
from determined.wire.dry_run import DryRunRequest, DryRunResponse

AnyRequest = Request[Any, Any, Any]


@post("/api/v1/experiments/dry-run", status_code=200, request_max_body_size=DRY_RUN_BODY, opt=ANY_USER)
async def dry_run_experiment(request: AnyRequest, ctx: MasterContext, caller: Caller) -> DryRunResponse:
    return await dry_run.dry_run(ctx, caller, await read_body(request, DryRunRequest))


router = Router(path="", route_handlers=[dry_run_experiment])
