"""What finished trials say about hyperparameters: Pareto fronts and importance."""

from typing import Any

from determined.wire.codec import Wire


class ParetoMetric(Wire):
    name: str
    smaller_is_better: bool


class ParetoPoint(Wire):
    """A completed trial. `values` are in the order of the metrics; rank 0 is the front."""

    trial_id: int
    values: list[float]
    rank: int
    hparams: dict[str, Any]


class GetParetoFrontResponse(Wire):
    """`points`: the front, then other trials by rank; of very many others a sample. `message`: why there are none."""

    metrics: list[ParetoMetric]
    front: list[int]
    points: list[ParetoPoint]
    trials_used: int
    trials_completed: int
    message: str = ""


class HpImportance(Wire):
    """`name` is dotted where groups nest; the importances of all hyperparameters sum to 1."""

    name: str
    importance: float


class GetHpImportanceResponse(Wire):
    """The most important first. `message`: why there are none."""

    metric: str
    smaller_is_better: bool
    importances: list[HpImportance]
    trials_used: int
    trials_completed: int
    message: str = ""
