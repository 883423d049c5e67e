"""Results of finished trials about hyperparameters: Pareto fronts and importance."""

from typing import Annotated, Any

from msgspec import Meta

from determined.wire.codec import Wire
from determined.wire.operation import Operation, Query


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


class GetParetoFront(Query):
    metrics: Annotated[
        list[str] | None,
        Meta(
            description="Names of metrics, as one text with commas or as repeated keys; those of the search by default."
        ),
    ] = None
    smaller_is_better: Annotated[
        list[str] | None, Meta(description="true or false for each metric, written in the same way.")
    ] = None


class GetHpImportance(Query):
    metric: Annotated[str | None, Meta(description="Name of a metric; the searcher metric by default.")] = None
    smaller_is_better: Annotated[bool | None, Meta(description="Direction of the metric.")] = None


GET_PARETO_FRONT = Operation(
    "GET", "/api/v1/experiments/{experiment_id:int}/pareto-front", GetParetoFront, GetParetoFrontResponse, ours=True
)
GET_HP_IMPORTANCE = Operation(
    "GET", "/api/v1/experiments/{experiment_id:int}/hp-importance", GetHpImportance, GetHpImportanceResponse, ours=True
)
