"""The master itself: information, config, message, logs."""

from collections.abc import AsyncIterator

from litestar.datastructures import State
from litestar.response import Stream

from determined._json import JsonObject
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ADMIN, ANY_USER, PUBLIC
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.routes.streaming import ndjson
from determined.master.services import master as masters
from determined.master.services import master_log
from determined.master.services.master_log import LogRing
from determined.master.services.parse_time import parse_time
from determined.wire.log import STREAM_MASTER_LOGS, MasterLogQuery, MasterLogsResponse
from determined.wire.master import (
    DELETE_CLUSTER_MESSAGE,
    GET_CLUSTER_MESSAGE,
    GET_INFO,
    GET_MASTER,
    GET_MASTER_CONFIG,
    GET_TELEMETRY,
    PATCH_MASTER_CONFIG,
    SET_CLUSTER_MESSAGE,
    SUMMARIZE_PERMISSIONS,
    GetClusterMessageResponse,
    GetInfo,
    GetMasterConfigResponse,
    GetMasterResponse,
    GetTelemetryResponse,
    PatchMasterConfigRequest,
    SetClusterMessageRequest,
)


@serve(GET_INFO, PUBLIC)
async def info(ctx: MasterContext, state: State, params: GetInfo) -> JsonObject:
    """Describe the master; with `challenge` (hex) also prove who it is: to a task by `allocation`, else to a client.

    A client knows an embedded master by the secret of its state file. `proofs` has one for each of our own addresses
    and none for another that the caller may have dialled: it would serve somebody who passes our answers on.
    """
    answer = masters.info(ctx)
    if params.challenge is not None and params.allocation is not None:
        answer |= masters.prove_to_task(ctx, params.allocation, params.challenge)
    elif params.challenge is not None and state.identity_secret is not None:
        answer |= masters.prove(ctx, state.identity_secret, params.challenge)
    return answer


@serve(GET_MASTER, PUBLIC)
async def get_master(ctx: MasterContext) -> GetMasterResponse:
    return masters.describe(ctx, await masters.message(ctx))


@serve(GET_TELEMETRY, PUBLIC)
async def get_telemetry() -> GetTelemetryResponse:
    """Say that telemetry is off: nothing is ever sent anywhere."""
    return GetTelemetryResponse(enabled=False)


@serve(GET_MASTER_CONFIG, ADMIN)
async def get_config(ctx: MasterContext, caller: Caller) -> GetMasterConfigResponse:
    return GetMasterConfigResponse(config=masters.shown_config(ctx, caller))


@serve(PATCH_MASTER_CONFIG, ADMIN)
async def patch_config(payload: PatchMasterConfigRequest, caller: Caller) -> None:
    masters.change_config(caller, payload)


@serve(GET_CLUSTER_MESSAGE, ANY_USER)
async def get_message(ctx: MasterContext, caller: Caller) -> GetClusterMessageResponse:
    return GetClusterMessageResponse(cluster_message=await masters.message(ctx, scheduled=caller.admin))


@serve(SET_CLUSTER_MESSAGE, ADMIN)
async def set_message(payload: SetClusterMessageRequest, ctx: MasterContext, caller: Caller) -> None:
    await masters.set_message(
        ctx,
        caller,
        text=payload.message,
        start=parse_time(payload.start_time, "startTime"),
        end=parse_time(payload.end_time, "endTime"),
        duration=payload.duration,
    )


@serve(DELETE_CLUSTER_MESSAGE, ADMIN)
async def clear_message(ctx: MasterContext, caller: Caller) -> None:
    await masters.clear_message(ctx, caller)


@serve(STREAM_MASTER_LOGS, ADMIN)
async def stream_logs(ctx: MasterContext, log_ring: LogRing, params: MasterLogQuery) -> Stream:
    limit, offset = max(params.limit or 0, 0), params.offset or 0

    async def entries() -> AsyncIterator[MasterLogsResponse]:
        async for entry in master_log.stream(log_ring, ctx.bus, offset=offset, limit=limit, follow=params.follow):
            yield MasterLogsResponse(log_entry=entry)

    return ndjson(entries())


@serve(SUMMARIZE_PERMISSIONS, ANY_USER)
async def summarize_permissions() -> JsonObject:
    """Answer no roles: they belong to RBAC, which this master does not have."""
    return {"roles": [], "assignments": []}
