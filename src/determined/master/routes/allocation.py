"""Allocations: what a task asks its master."""

from determined.errors import Conflict, FailedPrecondition, Gone
from determined.master import supervise
from determined.master.auth.identity import Caller, require_task
from determined.master.auth.permission import OWN_ALLOCATION, OWN_REPORTS, USER_OR_ALLOCATION
from determined.master.context import MasterContext
from determined.master.routes.limits import REPORT_BODY
from determined.master.routes.request import AnyRequest
from determined.master.routes.serve import serve
from determined.master.services import allocation as allocations
from determined.wire.allocation import (
    ACK_PREEMPTION,
    ALL_GATHER,
    GET_ALLOCATION,
    GET_PREEMPTION_SIGNAL,
    GET_RENDEZVOUS,
    MARK_DAEMON,
    MARK_READY,
    MARK_WAITING,
    NOTIFY_CONTAINER_RUNNING,
    POST_ACCELERATOR_DATA,
    POST_PENDING_PREEMPTION,
    POST_PROXY_ADDRESS,
    AllocationAllGatherRequest,
    AllocationAllGatherResponse,
    AllocationPreemptionSignalResponse,
    AllocationRendezvousInfoResponse,
    GetAllocationResponse,
    GetPreemptionSignal,
    NotifyContainerRunningRequest,
    NotifyContainerRunningResponse,
    PostAllocationAcceleratorDataRequest,
    PostAllocationProxyAddressRequest,
)
from determined.wire.report import GET_RUNNER_SIGNALS, GET_TASK_SPEC, GetRunnerSignals, RunnerSignals, TaskSpec


@serve(GET_ALLOCATION, USER_OR_ALLOCATION)
async def get_allocation(ctx: MasterContext, allocation_id: str) -> GetAllocationResponse:
    return GetAllocationResponse(allocation=await allocations.get(ctx, allocation_id))


@serve(GET_PREEMPTION_SIGNAL, USER_OR_ALLOCATION)
async def preemption_signal(
    ctx: MasterContext, allocation_id: str, params: GetPreemptionSignal
) -> AllocationPreemptionSignalResponse:
    preempt = await allocations.preemption_signal(ctx, allocation_id, params.timeout_seconds or 0.0)
    return AllocationPreemptionSignalResponse(preempt=preempt)


@serve(ACK_PREEMPTION, OWN_ALLOCATION)
async def ack_preemption(ctx: MasterContext, caller: Caller, allocation_id: str) -> None:
    require_task(caller, allocation_id)
    await allocations.ack_preemption(ctx, allocation_id)


@serve(POST_PENDING_PREEMPTION, OWN_ALLOCATION, errors=(FailedPrecondition,))
async def pending_preemption(ctx: MasterContext, caller: Caller, allocation_id: str) -> None:
    require_task(caller, allocation_id)
    await allocations.pending_preemption(ctx, allocation_id)


@serve(MARK_READY, OWN_ALLOCATION)
async def ready(ctx: MasterContext, caller: Caller, allocation_id: str) -> None:
    require_task(caller, allocation_id)
    await allocations.ready(ctx, allocation_id)


@serve(MARK_WAITING, OWN_ALLOCATION)
async def waiting(ctx: MasterContext, caller: Caller, allocation_id: str) -> None:
    require_task(caller, allocation_id)
    await allocations.waiting(ctx, allocation_id)


@serve(ALL_GATHER, OWN_ALLOCATION, max_body=REPORT_BODY)
async def all_gather(
    payload: AllocationAllGatherRequest, ctx: MasterContext, caller: Caller, allocation_id: str
) -> AllocationAllGatherResponse:
    require_task(caller, allocation_id)
    return AllocationAllGatherResponse(data=await allocations.all_gather(ctx, allocation_id, payload))


@serve(NOTIFY_CONTAINER_RUNNING, OWN_ALLOCATION)
async def notify_container_running(
    payload: NotifyContainerRunningRequest, ctx: MasterContext, caller: Caller, allocation_id: str
) -> NotifyContainerRunningResponse:
    require_task(caller, allocation_id)
    return NotifyContainerRunningResponse(data=await allocations.container_running(ctx, allocation_id, payload))


@serve(POST_ACCELERATOR_DATA, OWN_ALLOCATION)
async def accelerator_data(
    payload: PostAllocationAcceleratorDataRequest, ctx: MasterContext, caller: Caller, allocation_id: str
) -> None:
    require_task(caller, allocation_id)
    await allocations.set_accelerators(ctx, allocation_id, payload.accelerator_data)


@serve(POST_PROXY_ADDRESS, OWN_ALLOCATION)
async def proxy_address(
    payload: PostAllocationProxyAddressRequest, ctx: MasterContext, caller: Caller, allocation_id: str
) -> None:
    require_task(caller, allocation_id)
    await allocations.set_proxy_address(ctx, allocation_id, payload.proxy_address)


@serve(GET_RENDEZVOUS, OWN_ALLOCATION, errors=(Conflict, Gone))
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
    """Wake the rendezvous when its caller hangs up: a killed runner must not hold up the one that replaces it."""
    while (await request.receive())["type"] != "http.disconnect":
        continue
    ctx.bus.publish(f"allocation:{allocation_id}")  # heard only when this task is done, which is the news


@serve(MARK_DAEMON, OWN_ALLOCATION)
async def mark_daemon(ctx: MasterContext, caller: Caller, allocation_id: str, resource_id: str) -> None:
    require_task(caller, allocation_id)
    await allocations.mark_daemon(ctx, allocation_id, resource_id)


@serve(GET_TASK_SPEC, OWN_ALLOCATION)
async def task_spec(ctx: MasterContext, caller: Caller, allocation_id: str, resource_id: str) -> TaskSpec:
    """Say what a runner is to run, secrets included (ours)."""
    require_task(caller, allocation_id)
    return await allocations.task_spec(ctx, allocation_id, resource_id, caller.username)


@serve(GET_RUNNER_SIGNALS, OWN_REPORTS, errors=(Gone,))
async def runner_signals(
    ctx: MasterContext, caller: Caller, allocation_id: str, resource_id: str, params: GetRunnerSignals
) -> RunnerSignals:
    """Wait for signals that a runner does not know yet (ours)."""
    require_task(caller, allocation_id)
    known = RunnerSignals(preempt=params.preempt, kill=params.kill, stacks=params.stacks, shell=params.shell)
    return await allocations.runner_signals(ctx, allocation_id, resource_id, known, params.timeout_seconds or 0.0)
