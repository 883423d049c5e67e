"""Resolved requirements of experiments."""

from determined.master.auth.identity import Caller, require_task
from determined.master.auth.permission import ANY_USER, OWN_ALLOCATION
from determined.master.context import MasterContext
from determined.master.routes.limits import LOCK_BODY
from determined.master.routes.serve import serve
from determined.master.services import environment_lock as locks
from determined.wire.environment_lock import (
    LIST_ENVIRONMENT_LOCKS,
    STORE_ENVIRONMENT_LOCK,
    GetEnvironmentLocksResponse,
    PostEnvironmentLockRequest,
    PostEnvironmentLockResponse,
)


@serve(LIST_ENVIRONMENT_LOCKS, ANY_USER)
async def list_locks(ctx: MasterContext, experiment_id: int) -> GetEnvironmentLocksResponse:
    """List the locks of each kind of machine and Python that has run it (ours); none before the first trial began."""
    return GetEnvironmentLocksResponse(locks=await locks.list_locks(ctx, experiment_id))


@serve(STORE_ENVIRONMENT_LOCK, OWN_ALLOCATION, max_body=LOCK_BODY)
async def store_lock(
    payload: PostEnvironmentLockRequest, ctx: MasterContext, caller: Caller, allocation_id: str, resource_id: str
) -> PostEnvironmentLockResponse:
    """Store what a runner has resolved, and answer what counts (ours)."""
    require_task(caller, allocation_id)
    return PostEnvironmentLockResponse(content=await locks.store(ctx, allocation_id, resource_id, payload))
