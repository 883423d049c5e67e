"""Allocations: what a task asks its master."""

from typing import Annotated, Any

from litestar import Request, Router, get, post
from litestar.params import QueryParameter

from determined.master import supervise
from determined.master.auth.identity import Caller, require_task
from determined.master.auth.permission import OWN_ALLOCATION, USER_OR_ALLOCATION
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.limits import REPORT_BODY
from determined.master.services import allocation as allocations
from determined.wire.allocation import (
    AllocationAllGatherRequest,
    AllocationAllGatherResponse,
    AllocationPreemptionSignalResponse,
    AllocationRendezvousInfoResponse,
    GetAllocationResponse,
    NotifyContainerRunningRequest,
    NotifyContainerRunningResponse,
    PostAllocationAcceleratorDataRequest,
    PostAllocationProxyAddressRequest,
)
from determined.wire.report import RunnerSignals, TaskSpec

AnyRequest = Request[Any, Any, Any]
# Clients of two generations write it differently.
TimeoutCamel = Annotated[float | None, QueryParameter(name="timeoutSeconds", ge=0, le=1e6)]
TimeoutSnake = Annotated[float | None, QueryParameter(name="timeout_seconds", ge=0, le=1e6)]

_ALLOCATION = "/api/v1/allocations/{allocation_id:str}"
_RESOURCES = _ALLOCATION + "/resources/{resource_id:str}"


@get(_ALLOCATION, opt=USER_OR_ALLOCATION)
async def get_allocation(ctx: MasterContext, allocation_id: str) -> GetAllocationResponse:
    return GetAllocationResponse(allocation=await allocations.get(ctx, allocation_id))


@get(_ALLOCATION + "/signals/preemption", opt=USER_OR_ALLOCATION)
async def preemption_signal(
    ctx: MasterContext, allocation_id: str, camel: TimeoutCamel = None, snake: TimeoutSnake = None
) -> AllocationPreemptionSignalResponse:
    seconds = camel if camel is not None else snake or 0.0
    return AllocationPreemptionSignalResponse(preempt=await allocations.preemption_signal(ctx, allocation_id, seconds))


@post(_ALLOCATION + "/signals/ack_preemption", status_code=200, opt=OWN_ALLOCATION)
async def ack_preemption(ctx: MasterContext, caller: Caller, allocation_id: str) -> dict[str, Any]:
    require_task(caller, allocation_id)
    await allocations.ack_preemption(ctx, allocation_id)
    return {}


@post(_ALLOCATION + "/signals/pending_preemption", status_code=200, opt=OWN_ALLOCATION)
async def pending_preemption(ctx: MasterContext, caller: Caller, allocation_id: str) -> dict[str, Any]:
    require_task(caller, allocation_id)
    await allocations.pending_preemption(ctx, allocation_id)
    return {}


@post(_ALLOCATION + "/ready", status_code=200, opt=OWN_ALLOCATION)
async def ready(ctx: MasterContext, caller: Caller, allocation_id: str) -> dict[str, Any]:
    require_task(caller, allocation_id)
    await allocations.ready(ctx, allocation_id)
    return {}


@post(_ALLOCATION + "/waiting", status_code=200, opt=OWN_ALLOCATION)
async def waiting(ctx: MasterContext, caller: Caller, allocation_id: str) -> dict[str, Any]:
    require_task(caller, allocation_id)
    await allocations.waiting(ctx, allocation_id)
    return {}


@post(_ALLOCATION + "/all_gather", status_code=200, request_max_body_size=REPORT_BODY, opt=OWN_ALLOCATION)
async def all_gather(
    request: AnyRequest, ctx: MasterContext, caller: Caller, allocation_id: str
) -> AllocationAllGatherResponse:
    require_task(caller, allocation_id)
    asked = await read_body(request, AllocationAllGatherRequest)
    return AllocationAllGatherResponse(data=await allocations.all_gather(ctx, allocation_id, asked))


@post(_ALLOCATION + "/notify_container_running", status_code=200, opt=OWN_ALLOCATION)
async def notify_container_running(
    request: AnyRequest, ctx: MasterContext, caller: Caller, allocation_id: str
) -> NotifyContainerRunningResponse:
    require_task(caller, allocation_id)
    asked = await read_body(request, NotifyContainerRunningRequest)
    return NotifyContainerRunningResponse(data=await allocations.container_running(ctx, allocation_id, asked))


@post(_ALLOCATION + "/acceleratorData", status_code=200, opt=OWN_ALLOCATION)
async def accelerator_data(
    request: AnyRequest, ctx: MasterContext, caller: Caller, allocation_id: str
) -> dict[str, Any]:
    require_task(caller, allocation_id)
    asked = await read_body(request, PostAllocationAcceleratorDataRequest)
    await allocations.set_accelerators(ctx, allocation_id, asked.accelerator_data)
    return {}


@post(_ALLOCATION + "/proxy_address", status_code=200, opt=OWN_ALLOCATION)
async def proxy_address(request: AnyRequest, ctx: MasterContext, caller: Caller, allocation_id: str) -> dict[str, Any]:
    require_task(caller, allocation_id)
    asked = await read_body(request, PostAllocationProxyAddressRequest)
    await allocations.set_proxy_address(ctx, allocation_id, asked.proxy_address)
    return {}


@get(_RESOURCES + "/rendezvous", opt=OWN_ALLOCATION)
async def rendezvous(
    request: AnyRequest, ctx: MasterContext, caller: Caller, allocation_id: str, resource_id: str
) -> AllocationRendezvousInfoResponse:
    require_task(caller, allocation_id)
    left = supervise.spawn(_hung_up(request, ctx, allocation_id), name=f"caller of rendezvous {resource_id}")
    try:
        info = await allocations.rendezvous(ctx, allocation_id, resource_id, left.done)
    finally:
        await supervise.stop(left)
    return AllocationRendezvousInfoResponse(rendezvous_info=info)


async def _hung_up(request: AnyRequest, ctx: MasterContext, allocation_id: str) -> None:
    """A runner that was killed while it waited must not be in the way of the one started in its place."""
    while (await request.receive())["type"] != "http.disconnect":
        continue
    ctx.bus.publish(f"allocation:{allocation_id}")  # heard only when this task is done, which is the news


@post(_RESOURCES + "/daemon", status_code=200, opt=OWN_ALLOCATION)
async def mark_daemon(ctx: MasterContext, caller: Caller, allocation_id: str, resource_id: str) -> dict[str, Any]:
    require_task(caller, allocation_id)
    await allocations.mark_daemon(ctx, allocation_id, resource_id)
    return {}


@get(_RESOURCES + "/spec", opt=OWN_ALLOCATION)
async def task_spec(ctx: MasterContext, caller: Caller, allocation_id: str, resource_id: str) -> TaskSpec:
    """Ours: what a runner is to run, secrets included."""
    require_task(caller, allocation_id)
    return await allocations.task_spec(ctx, allocation_id, resource_id, caller.username)


@get(_RESOURCES + "/signals", opt=OWN_ALLOCATION)
async def runner_signals(
    ctx: MasterContext,
    caller: Caller,
    allocation_id: str,
    resource_id: str,
    preempt: bool = False,
    kill: bool = False,
    camel: TimeoutCamel = None,
    snake: TimeoutSnake = None,
) -> RunnerSignals:
    """Ours: the long poll of a runner; it says what it knows and hears what is new."""
    require_task(caller, allocation_id)
    seconds = camel if camel is not None else snake or 0.0
    known = RunnerSignals(preempt=preempt, kill=kill)
    return await allocations.runner_signals(ctx, allocation_id, resource_id, known, seconds)


router = Router(
    path="",
    route_handlers=[
        accelerator_data,
        ack_preemption,
        all_gather,
        get_allocation,
        mark_daemon,
        notify_container_running,
        pending_preemption,
        preemption_signal,
        proxy_address,
        ready,
        rendezvous,
        runner_signals,
        task_spec,
        waiting,
    ],
)
