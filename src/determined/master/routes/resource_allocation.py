"""Who used how many slots for how long, as JSON and (the older raw paths) as CSV."""

from typing import Annotated

from litestar import Response, Router, get
from litestar.params import QueryParameter

from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.params import parse_time
from determined.master.services import resource_allocation as service
from determined.master.services import resource_allocation_view as view
from determined.wire.resource_allocation import (
    ResourceAllocationAggregatedEntry,
    ResourceAllocationAggregatedResponse,
    ResourceAllocationAggregationPeriod,
    ResourceAllocationRawResponse,
)

# Clients of two generations write them differently.
AfterCamel = Annotated[str | None, QueryParameter(name="timestampAfter")]
AfterSnake = Annotated[str | None, QueryParameter(name="timestamp_after")]
BeforeCamel = Annotated[str | None, QueryParameter(name="timestampBefore")]
BeforeSnake = Annotated[str | None, QueryParameter(name="timestamp_before")]
StartCamel = Annotated[str | None, QueryParameter(name="startDate")]
StartSnake = Annotated[str | None, QueryParameter(name="start_date")]
EndCamel = Annotated[str | None, QueryParameter(name="endDate")]
EndSnake = Annotated[str | None, QueryParameter(name="end_date")]
Period = ResourceAllocationAggregationPeriod

_JSON = "/api/v1/resources/allocation"
_CSV = "/resources/allocation"


@get(_JSON + "/raw", opt=ANY_USER)
async def raw(
    ctx: MasterContext,
    after: AfterCamel = None,
    after_snake: AfterSnake = None,
    before: BeforeCamel = None,
    before_snake: BeforeSnake = None,
) -> ResourceAllocationRawResponse:
    found = await _uses(ctx, after or after_snake, before or before_snake)
    return ResourceAllocationRawResponse(resource_entries=[view.raw_entry(use) for use in found])


@get(_CSV + "/raw", opt=ANY_USER)
async def raw_csv(ctx: MasterContext, after: AfterSnake = None, before: BeforeSnake = None) -> Response[str]:
    return _csv(view.raw_csv(await _uses(ctx, after, before)))


@get(_CSV + "/allocations-csv", opt=ANY_USER)
async def allocations_csv(ctx: MasterContext, after: AfterSnake = None, before: BeforeSnake = None) -> Response[str]:
    return _csv(view.allocations_csv(await _uses(ctx, after, before)))


@get(_JSON + "/aggregated", opt=ANY_USER)
async def aggregated(
    ctx: MasterContext,
    start: StartCamel = None,
    start_snake: StartSnake = None,
    end: EndCamel = None,
    end_snake: EndSnake = None,
    period: Period = Period.UNSPECIFIED,
) -> ResourceAllocationAggregatedResponse:
    entries = await _sums(ctx, start or start_snake, end or end_snake, period)
    return ResourceAllocationAggregatedResponse(resource_entries=entries)


@get(_CSV + "/aggregated", opt=ANY_USER)
async def aggregated_csv(
    ctx: MasterContext, start: StartSnake = None, end: EndSnake = None, period: Period = Period.UNSPECIFIED
) -> Response[str]:
    return _csv(view.aggregated_csv(await _sums(ctx, start, end, period)))


async def _uses(ctx: MasterContext, after: str | None, before: str | None) -> list[service.Use]:
    return await service.uses(ctx, parse_time(after, "timestamp_after"), parse_time(before, "timestamp_before"))


async def _sums(
    ctx: MasterContext, start: str | None, end: str | None, period: Period
) -> list[ResourceAllocationAggregatedEntry]:
    return await service.aggregate(ctx, start, end, period)


def _csv(text: str) -> Response[str]:
    return Response(text, media_type="text/csv")


router = Router(path="", route_handlers=[aggregated, aggregated_csv, allocations_csv, raw, raw_csv])
