"""Values that the queue takes: priority and weight of a job."""

import math

from determined.config.resources import PRIORITY_RANGE
from determined.errors import InvalidArgument


def check_priority(priority: int | None) -> None:
    """Raise InvalidArgument for a priority out of range."""
    low, high = PRIORITY_RANGE
    if priority is None or not low <= priority <= high:
        raise InvalidArgument(f"priority must be between {low} and {high}, not {priority}")


def check_weight(weight: float | None) -> None:
    """Raise InvalidArgument for a weight that cannot be shared by."""
    if weight is None or not 0 < weight < math.inf:
        raise InvalidArgument(f"weight={weight} must be greater than 0 and finite")
