"""pbt: population based training, in rounds."""

import math
from dataclasses import asdict, dataclass

from determined._json import JsonObject, JsonValue
from determined.schema.node import Integer, Number
from determined.schema.quantities import Length
from determined.schema.quantity_nodes import LengthNode
from determined.schema.section import Section, field
from determined.search import sampling
from determined.search.method import (
    WORST,
    Close,
    ExitReason,
    Operation,
    SearchContext,
    SearchMethod,
    Tally,
    ValidateAfter,
)
from determined.search.rng import Rng
from determined.search.searcher_config import ClassicSearcher


class ReplaceFunction(Section):
    truncate_fraction: float = field(Number(0, 0.5), "The worst fraction, replaced by the best.", default=0.2)


class ExploreFunction(Section):
    """Differences of a child from its parent."""

    resample_probability: float = field(Number(0, 1), "Chance to draw a value anew.", default=0.2)
    perturb_factor: float = field(Number(0, 1), "How far a value moves otherwise.", default=0.2)


class Pbt(ClassicSearcher):
    """Trains a population whose best members are copied and perturbed after each round.

    Rounds have equal length; after each the worst make way for explored copies of the best, which start from their
    parents' checkpoints. Lengths are a trial's own: a child's first round ends at length_per_round however old its
    parent is, and whoever goes on gets one round more than it has had. Whoever exited keeps the worst metric; once it
    is among the worst it leaves.
    """

    name = "pbt"
    order = 9
    size = "`population_size`, `num_rounds`"
    continuable = False
    replays_history = False

    population_size: int = field(Integer(low=1), "Trials per round.")
    num_rounds: int = field(Integer(low=1), "Rounds.")
    length_per_round: Length = field(LengthNode(unitless=False), "Training per round.", since="0.13")
    replace_function: ReplaceFunction = field(ReplaceFunction, "How much of the population is replaced.", default={})
    explore_function: ExploreFunction = field(ExploreFunction, "How replacements differ from their models.", default={})

    def build(self, space: JsonObject, *, classic: bool) -> SearchMethod:
        return PopulationSearch(self)

    def first_trials(self) -> tuple[str, int]:
        return "population_size", self.population_size

    def running_at_most(self, trials: int) -> int:
        return min(self.population_size, trials)


class PopulationSearch(SearchMethod):
    """Classic only: a population waits for its slowest member between rounds."""

    def __init__(self, config: Pbt) -> None:
        self._size = config.population_size
        self._num_rounds = config.num_rounds
        self._length = config.length_per_round.value
        self._truncated = int(config.replace_function.truncate_fraction * config.population_size)
        self._explore = config.explore_function
        self._rounds = 0
        self._members: dict[str, _Member] = {}
        self._awaited: set[str] = set()  # members that owe the result of this round

    def initial(self, ctx: SearchContext) -> list[Operation]:
        return [op for _ in range(self._size) for op in self._open(ctx)]

    def validation_completed(
        self, ctx: SearchContext, request_id: str, metric: float, length: float
    ) -> list[Operation]:
        if request_id not in self._awaited:
            return []
        self._members[request_id].metric = metric
        self._awaited.remove(request_id)
        return self._end_rounds(ctx)

    def exited_early(self, ctx: SearchContext, request_id: str, reason: ExitReason) -> list[Operation]:
        return self._left(ctx, request_id)

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        return self._left(ctx, request_id)

    def progress(self, tally: Tally) -> float:
        """Return the units reported; the rounds that are over count in full, whatever their trials reported."""
        whole = self._length * self._size * self._num_rounds
        over = self._length * self._size * self._rounds
        return min(max(tally.open_units + tally.closed_units, over) / whole, 1.0)

    def snapshot(self) -> JsonObject:
        return {
            "rounds_completed": self._rounds,
            "members": {request_id: asdict(member) for request_id, member in self._members.items()},
            "awaited": sorted(self._awaited),
        }

    def restore(self, state: JsonObject) -> None:
        self._rounds = state["rounds_completed"]
        self._members = {request_id: _Member(**member) for request_id, member in state["members"].items()}
        self._awaited = set(state["awaited"])

    def _open(
        self, ctx: SearchContext, hparams: JsonObject | None = None, parent: str | None = None
    ) -> list[Operation]:
        create = ctx.create(hparams, checkpoint_of=parent)
        self._members[create.request_id] = _Member(create.hparams)
        return [create, *self._go_on(create.request_id)]

    def _go_on(self, request_id: str) -> list[Operation]:
        member = self._members[request_id]
        if member.gone:
            return []
        member.rounds += 1
        self._awaited.add(request_id)
        return [ValidateAfter(request_id, self._length * member.rounds)]

    def _left(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        member = self._members.get(request_id)
        if member is None or member.gone:
            return []
        member.gone, member.metric = True, WORST
        if request_id not in self._awaited:
            return []
        self._awaited.remove(request_id)
        return self._end_rounds(ctx)

    def _end_rounds(self, ctx: SearchContext) -> list[Operation]:
        """End the round once nobody is awaited; a population of which all are gone has no further round to train."""
        if self._awaited:
            return []
        alive = any(not member.gone for member in self._members.values())
        self._rounds = self._rounds + 1 if alive else self._num_rounds
        if self._rounds >= self._num_rounds:
            return [op for request_id in list(self._members) for op in self._close(request_id)]
        return self._next_round(ctx)

    def _next_round(self, ctx: SearchContext) -> list[Operation]:
        ranked = sorted(self._members, key=self._rank)
        # A population that has lost members must not clone and close the same trial.
        truncated = min(self._truncated, len(ranked) // 2)
        kept = len(ranked) - truncated
        parents = [parent for parent in ranked[:truncated] if not self._members[parent].gone]
        operations = [op for request_id in ranked[kept:] for op in self._close(request_id)]
        operations += [op for parent in parents for op in self._child(ctx, parent)]
        return operations + [op for request_id in ranked[:kept] for op in self._go_on(request_id)]

    def _rank(self, request_id: str) -> tuple[float, bool, str]:
        """Rank a trial: one that reported NaN is as bad as one that is gone, but can go on."""
        member = self._members[request_id]
        return member.metric, member.gone, request_id

    def _child(self, ctx: SearchContext, parent: str) -> list[Operation]:
        return self._open(ctx, explore(ctx.space, self._members[parent].hparams, self._explore, ctx.rng), parent)

    def _close(self, request_id: str) -> list[Operation]:
        return [] if self._members.pop(request_id).gone else [Close(request_id)]


@dataclass(slots=True)
class _Member:
    hparams: JsonObject
    rounds: int = 0  # begun
    metric: float = WORST
    gone: bool = False


def explore(space: JsonObject, parent: JsonObject, how: ExploreFunction, rng: Rng) -> JsonObject:
    """Choose a child's hyperparameters: each one, in sorted order at every depth, drawn anew or moved a bit.

    A constant draws nothing; a categorical one is drawn anew or stays.
    """
    return {name: _explore_one(space[name], parent.get(name), how, rng) for name in sorted(space)}


def _explore_one(value: JsonValue, had: JsonValue, how: ExploreFunction, rng: Rng) -> JsonValue:
    if sampling.is_group(value):
        return explore(value, had if isinstance(had, dict) else {}, how, rng)
    fixed = sampling.constant(value)
    if fixed is not None:
        return fixed[0]
    assert isinstance(value, dict)  # all else is constant
    if rng.uniform(0, 1) < how.resample_probability or had is None:
        drawn: JsonValue = sampling.sample({"it": value}, rng)["it"]
        return drawn
    if value["type"] == "categorical":
        return had
    assert isinstance(had, int | float)  # as every value of a range
    return _perturbed(value, had, how.perturb_factor, rng)


def _perturbed(value: JsonObject, had: float, factor: float, rng: Rng) -> int | float:
    shrink = rng.uniform(0, 1) < 0.5
    moved = had * (1 - factor if shrink else 1 + factor)
    low, high = value["minval"], value["maxval"]
    if value["type"] == "int":
        return min(max(math.floor(moved) if shrink else math.ceil(moved), int(low)), int(high))
    if value["type"] == "log":
        low, high = float(value["base"]) ** float(low), float(value["base"]) ** float(high)
    return min(max(moved, float(low)), float(high))
