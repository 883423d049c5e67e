"""Analysis of hyperparameters by an experiment's completed trials: Pareto fronts and importance.

Worked out in a thread, over a bounded number of trials, and remembered until another trial completes.
"""

import asyncio
import math
import random
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import ExperimentConfig
from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import hp_analysis as rows
from determined.master.db.queries.hp_analysis import Result
from determined.master.lifecycle.states import State
from determined.search import pareto
from determined.search.importance import importance
from determined.search.objectives import Objective, Objectives
from determined.wire.codec import float_from_wire
from determined.wire.hp_analysis import (
    GetHpImportanceResponse,
    GetParetoFrontResponse,
    HpImportance,
    ParetoMetric,
    ParetoPoint,
)

MAX_TRIALS = 2000
_MAX_METRICS = 8
_REMEMBERED = 64

T = TypeVar("T")


async def pareto_front(
    ctx: MasterContext, experiment_id: int, names: Sequence[str], smaller_is_better: Sequence[bool]
) -> GetParetoFrontResponse:
    """Return the front of the last validation of each completed trial: one model has all the values of a point.

    Raises:
        NotFound: there is no such experiment.
        InvalidArgument: fewer than two metrics, or directions that do not match them.
    """
    about = await ctx.db.read(lambda conn: _subject(conn, experiment_id, names, smaller_is_better))
    if not 2 <= len(about.objectives) <= _MAX_METRICS:
        raise InvalidArgument(
            f"metrics={','.join(one.name for one in about.objectives)!r}: a Pareto front needs 2 to {_MAX_METRICS}"
            " metrics; name them like metrics=loss,latency"
        )
    key = ("pareto", ctx.cluster.cluster_id, about.key)
    return await _remembered(ctx, key, lambda conn: _known(conn, about, _last), _pareto_response)


async def hp_importance(
    ctx: MasterContext, experiment_id: int, metric: str | None, smaller_is_better: bool | None
) -> GetHpImportanceResponse:
    """Return the importance by the best validation of each completed trial, whether it was stopped early or not.

    Raises:
        NotFound: there is no such experiment.
        InvalidArgument: no metric is named, and the experiment has none.
        FailedPrecondition: this master lacks the library.
    """
    names, directions = [metric] if metric else [], [] if smaller_is_better is None else [smaller_is_better]
    about = await ctx.db.read(lambda conn: _subject(conn, experiment_id, names, directions))
    about = _Subject(about.experiment_id, about.space, about.objectives[:1], about.mark)
    key = ("importance", ctx.cluster.cluster_id, about.key)
    try:
        return await _remembered(ctx, key, lambda conn: _known(conn, about, _best), _importance_response)
    except ImportError as e:
        raise FailedPrecondition(f"hyperparameter importance needs a library on the master: {e}") from e


@dataclass(frozen=True, slots=True)
class _Subject:
    """Subject of an analysis. `mark` changes with every trial that completes."""

    experiment_id: int
    space: JsonObject
    objectives: tuple[Objective, ...]
    mark: tuple[int, datetime | None]

    @property
    def key(self) -> tuple[object, ...]:
        return self.experiment_id, self.objectives, self.mark


@dataclass(frozen=True, slots=True)
class _Known:
    """Signed values (lower is better) of the trials that have them all, and the hyperparameters of some of those."""

    about: _Subject
    values: dict[int, list[float]]
    hparams: dict[int, JsonObject]


def _subject(conn: Connection, experiment_id: int, names: Sequence[str], directions: Sequence[bool]) -> _Subject:
    config = ExperimentConfig.load(experiments.get(conn, experiment_id).config)
    objectives = _objectives(config.searcher.raw, names, directions)
    mark = rows.mark(conn, experiment_id, State.COMPLETED)
    return _Subject(experiment_id, config.hyperparameters, objectives, mark)


def _objectives(searcher: JsonObject, names: Sequence[str], directions: Sequence[bool]) -> tuple[Objective, ...]:
    """Return those named, else the experiment's own; directions as given, else as the experiment says, else smaller."""
    own = {one.name: one for one in Objectives.of(searcher).each if one.name}
    if not names:
        names = list(own)
    if not names:
        raise InvalidArgument("the experiment has no searcher metric; name one, like metric=loss")
    if directions and len(directions) != len(names):
        raise InvalidArgument(
            f"smallerIsBetter has {len(directions)} values for {len(names)} metrics; give one for each, or none"
        )
    if len(set(names)) < len(names):
        raise InvalidArgument(f"metrics={','.join(names)!r} names one twice; name each once")
    known = [own.get(name, Objective(name, True)) for name in names]
    if not directions:
        return tuple(known)
    return tuple(Objective(name, smaller) for name, smaller in zip(names, directions, strict=True))


def _known(conn: Connection, about: _Subject, choose: Callable[[Objective, Result], float | None]) -> _Known:
    """Return a sample, the same at every call, where there are more trials than can be looked at."""
    names = [one.name for one in about.objectives]
    values: dict[int, list[float]] = {}
    for trial_id, results in rows.results(conn, about.experiment_id, State.COMPLETED, names).items():
        if len(results) < len(names):
            continue
        chosen = [choose(one, results[one.name]) for one in about.objectives]
        signed = [_signed(one, v) for one, v in zip(about.objectives, chosen, strict=True) if v is not None]
        if len(signed) == len(names):
            values[trial_id] = signed
    if len(values) > MAX_TRIALS:
        sample = sorted(random.Random(about.experiment_id).sample(sorted(values), MAX_TRIALS))
        values = {trial_id: values[trial_id] for trial_id in sample}
    return _Known(about, values, rows.hparams(conn, list(values)))


def _last(objective: Objective, result: Result) -> float | None:
    value = float_from_wire(result.last) if isinstance(result.last, int | float | str) else math.nan
    return value if math.isfinite(value) else None


def _best(objective: Objective, result: Result) -> float | None:
    return result.low if objective.smaller_is_better else result.high


def _pareto_response(known: _Known) -> GetParetoFrontResponse:
    about, trial_ids = known.about, list(known.values)
    ranks = dict(zip(trial_ids, pareto.ranks(list(known.values.values())), strict=True))
    points = [
        ParetoPoint(
            trial_id=trial_id,
            values=[_signed(one, v) for one, v in zip(about.objectives, known.values[trial_id], strict=True)],
            rank=ranks[trial_id],
            hparams=known.hparams[trial_id],
        )
        for trial_id in sorted(trial_ids, key=lambda trial_id: (ranks[trial_id], trial_id))
    ]
    names = " and ".join(one.name for one in about.objectives)
    return GetParetoFrontResponse(
        metrics=[ParetoMetric(name=one.name, smaller_is_better=one.smaller_is_better) for one in about.objectives],
        front=[point.trial_id for point in points if point.rank == 0],
        points=points,
        trials_used=len(points),
        trials_completed=about.mark[0],
        message="" if points else f"no completed trial has validations with {names}",
    )


def _importance_response(known: _Known) -> GetHpImportanceResponse:
    about, objective = known.about, known.about.objectives[0]
    importances = importance(about.space, [(known.hparams[trial], values[0]) for trial, values in known.values.items()])
    return GetHpImportanceResponse(
        metric=objective.name,
        smaller_is_better=objective.smaller_is_better,
        importances=[HpImportance(name=name, importance=share) for name, share in importances.shares.items()],
        trials_used=importances.trials,
        trials_completed=about.mark[0],
        message=importances.why_not,
    )


def _signed(objective: Objective, value: float) -> float:
    """Lower is better; once more, and it is as it was."""
    return value if objective.smaller_is_better else -value


async def _remembered(
    ctx: MasterContext, key: tuple[object, ...], read: Callable[[Connection], _Known], work_out: Callable[[_Known], T]
) -> T:
    """Return the answer to an equal question, or a new one. Only the event loop touches what is remembered."""
    if key in _recent:
        _recent.move_to_end(key)
        remembered: T = _recent[key]
        return remembered
    known = await ctx.db.read(read)
    answer = await asyncio.to_thread(work_out, known)
    _recent[key] = answer
    while len(_recent) > _REMEMBERED:
        _recent.popitem(last=False)
    return answer


_recent: OrderedDict[tuple[object, ...], Any] = OrderedDict()
