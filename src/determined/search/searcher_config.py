"""`SearcherConfig`: how a searcher declares itself. One file of `methods` has one subclass of it and its algorithm."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from determined._json import JsonObject
from determined.errors import InvalidConfig
from determined.schema.node import Boolean, Integer, Text
from determined.schema.objects import Field
from determined.schema.quantities import Length
from determined.schema.quantity_nodes import LengthNode
from determined.schema.section import Section, field
from determined.search.generations import Generation, generation
from determined.search.method import SearchMethod
from determined.search.sampler import Sampler

Lengths = tuple[int, ...]
"""Lengths to which a trial trains, one after the other; empty where the trial alone knows them."""

_INT32_MAX = 2**31 - 1
_UUID = re.compile(r"[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}")
# Keys of the first generation; the shims rewrite them, so they are seen here only where that was impossible.
_STEPS = ("max_steps", "target_trial_steps", "step_budget", "steps_per_round")


def _uuid_problem(text: str) -> str | None:
    return None if _UUID.fullmatch(text) else f"`{text}` is not a UUID"


class SearcherConfig(Section, added=dict.fromkeys(_STEPS, Field(Integer(low=1), legacy=True))):
    """A searcher: its name, its traits (class attributes), its parameters (fields) and the algorithm that it builds.

    The first line of a subclass's docstring is its row in the guide; the rest is the contract of the algorithm.
    `metric` is None only for configs written with `entrypoint_script`.

    Attributes:
        order: Place in tables and messages; equal ones are sorted by name.
        size: The parameters that say how many trials there are, for the guide.
        guide: Page of the documentation below docs/, where it has one of its own.
        form_label: Name in the page's form; empty: the form does not offer it.
        generations: Those in which it can run.
        is_multi_trial: It may run more than one trial.
        compares: It judges trials by the searcher metric: a validation report without it is an error.
        needs_length: It compares trials at lengths, so the config must say how long they train.
        trains_to_end: Every trial trains to its end, whatever its metrics are.
        counts_trials: The number of trials follows from the config alone.
        extendable: More trials can be added while it runs and after its end; it keeps its state for that.
        continuable: It can go on after it has failed or was canceled.
        replays_history: The results of its trials are replayed to a continued search.
        driven_by_user: A program of the user's decides, by events and operations over HTTP.
        uses_counts: Ranges of hyperparameters need `count`.
        has_model: `build_sampler` gives it a model of its own, which is asked outside of transactions.
    """

    order: ClassVar[int] = 100
    size: ClassVar[str] = ""
    guide: ClassVar[str] = ""
    form_label: ClassVar[str] = ""
    generations: ClassVar[frozenset[Generation]] = frozenset({"classic", "late"})
    is_multi_trial: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    needs_length: ClassVar[bool] = False
    trains_to_end: ClassVar[bool] = False
    counts_trials: ClassVar[bool] = False
    extendable: ClassVar[bool] = False
    continuable: ClassVar[bool] = True
    replays_history: ClassVar[bool] = True
    driven_by_user: ClassVar[bool] = False
    uses_counts: ClassVar[bool] = False
    has_model: ClassVar[bool] = False

    name: str = field(Text(), "The method.")
    # Its presence is checked by the experiment, which knows the exception.
    metric: str | None = field(Text(), "Name of the validation metric the search looks at.", default=None)
    smaller_is_better: bool = field(Boolean(), "Whether less of it is better.", default=True)
    source_trial_id: int | None = field(
        Integer(1, _INT32_MAX), "Start from the newest checkpoint of this trial.", default=None
    )
    source_checkpoint_uuid: str | None = field(Text(problem=_uuid_problem), "Start from this checkpoint.", default=None)

    @property
    def generation(self) -> Generation:
        return generation({"searcher": self.raw})

    def build(self, space: JsonObject, *, classic: bool) -> SearchMethod:
        """Build a fresh method. `classic`: it hands out lengths; otherwise trials run and it may stop them.

        Raises:
            InvalidConfig: a parameter is missing that this generation needs, or parameters do not fit together.
        """
        raise NotImplementedError(f"searcher {self.name!r} builds no search method")

    def build_sampler(self, space: JsonObject) -> Sampler | None:
        """Build the searcher's own model, where it has one; None: `sampler` of the config says which, if any."""
        return None

    def plan(self, space: JsonObject, *, classic: bool) -> Counter[Lengths] | None:
        """Count the trials by the lengths that they train to; None: it depends on metrics and must be simulated.

        Raises:
            InvalidArgument: nobody can know that before it runs.
        """
        return None

    def first_trials(self) -> tuple[str, int]:
        """Name the parameter that decides how many trials a simulation has, and how many these are at least."""
        return "max_trials", int(getattr(self, "max_trials", 0))

    def running_at_most(self, trials: int) -> int:
        """Bound the trials that run at once; `trials` are all of them."""
        return min(int(getattr(self, "max_concurrent_trials", 0) or trials), trials)

    def levels(self) -> list[int]:
        """List the lengths at which trials are compared; a single 0 where every trial trains to its end."""
        return [0]

    @classmethod
    def space_problems(cls, space: JsonObject) -> Iterator[tuple[str, str]]:
        """Find what in the hyperparameters does not suit this searcher: path below the config, reason."""
        yield from ()

    @classmethod
    def warnings(cls, leaves: JsonObject) -> list[str]:
        """Say what the submitter may not expect; `leaves` are the flat hyperparameters."""
        return []

    def length_unit(self) -> str | None:
        """Find the unit of the lengths in the config; None where they are bare numbers."""
        lengths = (
            getattr(self, key) for key, known in self.schema.fields.items() if isinstance(known.node, LengthNode)
        )
        return next((length.unit.value for length in lengths if length is not None and length.unit is not None), None)

    def full_length(self, *, classic: bool) -> Lengths:
        """Find the length of a trial that nothing cuts short."""
        if classic or getattr(self, "max_length", None) is not None:
            return (self.classic_length(),)
        max_time: int | None = getattr(self, "max_time", None)
        return () if max_time is None else (max_time,)

    def classic_length(self) -> int:
        """Read `max_length` in its unit, which is the trial's business."""
        self.require("max_length")
        length: Length = getattr(self, "max_length")  # noqa: B009  # a parameter of subclasses
        return length.value

    def require(self, *names: str) -> None:
        """Raise InvalidConfig for the first of these parameters that the config does not have."""
        for name in names:
            if getattr(self, name, None) is None:
                raise invalid(name, f"`{name}` is a required property of searcher {self.name!r}")


class ClassicSearcher(SearcherConfig):
    """A searcher of the folder `classic`: its algorithm is a series of operations."""

    generations = frozenset({"classic"})


def invalid(parameter: str, reason: str) -> InvalidConfig:
    return InvalidConfig("invalid experiment configuration", [f"<config>.searcher.{parameter}: {reason}"])
