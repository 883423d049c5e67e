"""The master itself: information, config, message, logs."""

from collections.abc import AsyncIterator
from typing import Any

from litestar import Request, Router, delete, get, patch, put
from litestar.datastructures import State
from litestar.response import Stream

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ADMIN, ANY_USER, PUBLIC
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.params import Limit, Offset, parse_time
from determined.master.routes.streaming import ndjson
from determined.master.services import master as masters
from determined.master.services import master_log
from determined.master.services.master_log import LogRing
from determined.wire.log import MasterLogsResponse
from determined.wire.master import (
    GetClusterMessageResponse,
    GetMasterConfigResponse,
    GetMasterResponse,
    GetTelemetryResponse,
    PatchMasterConfigRequest,
    SetClusterMessageRequest,
)

AnyRequest = Request[Any, Any, Any]


@get("/info", opt=PUBLIC)
async def info(
    ctx: MasterContext, state: State, challenge: str | None = None, allocation: str | None = None
) -> dict[str, Any]:
    """With `challenge` (hex) the master also proves who it is: to a task by its `allocation`, else to a client.

    A client knows an embedded master by the secret of its state file. `proofs` has one for each of our own addresses
    and none for another that the caller may have dialled: it would serve somebody who passes our answers on.
    """
    answer = masters.info(ctx)
    if challenge is not None and allocation is not None:
        answer |= masters.prove_to_task(ctx, allocation, challenge)
    elif challenge is not None and state.identity_secret is not None:
        answer |= masters.prove(ctx, state.identity_secret, challenge)
    return answer


@get("/api/v1/master", opt=PUBLIC)
async def get_master(ctx: MasterContext) -> GetMasterResponse:
    return masters.describe(ctx, await masters.message(ctx))


@get("/api/v1/master/telemetry", opt=PUBLIC)
async def get_telemetry() -> GetTelemetryResponse:
    """Nothing is ever sent anywhere."""
    return GetTelemetryResponse(enabled=False)


@get("/api/v1/master/config", opt=ADMIN)
async def get_config(ctx: MasterContext, caller: Caller) -> GetMasterConfigResponse:
    return GetMasterConfigResponse(config=masters.shown_config(ctx, caller))


@patch("/api/v1/master/config", status_code=200, opt=ADMIN)
async def patch_config(request: AnyRequest, caller: Caller) -> dict[str, Any]:
    masters.change_config(caller, await read_body(request, PatchMasterConfigRequest))
    return {}


@get("/api/v1/master/cluster_message", opt=ANY_USER)
async def get_message(ctx: MasterContext, caller: Caller) -> GetClusterMessageResponse:
    return GetClusterMessageResponse(cluster_message=await masters.message(ctx, scheduled=caller.admin))


@put("/api/v1/master/cluster_message", status_code=200, opt=ADMIN)
async def set_message(request: AnyRequest, ctx: MasterContext, caller: Caller) -> dict[str, Any]:
    asked = await read_body(request, SetClusterMessageRequest)
    await masters.set_message(
        ctx,
        caller,
        text=asked.message,
        start=parse_time(asked.start_time, "startTime"),
        end=parse_time(asked.end_time, "endTime"),
        duration=asked.duration,
    )
    return {}


@delete("/api/v1/master/cluster_message", status_code=200, opt=ADMIN)
async def clear_message(ctx: MasterContext, caller: Caller) -> dict[str, Any]:
    await masters.clear_message(ctx, caller)
    return {}


@get("/api/v1/master/logs", opt=ADMIN)
async def stream_logs(
    *,
    ctx: MasterContext,
    log_ring: LogRing,
    limit: Limit = None,
    offset: Offset = None,
    follow: bool = False,
) -> Stream:
    wanted = max(limit or 0, 0)

    async def entries() -> AsyncIterator[MasterLogsResponse]:
        async for entry in master_log.stream(log_ring, ctx.bus, offset=offset or 0, limit=wanted, follow=follow):
            yield MasterLogsResponse(log_entry=entry)

    return ndjson(entries())


@get("/api/v1/permissions/summary", opt=ANY_USER)
async def summarize_permissions() -> dict[str, Any]:
    """Empty: roles belong to RBAC, which this master does not have."""
    return {"roles": [], "assignments": []}


router = Router(
    path="",
    route_handlers=[
        info,
        get_master,
        get_telemetry,
        get_config,
        patch_config,
        get_message,
        set_message,
        clear_message,
        stream_logs,
        summarize_permissions,
    ],
)
