"""Pareto fronts and importance of hyperparameters, over HTTP."""

from collections.abc import Sequence

from determined.api.session import Session
from determined.wire.hp_analysis import (
    GET_HP_IMPORTANCE,
    GET_PARETO_FRONT,
    GetHpImportance,
    GetHpImportanceResponse,
    GetParetoFront,
    GetParetoFrontResponse,
)


def pareto_front(
    session: Session, experiment_id: int, metrics: Sequence[str] = (), smaller_is_better: Sequence[bool] = ()
) -> GetParetoFrontResponse:
    """Find the front of the last validation of each completed trial; by default over the metrics of the search."""
    directions = [str(smaller).lower() for smaller in smaller_is_better]
    params = GetParetoFront(metrics=list(metrics) or None, smaller_is_better=directions or None)
    return session.call(GET_PARETO_FRONT, params, experiment_id=experiment_id)


def hp_importance(
    session: Session, experiment_id: int, metric: str | None = None, smaller_is_better: bool | None = None
) -> GetHpImportanceResponse:
    """Weigh hyperparameters by the best validation of each completed trial; by default of the searcher metric."""
    params = GetHpImportance(metric=metric, smaller_is_better=smaller_is_better)
    return session.call(GET_HP_IMPORTANCE, params, experiment_id=experiment_id)
