"""CMA-ES over the numeric axes: the distribution that the generations so far lead to, and one draw from it.

Optuna keeps the state of its CMA-ES pickled in its storage; ours is rebuilt from the trials, told generation by
generation, with the same library underneath. Categories, which CMA-ES does not know, are drawn uniformly.
"""

import math
from collections.abc import Sequence
from typing import Any

from determined._imports import load_optional
from determined._json import JsonObject
from determined.search.axes import Axis, AxisKind
from determined.search.evidence import Evidence, Numbers
from determined.search.optuna_study import EXTRA
from determined.search.rng import Rng

_SIGMA = 1 / 6  # of the unit cube, as Optuna starts
_FIRST = 1  # trials known before the distribution is asked at all


def population(options: JsonObject, axes: Sequence[Axis]) -> int:
    """Return how many trials a generation has: `popsize`, else what suits the number of axes."""
    given = options.get("popsize")
    return int(given) if given else 4 + math.floor(3 * math.log(max(len(_numeric(axes)), 1)))


def suggest(options: JsonObject, axes: Sequence[Axis], evidence: Sequence[Evidence], *, seed: int) -> Numbers:
    """Return the next point by axis name. Equal arguments, equal point.

    Raises:
        ImportError: the library is not installed; the message names the extra.
    """
    rng = Rng(seed)
    point = {axis.name: _drawn(axis, rng) for axis in axes}
    numeric = _numeric(axes)
    finished = sum(one.values is not None for one in evidence)
    if not numeric or finished < int(options.get("n_startup_trials", _FIRST)):
        return point
    unit = _led_by(options, numeric, evidence, seed).ask()
    return point | {axis.name: _from_unit(axis, float(x)) for axis, x in zip(numeric, unit, strict=True)}


def _led_by(options: JsonObject, numeric: Sequence[Axis], evidence: Sequence[Evidence], seed: int) -> Any:
    """Build the optimizer, an object of the library, after every full generation."""
    library, numpy = load_optional("cmaes", extra=EXTRA), load_optional("numpy", extra=EXTRA)
    size, dimensions = population(options, numeric), len(numeric)
    separable = bool(options.get("use_separable_cma")) and dimensions > 1
    more = {} if separable else {"lr_adapt": bool(options.get("lr_adapt"))}
    optimizer = (library.SepCMA if separable else library.CMA)(
        mean=numpy.full(dimensions, 0.5),
        sigma=float(options.get("sigma0") or _SIGMA),
        bounds=numpy.array([[0.0, 1.0]] * dimensions),
        n_max_resampling=10 * dimensions,
        seed=seed,
        population_size=size,
        **more,
    )
    for members in _generations(evidence):
        if len(members) >= size:
            optimizer.tell([(numpy.array(_to_unit(numeric, at)), value) for at, value in members[:size]])
    return optimizer


def _generations(evidence: Sequence[Evidence]) -> list[list[tuple[Numbers, float]]]:
    """Return points and results of each, the oldest generation first."""
    by_generation: dict[int, list[tuple[Numbers, float]]] = {}
    for one in evidence:
        if one.values is not None:
            by_generation.setdefault(one.generation, []).append((one.numbers, one.values[0]))
    return [by_generation[generation] for generation in sorted(by_generation)]


def _numeric(axes: Sequence[Axis]) -> list[Axis]:
    return [axis for axis in axes if axis.kind is not AxisKind.CATEGORY]


def _drawn(axis: Axis, rng: Rng) -> float | int:
    if axis.kind is AxisKind.FLOAT:
        return rng.uniform(axis.low, axis.high)
    return int(axis.low) + rng.below(int(axis.high - axis.low) + 1)


def _to_unit(numeric: Sequence[Axis], at: Numbers) -> list[float]:
    """Whole numbers own equal shares of their axis, the outer ones too."""
    halves = [0.5 if axis.kind is AxisKind.INT else 0.0 for axis in numeric]
    return [
        (at[axis.name] - axis.low + half) / (axis.high - axis.low + 2 * half)
        for axis, half in zip(numeric, halves, strict=True)
    ]


def _from_unit(axis: Axis, x: float) -> float | int:
    if axis.kind is AxisKind.FLOAT:
        return min(max(axis.low + x * (axis.high - axis.low), axis.low), axis.high)
    steps = int(axis.high - axis.low) + 1
    return int(axis.low) + min(max(int(x * steps), 0), steps - 1)
