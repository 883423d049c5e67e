"""Parameters that several searchers have. A searcher inherits those it takes; bases to the right come first."""

from collections.abc import Iterator
from contextlib import contextmanager

from determined._json import JsonObject
from determined.schema.lists import ListOf
from determined.schema.node import Boolean, Choice, Integer, Number, Text
from determined.schema.quantities import Length
from determined.schema.quantity_nodes import LengthNode
from determined.schema.section import Section, field
from determined.search.brackets import Mode
from determined.search.searcher_config import invalid

MAX_RUNGS = 100  # each halves what is left: more of them only cost time to plan


class Concurrent(Section):
    max_concurrent_trials: int = field(Integer(low=0), "How many at a time; 0 is no limit.", default=16)


class OptionalLength(Section):
    """A length that may be a bare number."""

    max_length: Length | None = field(
        LengthNode(unitless=True), "How long a trial trains (classic generation).", default=None, since="0.13"
    )


class OptionalUnitLength(Section):
    max_length: Length | None = field(
        LengthNode(unitless=False), "How long a trial trains (classic generation).", default=None, since="0.13"
    )


class RequiredLength(Section):
    max_length: Length = field(LengthNode(unitless=False), "How long a trial trains.", since="0.13")


class Timed(Section):
    time_metric: str | None = field(
        Text(), "The metric that counts training time, for searches without `max_length`.", default=None, since="0.38"
    )
    max_time: int | None = field(
        Integer(low=1), "How much of `time_metric` a full trial takes.", default=None, since="0.38"
    )


class StopOnce(Section):
    stop_once: bool = field(Boolean(), "Stop trials instead of pausing them between rounds.", default=False)


class Divisor(Section):
    divisor: float = field(Number(above=1), "One in so many goes on to the next round.", default=4)


class BracketMode(Section):
    mode: Mode = field(Choice(Mode), "How eagerly trials are eliminated.", default="standard")


class Rungs(Section):
    max_rungs: int = field(Integer(1, MAX_RUNGS), "At most so many rounds of elimination.", default=5)


class BracketRungs(Section):
    bracket_rungs: tuple[int, ...] = field(ListOf(Integer(1, MAX_RUNGS)), "Rounds of each bracket.", default=[])


class Stragglers(Section):
    train_stragglers: bool = field(Boolean(), "Go on with trials that are late.", default=True, engines=())


class Budget(Section):
    budget: Length = field(LengthNode(unitless=False), "Training of all trials together.", since="0.13")


def needs_an_end(value: JsonObject) -> Iterator[tuple[str, str]]:
    """Demand how long trials train, in either generation's way."""
    if value.get("max_time") is not None and value.get("time_metric") is None and value.get("max_length") is not None:
        yield "time_metric", "max_time needs a time_metric, the metric that says how far a trial is; or drop max_time"
    timed = value.get("time_metric") is not None and value.get("max_time") is not None
    if not timed and value.get("max_length") is None:
        yield "", f"{value['name']} requires max_time and time_metric to be set (or max_length, the older form)"


def budget_units(budget: Length, length: Length) -> int:
    """Read a budget, which must be in the unit of `max_length`."""
    if budget.unit is not None and length.unit is not None and budget.unit != length.unit:
        raise invalid("budget", f"is in {budget.unit}, but max_length is in {length.unit}; use one unit")
    return budget.value


@contextmanager
def refusing_deep_rungs(divisor: float) -> Iterator[None]:
    """Raise InvalidConfig where powers of the divisor grow beyond all numbers."""
    try:
        yield
    except OverflowError:
        raise invalid("divisor", f"{divisor:g} is too large for so many rungs; lower it or their number") from None
