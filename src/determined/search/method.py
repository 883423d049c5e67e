"""The protocol between an experiment and its search: events in, operations out.

A `SearchMethod` is a pure state machine. `Searcher` (searcher.py) wraps one with the bookkeeping every method shares:
it counts requests, closes, failures, and appends `Shutdown` when all is done.
"""

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from determined._json import JsonObject
from determined.errors import FailedPrecondition
from determined.search.rng import Rng

WORST = sys.float_info.max  # what an exited trial, or NaN, counts as; finite, so that JSON carries it


class ExitReason(StrEnum):
    ERRORED = "ERRORED"
    USER_CANCELED = "USER_CANCELED"
    INVALID_HP = "INVALID_HP"
    INIT_INVALID_HP = "INIT_INVALID_HP"
    USER_REQUESTED_STOP = "USER_REQUESTED_STOP"


INVALID_HPARAMS = frozenset({ExitReason.INVALID_HP, ExitReason.INIT_INVALID_HP})  # the trial's point was no good


@dataclass(frozen=True, slots=True)
class Create:
    """A new trial. In the classic generation a ValidateAfter follows it; in the late one nothing does."""

    request_id: str
    hparams: JsonObject
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
    reason: str | None = None  # a sentence for people


@dataclass(frozen=True, slots=True)
class Stop:
    """Late: end this trial now; it counts as completed."""

    request_id: str
    reason: str | None = None  # a sentence for people


@dataclass(frozen=True, slots=True)
class Shutdown:
    """The search is over."""

    cancel: bool = False
    failure: bool = False


Operation = Create | ValidateAfter | Close | Stop | Shutdown
_KINDS: dict[str, type[Operation]] = {kind.__name__: kind for kind in (Create, ValidateAfter, Close, Stop, Shutdown)}


def encode_operation(operation: Operation) -> JsonObject:
    """Encode an operation as JSON can carry it. Shallow: `asdict` copies every value, and searches create thousands."""
    return {"type": type(operation).__name__, **{name: getattr(operation, name) for name in operation.__slots__}}


def decode_operation(data: JsonObject) -> Operation:
    """Return the operation that `encode_operation` gave."""
    return _KINDS[data["type"]](**{name: value for name, value in data.items() if name != "type"})


@dataclass(frozen=True, slots=True)
class Tally:
    """Progress reports summed up, invalid trials left out. Late: a trial's unit is the whole of it (0..1)."""

    open_trials: int
    open_units: float
    closed_trials: int
    closed_units: float  # as last reported, which may be less than what was trained


class SearchMethod(ABC):
    """Search algorithm. Each callback returns the operations it causes. `ctx` gives ids, seeds and samples.

    State lives in plain attributes that `snapshot` returns as JSON-ready data and `restore` takes back;
    restore(snapshot()) must give the same future.
    """

    # Whether the search ends by itself once every requested trial has exited. A custom search says so itself.
    ends_by_itself: ClassVar[bool] = True

    @abstractmethod
    def initial(self, ctx: "SearchContext") -> list[Operation]: ...

    def trial_created(self, ctx: "SearchContext", request_id: str) -> list[Operation]:
        return []

    def validation_completed(
        self, ctx: "SearchContext", request_id: str, metric: float, length: float
    ) -> list[Operation]:
        """`metric`: lower is better, finite, NaN made WORST. `length`: time_metric (late) or units (classic)."""
        return []

    def exited_early(self, ctx: "SearchContext", request_id: str, reason: ExitReason) -> list[Operation]:
        return []

    def exited(self, ctx: "SearchContext", request_id: str) -> list[Operation]:
        return []

    def extend(self, ctx: "SearchContext", trials: int) -> list[Operation]:
        """Raise the number of trials this search may run by `trials`, after its end or during it."""
        raise FailedPrecondition(
            f"this search cannot be extended by {trials} trials: it draws no further ones; fork the experiment with a"
            " larger search instead"
        )

    @abstractmethod
    def progress(self, tally: "Tally") -> float:
        """0..1 of the whole search, in constant time."""

    @abstractmethod
    def snapshot(self) -> JsonObject: ...

    @abstractmethod
    def restore(self, state: JsonObject) -> None: ...


class SearchContext(ABC):
    """Source of what a method may ask for: samples and fresh trials, drawn from the experiment's seeded generator."""

    rng: Rng
    space: JsonObject  # the config's `hyperparameters`

    @abstractmethod
    def create(self, hparams: JsonObject | None = None, *, checkpoint_of: str | None = None) -> Create:
        """Create a trial, drawn in this order: hyperparameters, unless given, then id, then seed.

        Hyperparameters that are not given may be decided later by a sampler; a method looks at the id alone.
        """


def open_trial(ctx: SearchContext, length: int | None, hparams: JsonObject | None = None) -> list[Operation]:
    """Open a trial whose whole training is known at its start: in the classic generation one length, then Close."""
    create = ctx.create(hparams)
    if length is None:
        return [create]
    return [create, ValidateAfter(create.request_id, length), Close(create.request_id)]


def mean_progress(tally: Tally) -> float:
    """Late generation: the mean over trials that were created and not invalid, a closed one counting as done."""
    trials = tally.open_trials + tally.closed_trials
    return (tally.open_units + tally.closed_trials) / trials if trials else 0.0
