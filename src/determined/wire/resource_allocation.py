"""Use of slots: who used how many for how long."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from determined.wire.codec import Wire
from determined.wire.operation import Operation, Query
from determined.wire.upstream import Ours, UpstreamOptional, UpstreamRequired


class ResourceAllocationAggregationPeriod(StrEnum):
    UNSPECIFIED = "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_UNSPECIFIED"
    DAILY = "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_DAILY"
    MONTHLY = "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_MONTHLY"


class ResourceAllocationRawEntry(Wire):
    """Allocation, cut to the time asked for. `seconds` are of the clock, not multiplied by slots."""

    kind: UpstreamOptional[str]
    start_time: UpstreamOptional[str]
    end_time: UpstreamOptional[str]
    seconds: UpstreamOptional[float]
    slots: UpstreamOptional[int]
    user_id: UpstreamOptional[int]
    username: UpstreamOptional[str]
    labels: UpstreamOptional[list[str]]
    experiment_id: int | None = None


class ResourceAllocationRawResponse(Wire):
    resource_entries: UpstreamOptional[list[ResourceAllocationRawEntry]]


class ResourceAllocationAggregatedEntry(Wire):
    """Day or month. All numbers are slot-seconds."""

    period_start: str
    period: ResourceAllocationAggregationPeriod
    seconds: float
    by_username: dict[str, float]
    by_experiment_label: dict[str, float]
    by_resource_pool: dict[str, float]
    by_project: Ours[dict[str, float]] = {}  # `workspace/project`; of tasks without one the workspace alone


class ResourceAllocationAggregatedResponse(Wire):
    resource_entries: list[ResourceAllocationAggregatedEntry]


class GetRawUse(Query):
    timestamp_after: UpstreamRequired[Annotated[str | None, Meta(description="Begin of the span of time.")]] = None
    timestamp_before: UpstreamRequired[Annotated[str | None, Meta(description="End of the span of time.")]] = None


class GetAggregatedUse(Query):
    start_date: UpstreamRequired[Annotated[str | None, Meta(description="First day, `2026-11-15`.")]] = None
    end_date: UpstreamRequired[Annotated[str | None, Meta(description="Last day.")]] = None
    period: UpstreamRequired[
        Annotated[ResourceAllocationAggregationPeriod, Meta(description="Days or months; days by default.")]
    ] = ResourceAllocationAggregationPeriod.UNSPECIFIED


GET_AGGREGATED_USE = Operation(
    "GET", "/api/v1/resources/allocation/aggregated", GetAggregatedUse, ResourceAllocationAggregatedResponse
)
DOWNLOAD_AGGREGATED_USE = Operation("GET", "/resources/allocation/aggregated", GetAggregatedUse, str, ours=True)
DOWNLOAD_ALLOCATION_USE = Operation("GET", "/resources/allocation/allocations-csv", GetRawUse, str, ours=True)
GET_RAW_USE = Operation("GET", "/api/v1/resources/allocation/raw", GetRawUse, ResourceAllocationRawResponse)
DOWNLOAD_RAW_USE = Operation("GET", "/resources/allocation/raw", GetRawUse, str, ours=True)
