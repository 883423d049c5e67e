"""The tables of benchmarks/search_quality.py: what each task searches, how long it trains, and how it was recorded.

A table has the validation loss after every epoch for every point of a grid. A hyperparameter is searched as the index
of its value, so that every library sees one and the same space: `Ordered` values are whole numbers to it, `Choice`
values are categories.
"""

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TABLES = Path(__file__).with_name("search_quality_tables.npz")


@dataclass(frozen=True)
class Ordered:
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Choice:
    values: tuple[Any, ...]


Space = dict[str, Ordered | Choice]


@dataclass(frozen=True)
class Task:
    """`developed_on`: parameters of `auto` were chosen on it; the others were kept apart until the end."""

    name: str
    kind: str  # the function of search_quality_record.py that trains a point
    epochs: int
    space: Space
    developed_on: bool = False
    made: bool = False  # a formula, not a training
    options: dict[str, Any] = field(default_factory=dict)

    def points(self) -> list[dict[str, int]]:
        """List every point as indices, in the order of the table's first axis."""
        axes = [range(len(axis.values)) for axis in self.space.values()]
        return [dict(zip(self.space, indices, strict=True)) for indices in itertools.product(*axes)]

    def values(self, point: dict[str, int]) -> dict[str, Any]:
        """Read a point: the value of each index."""
        return {name: self.space[name].values[index] for name, index in point.items()}


def _powers(low: float, high: float, count: int) -> Ordered:
    return Ordered(tuple(10 ** (low + (high - low) * n / (count - 1)) for n in range(count)))


_PERCEPTRON: Space = {
    "learning_rate": _powers(-4, -0.5, 10),
    "alpha": _powers(-6, 1, 4),
    "width": Ordered((4, 12, 32, 96)),
    "solver": Choice(("adam", "sgd", "momentum")),
}
_BOOSTING: Space = {
    "learning_rate": _powers(-2.3, 0, 10),
    "depth": Ordered((1, 2, 3, 5, 7)),
    "subsample": Ordered((0.3, 0.6, 1.0)),
    "features": Choice((0.3, 1.0)),
}
_NETWORK: Space = {
    "learning_rate": _powers(-3.5, 0.3, 11),
    "weight_decay": _powers(-6, -1.5, 5),
    "schedule": Choice(("constant", "cosine", "step")),
    "optimizer": Choice(("adam", "momentum")),
}
_LINEAR: Space = {
    "eta0": _powers(-4, 0.5, 9),
    "alpha": _powers(-7, -1, 5),
    "schedule": Choice(("constant", "invscaling", "optimal")),
    "penalty": Choice(("l2", "l1", "elasticnet")),
}
_FACTORS: Space = {
    "learning_rate": _powers(-2.5, 0.5, 9),
    "weight_decay": _powers(-5, -0.5, 6),
    "rank": Ordered((1, 2, 4, 8, 16)),
    "optimizer": Choice(("adam", "momentum")),
}
_MADE: Space = {
    "rate": Ordered(tuple(range(12))),
    "size": Ordered(tuple(range(8))),
    "decay": Ordered(tuple(range(5))),
    "kind": Choice(("a", "b", "c")),
}

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("breast_cancer_perceptron", "perceptron", 50, _PERCEPTRON, True, options={"data": "breast_cancer"}),
        Task("digits_perceptron", "perceptron", 27, _PERCEPTRON, True, options={"data": "digits"}),
        Task("friedman_boosting", "boosting", 81, _BOOSTING, True, options={"data": "friedman"}),
        Task("spirals_network", "network", 50, _NETWORK, True, options={"data": "spirals", "width": 24}),
        Task("made_crossing", "crossing", 50, _MADE, True, made=True),
        Task("made_noisy", "noisy", 50, _MADE, True, made=True),
        Task("wine_perceptron", "perceptron", 50, _PERCEPTRON, options={"data": "wine"}),
        Task("diabetes_perceptron", "perceptron", 50, _PERCEPTRON, options={"data": "diabetes"}),
        Task("digits_linear", "linear", 40, _LINEAR, options={"data": "digits"}),
        Task("quantiles_boosting", "boosting", 81, _BOOSTING, options={"data": "quantiles"}),
        Task("mislabeled_network", "network", 50, _NETWORK, options={"data": "mislabeled", "width": 64}),
        Task("ratings_factors", "factors", 50, _FACTORS),
        Task("made_decayed", "decayed", 50, _MADE, made=True),
        Task("made_diverging", "diverging", 50, _MADE, made=True),
    )
}
