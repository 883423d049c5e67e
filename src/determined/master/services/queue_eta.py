"""Estimate of when queued jobs may start, going by the progress of those that run. Pure.

An estimate: a job is taken to train on as it has so far, and to keep its slots until it ends; how slots lie on nodes is
not looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

_LONGEST = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Running:
    """`ends`: when it gives its slots back; None where nobody knows."""

    slots: int
    ends: datetime | None


def starts(now: datetime, free: int, running: Sequence[Running], queued: Sequence[int]) -> list[datetime | None]:
    """Return for each queued job, in order, by its slots, when there will be enough for it and all before it."""
    releases = sorted((job.ends, job.slots) for job in running if job.ends is not None)
    times: list[datetime | None] = []
    wanted = 0
    for slots in queued:
        wanted += slots
        times.append(_enough(now, wanted - free, releases))
    return times


def end(now: datetime, begun: datetime | None, progress: float | None) -> datetime | None:
    """Return the end of a job that came so far since it began."""
    if begun is None or progress is None or not 0 < progress <= 1:
        return None
    left = (now - begun).total_seconds() * ((1 - progress) / progress)
    return now + timedelta(seconds=left) if left <= _LONGEST.total_seconds() else None


def _enough(now: datetime, missing: int, releases: Sequence[tuple[datetime, int]]) -> datetime | None:
    if missing <= 0:
        return now
    for time, slots in releases:
        missing -= slots
        if missing <= 0:
            return max(time, now)
    return None
