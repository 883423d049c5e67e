"""The searcher section: every method of every generation."""

import re
from collections.abc import Iterator

from determined._json import JsonObject, JsonValue
from determined.config.generations import Generation, generation
from determined.config.model_search import SAMPLERS, Learning, one_metric, with_first_metric
from determined.config.resources import INT32_MAX
from determined.schema.lists import ListOf
from determined.schema.node import Boolean, Integer, Number, Text
from determined.schema.objects import Field, Tagged
from determined.schema.quantities import Length
from determined.schema.quantity_nodes import LengthNode
from determined.schema.section import Section, field

_UUID = re.compile(r"[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}")
_MAX_RUNGS = 100  # each halves what is left: more of them only cost time to plan
# Keys of the first generation; the shims rewrite them, so they are seen here only where that was impossible.
_STEPS = ("max_steps", "target_trial_steps", "step_budget", "steps_per_round")


def _uuid_problem(text: str) -> str | None:
    return None if _UUID.fullmatch(text) else f"`{text}` is not a UUID"


def _asha_needs_an_end(value: JsonObject) -> Iterator[tuple[str, str]]:
    if value.get("max_time") is not None and value.get("time_metric") is None and value.get("max_length") is not None:
        yield "time_metric", "max_time needs a time_metric, the metric that says how far a trial is; or drop max_time"
    timed = value.get("time_metric") is not None and value.get("max_time") is not None
    if not timed and value.get("max_length") is None:
        yield "", f"{value['name']} requires max_time and time_metric to be set (or max_length, the older form)"


class Searcher(Section, unread=dict.fromkeys(_STEPS, Field(Integer(low=1), legacy=True))):
    """The fields that every method has. `metric` is None only for configs written with `entrypoint_script`."""

    name: str = field(Text(), "The method.")
    # Its presence is checked by the experiment, which knows the exception.
    metric: str | None = field(Text(), "Name of the validation metric the search looks at.", default=None)
    smaller_is_better: bool = field(Boolean(), "Whether less of it is better.", default=True)
    source_trial_id: int | None = field(
        Integer(1, INT32_MAX), "Start from the newest checkpoint of this trial.", default=None
    )
    source_checkpoint_uuid: str | None = field(Text(problem=_uuid_problem), "Start from this checkpoint.", default=None)

    @property
    def generation(self) -> Generation:
        return generation({"searcher": self.raw})


class _Concurrent(Section):
    max_concurrent_trials: int = field(Integer(low=0), "How many at a time; 0 is no limit.", default=16)


class _Length(Section):
    """A length that may be a bare number."""

    max_length: Length | None = field(
        LengthNode(unitless=True), "How long a trial trains (classic generation).", default=None, since="0.13"
    )


class _UnitLength(Section):
    max_length: Length | None = field(
        LengthNode(unitless=False), "How long a trial trains (classic generation).", default=None, since="0.13"
    )


class _OldLength(Section):
    """The length of methods that cannot do without one."""

    max_length: Length = field(LengthNode(unitless=False), "How long a trial trains.", since="0.13")


class _Timed(Section):
    time_metric: str | None = field(
        Text(), "The metric that counts training time, for searches without `max_length`.", default=None, since="0.38"
    )
    max_time: int | None = field(
        Integer(low=1), "How much of `time_metric` a full trial takes.", default=None, since="0.38"
    )


class _StopOnce(Section):
    stop_once: bool = field(Boolean(), "Stop trials instead of pausing them between rounds.", default=False)


class _Divisor(Section):
    divisor: float = field(Number(above=1), "One in so many goes on to the next round.", default=4)


class _Mode(Section):
    mode: str = field(
        Text(choices=("aggressive", "standard", "conservative")),
        "How eagerly trials are eliminated.",
        default="standard",
    )


class _Rungs(Section):
    max_rungs: int = field(Integer(1, _MAX_RUNGS), "At most so many rounds of elimination.", default=5)


class _Brackets(Section):
    bracket_rungs: tuple[int, ...] = field(ListOf(Integer(1, _MAX_RUNGS)), "Rounds of each bracket.", default=[])


class _Stragglers(Section):
    train_stragglers: bool = field(Boolean(), "Go on with trials that are late.", default=True, engines=())


class _Budget(Section):
    budget: Length = field(LengthNode(unitless=False), "Training of all trials together.", since="0.13")


class Single(_Length, Searcher):
    """One trial."""


class Random(Learning, _Length, _Concurrent, Searcher):
    """Trials with points that are drawn, or chosen by a sampler."""

    max_trials: int = field(Integer(low=1), "How many trials.")


class Grid(_Length, _Concurrent, Searcher):
    """A trial for each point of a grid."""


class AsyncHalving(
    Learning, _StopOnce, _UnitLength, _Timed, _Concurrent, _Divisor, Searcher,
    rules=(one_metric,), complete_rules=(_asha_needs_an_end,),
):  # fmt: skip
    """ASHA: only the best trials of each rung go on."""

    num_rungs: int = field(Integer(1, _MAX_RUNGS), "Rounds of elimination.")
    max_trials: int = field(Integer(low=1), "How many trials.")


class AdaptiveAsha(
    Learning, _StopOnce, _Length, _Timed, _Concurrent, _Brackets, _Rungs, _Divisor, _Mode, Searcher,
    rules=(one_metric,), complete_rules=(_asha_needs_an_end,),
):  # fmt: skip
    """Several brackets of ASHA side by side."""

    max_trials: int = field(Integer(low=1), "How many trials.")


class SyncHalving(_OldLength, _Stragglers, _Divisor, _Budget, Searcher):
    """Halving in rounds: a round waits for all of its trials."""

    num_rungs: int = field(Integer(1, _MAX_RUNGS), "Rounds of elimination.")


class Adaptive(_OldLength, _Stragglers, _Rungs, _Divisor, _Mode, _Brackets, _Budget, Searcher):
    """Several halvings side by side."""


class AdaptiveSimple(_OldLength, _Rungs, _Divisor, _Mode, Searcher):
    """Several halvings side by side, planned from a number of trials."""

    max_trials: int = field(Integer(1, 2000), "How many trials.")


class ReplaceFunction(Section):
    truncate_fraction: float = field(Number(0, 0.5), "The worst fraction, replaced by the best.", default=0.2)


class ExploreFunction(Section):
    resample_probability: float = field(Number(0, 1), "Chance to draw a value anew.", default=0.2)
    perturb_factor: float = field(Number(0, 1), "How far a value moves otherwise.", default=0.2)


class Pbt(Searcher):
    """Population-based training."""

    population_size: int = field(Integer(low=1), "Trials per round.")
    num_rounds: int = field(Integer(low=1), "Rounds.")
    length_per_round: Length = field(LengthNode(unitless=False), "Training per round.", since="0.13")
    replace_function: ReplaceFunction = field(ReplaceFunction, "How much of the population is replaced.", default={})
    explore_function: ExploreFunction = field(ExploreFunction, "How replacements differ from their models.", default={})


class Custom(Searcher, extra=True):
    """A search that a program of the user's drives; more keys are that program's."""

    unit: str | None = field(Text(choices=("batches", "records", "epochs")), "What lengths count.", default=None)


class Optuna(Learning, _Length, _Timed, _Concurrent, Searcher):
    """Trials with points that a sampler of Optuna chooses."""

    max_trials: int = field(Integer(low=1), "How many trials.")
    sampler: str = field(
        Text(choices=SAMPLERS),
        "The model that chooses points; all but `random` need the extra `optuna` (`gp` the extra `optuna-gp`).",
        default="tpe",
        since="0.39",
    )


METHODS: dict[str, type[Searcher]] = {
    "single": Single,
    "random": Random,
    "grid": Grid,
    "async_halving": AsyncHalving,
    "adaptive_asha": AdaptiveAsha,
    "sync_halving": SyncHalving,
    "adaptive": Adaptive,
    "adaptive_simple": AdaptiveSimple,
    "pbt": Pbt,
    "custom": Custom,
    "optuna": Optuna,
}


class _SearcherNode(Tagged[Searcher]):
    def fill(self, value: JsonValue) -> JsonValue:
        return super().fill(with_first_metric(value))


SEARCHER = _SearcherNode(Searcher, tag="name", variants=METHODS)
