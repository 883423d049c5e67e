"""Dry runs of experiments."""

from typing import Any

from litestar import Request, Router, post

from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.services import dry_run
from determined.wire.dry_run import DryRunRequest, DryRunResponse

_LARGEST = 512 * 1024  # bytes: a config is a few thousand, and reading YAML keeps a processor busy

AnyRequest = Request[Any, Any, Any]


@post("/api/v1/experiments/dry-run", status_code=200, request_max_body_size=_LARGEST)
async def dry_run_experiment(request: AnyRequest, ctx: MasterContext, caller: Caller) -> DryRunResponse:
    return await dry_run.dry_run(ctx, caller, await read_body(request, DryRunRequest))


router = Router(path="", route_handlers=[dry_run_experiment])
