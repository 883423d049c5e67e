"""The searcher section: every method of every generation, as schema and as typed data."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from determined.config.generations import Generation, generation
from determined.config.model_search import (
    CHOSEN_SAMPLER,
    INITIAL_POINTS,
    METRICS,
    SAMPLER,
    metrics_agree,
    one_metric,
    points_fit,
    sampler_suits,
    with_first_metric,
)
from determined.config.node import Boolean, Integer, ListOf, Node, Number, Report, Text
from determined.config.objects import Field, Object, Tagged
from determined.config.quantities import Length, length_problem
from determined.config.resources import INT32_MAX

_UUID = re.compile(r"[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Searcher:
    """What every method has. `metric` is None only for configs written with `entrypoint_script`."""

    name: str
    metric: str | None = None
    smaller_is_better: bool = True
    source_trial_id: int | None = None
    source_checkpoint_uuid: str | None = None
    max_length: Length | None = None
    time_metric: str | None = None
    max_time: int | None = None
    metrics: tuple[dict[str, Any], ...] = ()  # several objectives; `metric` is the first of them
    initial_points: tuple[dict[str, Any], ...] = ()
    sampler: str | None = None  # None: points are drawn at random
    sampler_options: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, Any] = field(repr=False)

    method: ClassVar[str] = ""

    @property
    def generation(self) -> Generation:
        return generation({"searcher": self.raw})


@dataclass(frozen=True, slots=True, kw_only=True)
class Single(Searcher):
    method: ClassVar[str] = "single"


@dataclass(frozen=True, slots=True, kw_only=True)
class Random(Searcher):
    method: ClassVar[str] = "random"
    max_trials: int
    max_concurrent_trials: int = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid(Searcher):
    method: ClassVar[str] = "grid"
    max_concurrent_trials: int = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class AsyncHalving(Searcher):
    method: ClassVar[str] = "async_halving"
    num_rungs: int
    max_trials: int
    divisor: float = 4
    max_concurrent_trials: int = 16
    stop_once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveAsha(Searcher):
    method: ClassVar[str] = "adaptive_asha"
    max_trials: int
    mode: str = "standard"
    divisor: float = 4
    max_rungs: int = 5
    bracket_rungs: tuple[int, ...] = ()
    max_concurrent_trials: int = 16
    stop_once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncHalving(Searcher):
    method: ClassVar[str] = "sync_halving"
    num_rungs: int
    budget: Length
    divisor: float = 4
    train_stragglers: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive(Searcher):
    method: ClassVar[str] = "adaptive"
    budget: Length
    mode: str = "standard"
    divisor: float = 4
    max_rungs: int = 5
    bracket_rungs: tuple[int, ...] = ()
    train_stragglers: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveSimple(Searcher):
    method: ClassVar[str] = "adaptive_simple"
    max_trials: int
    mode: str = "standard"
    divisor: float = 4
    max_rungs: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Pbt(Searcher):
    method: ClassVar[str] = "pbt"
    population_size: int
    num_rounds: int
    length_per_round: Length
    truncate_fraction: float = 0.2
    resample_probability: float = 0.2
    perturb_factor: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Custom(Searcher):
    method: ClassVar[str] = "custom"
    unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Optuna(Searcher):
    """Ours. Fields beyond these are in `raw` and go to the sampler."""

    method: ClassVar[str] = "optuna"
    max_trials: int
    max_concurrent_trials: int = 16


METHODS: dict[str, type[Searcher]] = {
    cls.method: cls
    for cls in (
        Single, Random, Grid, AsyncHalving, AdaptiveAsha, SyncHalving, Adaptive, AdaptiveSimple, Pbt, Custom, Optuna,
    )
}  # fmt: skip


def parse_searcher(raw: dict[str, Any]) -> Searcher:
    """Typed data from a checked and filled searcher section."""
    cls = METHODS[raw["name"]]
    flat = {**raw, **(raw.get("replace_function") or {}), **(raw.get("explore_function") or {}), "raw": raw}
    known = {f.name for f in fields(cls)}
    return cls(**{key: _typed(key, value) for key, value in flat.items() if key in known and value is not None})


def _typed(key: str, value: Any) -> Any:
    if key in ("max_length", "budget", "length_per_round"):
        return Length.parse(value)
    return tuple(value) if key in ("bracket_rungs", "metrics", "initial_points") else value


class LengthNode(Node):
    """A length; see `quantities.Length`. It merges as a whole: half a length has no meaning."""

    def __init__(self, *, unitless: bool, low: int = 1) -> None:
        self._unitless, self._low = unitless, low

    def check(self, value: Any, at: str, report: Report) -> None:
        problem = length_problem(value, unitless=self._unitless, low=self._low)
        if problem:
            report.add(at, problem)


def _uuid_problem(text: str) -> str | None:
    return None if _UUID.fullmatch(text) else f"`{text}` is not a UUID"


def _asha_needs_an_end(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if value.get("max_time") is not None and value.get("time_metric") is None and value.get("max_length") is not None:
        yield "time_metric", "max_time needs a time_metric, the metric that says how far a trial is; or drop max_time"
    timed = value.get("time_metric") is not None and value.get("max_time") is not None
    if not timed and value.get("max_length") is None:
        yield "", f"{value['name']} requires max_time and time_metric to be set (or max_length, the older form)"


_MAX_RUNGS = 100  # each halves what is left: more of them only cost time to plan


def _trials(low: int = 1, high: int | None = None) -> Field:
    return Field(Integer(low=low, high=high), required=True)


_COMMON = {
    "name": Field(Text(), required=True),
    "metric": Field(Text(), default=None),  # its presence is checked by the experiment, which knows the exception
    "smaller_is_better": Field(Boolean(), default=True),
    "source_trial_id": Field(Integer(1, INT32_MAX), default=None),
    "source_checkpoint_uuid": Field(Text(problem=_uuid_problem), default=None),
    # Keys of the first generation; the shims rewrite them, so they are seen here only where that was impossible.
    "max_steps": Field(Integer(low=1), legacy=True),
    "target_trial_steps": Field(Integer(low=1), legacy=True),
    "step_budget": Field(Integer(low=1), legacy=True),
    "steps_per_round": Field(Integer(low=1), legacy=True),
}
_LENGTH = {"max_length": Field(LengthNode(unitless=True), default=None)}
_UNIT_LENGTH = {"max_length": Field(LengthNode(unitless=False), default=None)}
_OLD_LENGTH = {"max_length": Field(LengthNode(unitless=False), required=True)}
_CONCURRENT = {"max_concurrent_trials": Field(Integer(low=0), default=16)}
_TIMED = {"time_metric": Field(Text(), default=None), "max_time": Field(Integer(low=1), default=None)}
_STOP_ONCE = {"stop_once": Field(Boolean(), default=False)}
_DIVISOR = {"divisor": Field(Number(above=1), default=4)}
_MODE = {"mode": Field(Text(choices=("aggressive", "standard", "conservative")), default="standard")}
_RUNGS = {"max_rungs": Field(Integer(1, _MAX_RUNGS), default=5)}
_BRACKETS = {"bracket_rungs": Field(ListOf(Integer(1, _MAX_RUNGS)), default=[])}
_STRAGGLERS = {"train_stragglers": Field(Boolean(), default=True, honoured_by=())}
_BUDGET = {"budget": Field(LengthNode(unitless=False), required=True)}
_FRACTION = Field(Number(low=0, high=1), default=0.2)
_REPLACE = Object({"truncate_fraction": Field(Number(low=0, high=0.5), default=0.2)})
_EXPLORE = Object({"resample_probability": _FRACTION, "perturb_factor": _FRACTION})

_LEARNING = {**METRICS, **INITIAL_POINTS, **SAMPLER}
_LEARNING_RULES = (metrics_agree, sampler_suits, points_fit)

_VARIANTS = {
    "single": Object(_LENGTH),
    "random": Object(
        {"max_trials": _trials(), **_CONCURRENT, **_LENGTH, **_LEARNING},
        rules=_LEARNING_RULES,
    ),
    "grid": Object({**_CONCURRENT, **_LENGTH}),
    "async_halving": Object(
        {
            "num_rungs": _trials(high=_MAX_RUNGS),
            "max_trials": _trials(),
            **_DIVISOR,
            **_CONCURRENT,
            **_TIMED,
            **_UNIT_LENGTH,
            **_STOP_ONCE,
            **_LEARNING,
        },
        rules=(*_LEARNING_RULES, one_metric),
        complete_rules=(_asha_needs_an_end,),
    ),
    "adaptive_asha": Object(
        {
            "max_trials": _trials(),
            **_MODE,
            **_DIVISOR,
            **_RUNGS,
            **_BRACKETS,
            **_CONCURRENT,
            **_TIMED,
            **_LENGTH,
            **_STOP_ONCE,
            **_LEARNING,
        },
        rules=(*_LEARNING_RULES, one_metric),
        complete_rules=(_asha_needs_an_end,),
    ),
    "sync_halving": Object(
        {"num_rungs": _trials(high=_MAX_RUNGS), **_BUDGET, **_DIVISOR, **_STRAGGLERS, **_OLD_LENGTH}
    ),
    "adaptive": Object({**_BUDGET, **_BRACKETS, **_MODE, **_DIVISOR, **_RUNGS, **_STRAGGLERS, **_OLD_LENGTH}),
    "adaptive_simple": Object({"max_trials": _trials(high=2000), **_MODE, **_DIVISOR, **_RUNGS, **_OLD_LENGTH}),
    "pbt": Object(
        {
            "population_size": _trials(),
            "num_rounds": _trials(),
            "length_per_round": Field(LengthNode(unitless=False), required=True),
            "replace_function": Field(_REPLACE, default={}),
            "explore_function": Field(_EXPLORE, default={}),
        }
    ),
    "custom": Object({"unit": Field(Text(choices=("batches", "records", "epochs")), default=None)}, extra=True),
    "optuna": Object(
        {"max_trials": _trials(), **_CONCURRENT, **_TIMED, **_LENGTH, **_LEARNING, **CHOSEN_SAMPLER},
        rules=_LEARNING_RULES,
    ),
}


class _SearcherNode(Tagged):
    def fill(self, value: Any) -> Any:
        return super().fill(with_first_metric(value))


SEARCHER = _SearcherNode(
    tag="name",
    common=_COMMON,
    variants=_VARIANTS,
    summary=f"not an object whose `name` is one of {', '.join(_VARIANTS)}",
)
