"""One question to Optuna: given what is known of these trials, which point next?

Nothing is kept between questions. The evidence is laid before a fresh sampler as a finished history, so a model's
memory is our own snapshot and never an Optuna storage.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from determined._imports import load_optional
from determined.search.axes import Axis, AxisKind

Numbers = dict[str, float | int]
EXTRA = "optuna"
GP_EXTRA = "optuna-gp"
_NEEDS = {
    "tpe": ("optuna",),
    "gp": ("optuna", "scipy", "torch"),
    "cmaes": ("cmaes",),
    "nsga2": ("optuna",),
    "random": (),
}
_KINDS = {"tpe": "TPESampler", "gp": "GPSampler", "nsga2": "NSGAIISampler"}


@dataclass(frozen=True, slots=True)
class Evidence:
    """A trial as a model sees it. `values` (lower is better) is None while nothing is known of it: it runs."""

    numbers: Numbers
    values: Sequence[float] | None
    generation: int = 0


def suggest(
    sampler: str,
    options: dict[str, Any],
    axes: Sequence[Axis],
    evidence: Sequence[Evidence],
    *,
    objectives: int,
    seed: int,
) -> Numbers:
    """The next point by axis name. Equal arguments, equal point.

    Raises:
        ImportError: Optuna, or what this sampler needs beside it, is not installed; the message names the extra.
    """
    optuna = load_optuna()
    model = getattr(optuna.samplers, _KINDS[sampler])(seed=seed, **options)
    tag = _generation_tag(optuna) if sampler == "nsga2" else None
    study = study_of(optuna, axes, evidence, objectives=objectives, sampler=model, generation_tag=tag)
    with _one_thread() if sampler == "gp" else nullcontext():
        asked: Numbers = study.ask(_distributions(optuna, axes)).params
    return asked


def missing_libraries(sampler: str) -> list[str]:
    """What this sampler needs and this process does not have. Imports nothing."""
    return [name for name in _NEEDS[sampler] if find_spec(name) is None]


def load_optuna() -> Any:
    """The library, which reports every study and trial on stderr unless it is told not to."""
    optuna = load_optional("optuna", extra=EXTRA)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def study_of(
    optuna: Any,
    axes: Sequence[Axis],
    evidence: Sequence[Evidence],
    *,
    objectives: int = 1,
    sampler: Any = None,
    generation_tag: str | None = None,
) -> Any:
    """A study whose past is the evidence."""
    distributions = _distributions(optuna, axes)
    trials = [
        _frozen(optuna, number, distributions, known, {generation_tag: known.generation} if generation_tag else {})
        for number, known in enumerate(evidence, start=1)
    ]
    return optuna.create_study(storage=_past(optuna, trials), sampler=sampler, directions=["minimize"] * objectives)


def _distributions(optuna: Any, axes: Sequence[Axis]) -> dict[str, Any]:
    return {axis.name: _distribution(optuna.distributions, axis) for axis in axes}


def _frozen(
    optuna: Any, number: int, distributions: dict[str, Any], known: Evidence, attributes: dict[str, Any]
) -> Any:
    """A trial of the past. Built by hand: Study.add_trial copies and checks each one, ten times the cost."""
    states = optuna.trial.TrialState
    return optuna.trial.FrozenTrial(
        number=number,
        trial_id=number,
        state=states.RUNNING if known.values is None else states.COMPLETE,
        value=None,
        values=known.values,
        datetime_start=None,
        datetime_complete=None,
        params=known.numbers,
        distributions=distributions,
        user_attrs={},
        system_attrs=attributes,
        intermediate_values={},
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Torch's own threads, beside the trials on a full machine, make a fit of 0.3 s one of minutes."""
    torch = load_optional("torch", extra=GP_EXTRA)
    load_optional("scipy", extra=GP_EXTRA)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _distribution(kinds: Any, axis: Axis) -> Any:
    match axis.kind:
        case AxisKind.INT:
            return kinds.IntDistribution(int(axis.low), int(axis.high))
        case AxisKind.FLOAT:
            return kinds.FloatDistribution(axis.low, axis.high)
        case AxisKind.CATEGORY:
            return kinds.CategoricalDistribution(tuple(range(len(axis.choices))))


def _past(optuna: Any, trials: Sequence[Any]) -> Any:
    """A storage whose past is `trials`, numbered from 1; the trial that is asked for is number 0."""

    class Past(optuna.storages.InMemoryStorage):  # type: ignore[misc]  # a base class loaded by name
        def get_all_trials(self, study_id: int, deepcopy: bool = True, states: Any = None) -> list[Any]:
            asked = super().get_all_trials(study_id, deepcopy=deepcopy, states=states)
            return [*asked, *(trial for trial in trials if states is None or trial.state in states)]

    return Past()


def _generation_tag(optuna: Any) -> str:
    """Under which name the genetic sampler marks the generation of a trial: seen on one it has just marked."""
    study = optuna.create_study(sampler=optuna.samplers.NSGAIISampler(seed=0))
    axis = {"x": optuna.distributions.FloatDistribution(0, 1)}
    study.tell(study.ask(axis), 0.0)  # the first one knows no space yet, and is not marked
    study.ask(axis)
    return str(next(iter(study.trials[1].system_attrs)))
