"""Position of a job in the queue of its pool."""

from datetime import datetime


def queue_position(moment: datetime) -> float:
    """Return microseconds since the epoch: smaller is earlier in the queue."""
    return float(round(moment.timestamp() * 1_000_000))
