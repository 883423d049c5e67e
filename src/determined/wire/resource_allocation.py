"""Who used how many slots for how long."""

from enum import StrEnum

from determined.wire.codec import Wire


class ResourceAllocationAggregationPeriod(StrEnum):
    UNSPECIFIED = "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_UNSPECIFIED"
    DAILY = "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_DAILY"
    MONTHLY = "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_MONTHLY"


class ResourceAllocationRawEntry(Wire):
    """One allocation, cut to the time asked for. `seconds` are of the clock, not multiplied by slots."""

    kind: str
    start_time: str
    end_time: str
    seconds: float
    slots: int
    user_id: int
    username: str
    labels: list[str]
    experiment_id: int | None = None


class ResourceAllocationRawResponse(Wire):
    resource_entries: list[ResourceAllocationRawEntry]


class ResourceAllocationAggregatedEntry(Wire):
    """One day or month. All numbers are slot-seconds."""

    period_start: str
    period: ResourceAllocationAggregationPeriod
    seconds: float
    by_username: dict[str, float]
    by_experiment_label: dict[str, float]
    by_resource_pool: dict[str, float]
    by_project: dict[str, float] = {}  # ours: `workspace/project`; of tasks without one the workspace alone


class ResourceAllocationAggregatedResponse(Wire):
    resource_entries: list[ResourceAllocationAggregatedEntry]
