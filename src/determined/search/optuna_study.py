"""Question to Optuna: given what is known of these trials, which point next?

Nothing is kept between questions. The evidence is laid before a fresh sampler as a finished history, so a model's
memory is our own snapshot and never an Optuna storage.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import ModuleType
from typing import Any

from determined._imports import load_optional
from determined._json import JsonObject
from determined.search.axes import Axis, AxisKind
from determined.search.evidence import Evidence, Numbers

EXTRA = "optuna"
GP_EXTRA = "optuna-gp"


def suggest(
    kind: str,
    options: JsonObject,
    axes: Sequence[Axis],
    evidence: Sequence[Evidence],
    *,
    objectives: int,
    seed: int,
    evolves: bool = False,
    within: AbstractContextManager[None] | None = None,
) -> Numbers:
    """Ask a sampler of Optuna for the next point, by axis name. Equal arguments, equal point.

    Args:
        kind: name of its class.
        evolves: it must know the generation of each trial.
        within: entered while it thinks.

    Raises:
        ImportError: Optuna, or what this sampler needs beside it, is not installed; the message names the extra.
    """
    optuna = load_optuna()
    model = getattr(optuna.samplers, kind)(seed=seed, **options)
    tag = _generation_tag(optuna) if evolves else None
    study = study_of(optuna, axes, evidence, objectives=objectives, sampler=model, generation_tag=tag)
    with within or nullcontext():
        numbers: Numbers = study.ask(_distributions(optuna, axes)).params
    return numbers


def load_optuna() -> ModuleType:
    """Return the library, which reports every study and trial on stderr unless it is told not to."""
    optuna = load_optional("optuna", extra=EXTRA)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def study_of(
    optuna: ModuleType,
    axes: Sequence[Axis],
    evidence: Sequence[Evidence],
    *,
    objectives: int = 1,
    sampler: object = None,
    generation_tag: str | None = None,
) -> Any:
    """Return a study whose past is the evidence."""
    distributions = _distributions(optuna, axes)
    trials = [
        _frozen(optuna, number, distributions, known, {generation_tag: known.generation} if generation_tag else {})
        for number, known in enumerate(evidence, start=1)
    ]
    return optuna.create_study(storage=_past(optuna, trials), sampler=sampler, directions=["minimize"] * objectives)


def _distributions(optuna: ModuleType, axes: Sequence[Axis]) -> dict[str, object]:
    return {axis.name: _distribution(optuna.distributions, axis) for axis in axes}


def _frozen(
    optuna: ModuleType, number: int, distributions: dict[str, object], known: Evidence, attributes: dict[str, int]
) -> object:
    """Return a trial of the past. Built by hand: Study.add_trial copies and checks each one, ten times the cost."""
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
def one_thread() -> Iterator[None]:
    """Torch's own threads, beside the trials on a full machine, make a fit of 0.3 s one of minutes."""
    torch = load_optional("torch", extra=GP_EXTRA)
    load_optional("scipy", extra=GP_EXTRA)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _distribution(kinds: ModuleType, axis: Axis) -> object:
    match axis.kind:
        case AxisKind.INT:
            return kinds.IntDistribution(int(axis.low), int(axis.high))
        case AxisKind.FLOAT:
            return kinds.FloatDistribution(axis.low, axis.high)
        case AxisKind.CATEGORY:
            return kinds.CategoricalDistribution(tuple(range(len(axis.choices))))


def _past(optuna: ModuleType, trials: Sequence[Any]) -> object:
    """Return a storage whose past is `trials`, numbered from 1; the trial that is asked for is number 0."""

    base: Any = optuna.storages.InMemoryStorage

    class Past(base):  # type: ignore[misc]  # a base class loaded by name
        def get_all_trials(self, study_id: int, deepcopy: bool = True, states: Any = None) -> list[Any]:
            own = super().get_all_trials(study_id, deepcopy=deepcopy, states=states)
            return [*own, *(trial for trial in trials if states is None or trial.state in states)]

    return Past()


def _generation_tag(optuna: ModuleType) -> str:
    """Under which name the genetic sampler marks the generation of a trial: seen on one it has just marked."""
    study = optuna.create_study(sampler=optuna.samplers.NSGAIISampler(seed=0))
    axis = {"x": optuna.distributions.FloatDistribution(0, 1)}
    study.tell(study.ask(axis), 0.0)  # the first one knows no space yet, and is not marked
    study.ask(axis)
    return str(next(iter(study.trials[1].system_attrs)))
