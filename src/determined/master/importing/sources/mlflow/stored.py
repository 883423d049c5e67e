"""Runs as MLflow stores them."""

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Point(NamedTuple):
    """Value of a metric; `time` in milliseconds."""

    name: str
    time: int
    value: float
    step: int


@dataclass(slots=True)
class StoredRun:
    id: str
    name: str
    status: str  # FINISHED, FAILED, KILLED, RUNNING or SCHEDULED
    start: int | None  # milliseconds
    end: int | None
    artifact_uri: str
    user: str
    params: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    metric_names: set[str] = field(default_factory=set)
    points: Callable[[], Iterable[Point]] = tuple


@dataclass(slots=True)
class StoredExperiment:
    """Experiment of MLflow with its runs in the order of their starts; what was deleted is only counted."""

    id: str
    name: str
    runs: list[StoredRun] = field(default_factory=list)
    deleted_runs: int = 0
    damage: list[str] = field(default_factory=list)


class Store(Protocol):
    """Tracking directory, database or server."""

    address: str

    def experiments(self) -> Iterator[StoredExperiment]: ...
    def registered_models(self) -> list[str]: ...


def unbounded(value: float) -> float:
    """Return an infinity for the largest number, as which MLflow's databases keep it."""
    return math.copysign(math.inf, value) if abs(value) >= sys.float_info.max else value


def moment(milliseconds: int | None) -> datetime | None:
    """Return the moment of a time of MLflow; None for none and for what no calendar has."""
    if milliseconds is None:
        return None
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
