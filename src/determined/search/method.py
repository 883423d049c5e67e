"""The protocol between an experiment and its search: events in, operations out.

A `SearchMethod` is a pure state machine. `Searcher` (searcher.py) wraps one with the bookkeeping every method shares
(spec/search.md 1): it counts requests, closes, failures, and appends `Shutdown` when all is done.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ExitReason(StrEnum):
    ERRORED = "ERRORED"
    USER_CANCELED = "USER_CANCELED"
    INVALID_HP = "INVALID_HP"
    INIT_INVALID_HP = "INIT_INVALID_HP"
    USER_REQUESTED_STOP = "USER_REQUESTED_STOP"


@dataclass(frozen=True, slots=True)
class Create:
    """A new trial. In the classic generation a ValidateAfter follows it; in the late one nothing does."""

    request_id: str
    hparams: dict[str, Any]
    seed: int
    checkpoint_of: str | None = None  # request id whose latest checkpoint this trial starts from (pbt)


@dataclass(frozen=True, slots=True)
class ValidateAfter:
    """Classic: train to `length` units in all, validate, report completion."""

    request_id: str
    length: int


@dataclass(frozen=True, slots=True)
class Close:
    """Classic: nothing more for this trial once its last operation is complete."""

    request_id: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Late: end this trial now; it counts as completed."""

    request_id: str


@dataclass(frozen=True, slots=True)
class Shutdown:
    """The search is over."""

    cancel: bool = False
    failure: bool = False


Operation = Create | ValidateAfter | Close | Stop | Shutdown


class SearchMethod(ABC):
    """One search algorithm. Each callback returns the operations it causes. `ctx` gives ids, seeds and samples.

    State lives in plain attributes that `snapshot` returns as JSON-ready data and `restore` takes back;
    restore(snapshot()) must give the same future.
    """

    @abstractmethod
    def initial(self, ctx: "SearchContext") -> list[Operation]: ...

    def trial_created(self, ctx: "SearchContext", request_id: str) -> list[Operation]:
        return []

    def validation_completed(
        self, ctx: "SearchContext", request_id: str, metric: float, length: float
    ) -> list[Operation]:
        """`metric` is signed as configured (NaN counts as worst); `length` is time_metric (late) or units (classic)."""
        return []

    def exited_early(self, ctx: "SearchContext", request_id: str, reason: ExitReason) -> list[Operation]:
        return []

    def exited(self, ctx: "SearchContext", request_id: str) -> list[Operation]:
        return []

    @abstractmethod
    def progress(self, trials: dict[str, float], closed: set[str]) -> float: ...

    @abstractmethod
    def snapshot(self) -> dict[str, Any]: ...

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None: ...


class SearchContext(ABC):
    """What a method may ask for: samples and fresh trials, all drawn from the experiment's seeded generator."""

    @abstractmethod
    def create(self, hparams: dict[str, Any] | None = None) -> Create:
        """A fresh trial; samples hyperparameters unless given (draw order of spec/search.md 2)."""


def open_trial(ctx: SearchContext, length: int | None, hparams: dict[str, Any] | None = None) -> list[Operation]:
    """A trial whose whole training is known when it starts: in the classic generation its only length, then Close."""
    create = ctx.create(hparams)
    if length is None:
        return [create]
    return [create, ValidateAfter(create.request_id, length), Close(create.request_id)]
