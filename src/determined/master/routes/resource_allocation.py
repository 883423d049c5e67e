"""Use of slots by user, pool and label, as JSON and (the older raw paths) as CSV."""

from litestar import Response

from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import resource_allocation as service
from determined.master.services import resource_allocation_view as view
from determined.master.services.parse_time import parse_time
from determined.wire.resource_allocation import (
    DOWNLOAD_AGGREGATED_USE,
    DOWNLOAD_ALLOCATION_USE,
    DOWNLOAD_RAW_USE,
    GET_AGGREGATED_USE,
    GET_RAW_USE,
    GetAggregatedUse,
    GetRawUse,
    ResourceAllocationAggregatedResponse,
    ResourceAllocationRawResponse,
)


@serve(GET_RAW_USE, ANY_USER)
async def raw(ctx: MasterContext, params: GetRawUse) -> ResourceAllocationRawResponse:
    return ResourceAllocationRawResponse(resource_entries=[view.raw_entry(use) for use in await _uses(ctx, params)])


@serve(DOWNLOAD_RAW_USE, ANY_USER)
async def raw_csv(ctx: MasterContext, params: GetRawUse) -> Response[str]:
    return _csv(view.raw_csv(await _uses(ctx, params)))


@serve(DOWNLOAD_ALLOCATION_USE, ANY_USER)
async def allocations_csv(ctx: MasterContext, params: GetRawUse) -> Response[str]:
    return _csv(view.allocations_csv(await _uses(ctx, params)))


@serve(GET_AGGREGATED_USE, ANY_USER)
async def aggregated(ctx: MasterContext, params: GetAggregatedUse) -> ResourceAllocationAggregatedResponse:
    entries = await service.aggregate(ctx, params.start_date, params.end_date, params.period)
    return ResourceAllocationAggregatedResponse(resource_entries=entries)


@serve(DOWNLOAD_AGGREGATED_USE, ANY_USER)
async def aggregated_csv(ctx: MasterContext, params: GetAggregatedUse) -> Response[str]:
    entries = await service.aggregate(ctx, params.start_date, params.end_date, params.period)
    return _csv(view.aggregated_csv(entries))


async def _uses(ctx: MasterContext, params: GetRawUse) -> list[service.Use]:
    after = parse_time(params.timestamp_after, "timestamp_after")
    return await service.uses(ctx, after, parse_time(params.timestamp_before, "timestamp_before"))


def _csv(text: str) -> Response[str]:
    return Response(text, media_type="text/csv")
