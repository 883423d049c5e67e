"""What the requirements of experiments were resolved to."""

from typing import Any

from litestar import Request, Router, get, post

from determined.master.auth.identity import Caller, require_task
from determined.master.auth.permission import ANY_USER, OWN_ALLOCATION
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.limits import LOCK_BODY
from determined.master.services import environment_lock as locks
from determined.wire.environment_lock import (
    GetEnvironmentLocksResponse,
    PostEnvironmentLockRequest,
    PostEnvironmentLockResponse,
)

_RESOURCES = "/api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}"


@get("/api/v1/experiments/{experiment_id:int}/environment_locks", opt=ANY_USER)
async def list_locks(ctx: MasterContext, experiment_id: int) -> GetEnvironmentLocksResponse:
    """Ours: one for each kind of machine and Python that has run it; none before the first trial began."""
    return GetEnvironmentLocksResponse(locks=await locks.list_locks(ctx, experiment_id))


@post(_RESOURCES + "/environment_lock", status_code=200, request_max_body_size=LOCK_BODY, opt=OWN_ALLOCATION)
async def store_lock(
    request: Request[Any, Any, Any], ctx: MasterContext, caller: Caller, allocation_id: str, resource_id: str
) -> PostEnvironmentLockResponse:
    """Ours: a runner says what it has resolved, and hears what counts."""
    require_task(caller, allocation_id)
    asked = await read_body(request, PostEnvironmentLockRequest)
    return PostEnvironmentLockResponse(content=await locks.store(ctx, allocation_id, resource_id, asked))


router = Router(path="", route_handlers=[list_locks, store_lock])
