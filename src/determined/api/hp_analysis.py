"""What finished trials say about hyperparameters, over HTTP."""

from collections.abc import Sequence

from determined.api.paging import given
from determined.api.session import Session
from determined.wire.hp_analysis import GetHpImportanceResponse, GetParetoFrontResponse

_ROOT = "/api/v1/experiments"


def pareto_front(
    session: Session, experiment_id: int, metrics: Sequence[str] = (), smaller_is_better: Sequence[bool] = ()
) -> GetParetoFrontResponse:
    """Of the last validation of each completed trial; by default over the metrics of the search."""
    directions = [str(smaller).lower() for smaller in smaller_is_better]
    params = given(metrics=list(metrics) or None, smallerIsBetter=directions or None)
    return session.get_as(f"{_ROOT}/{experiment_id}/pareto-front", GetParetoFrontResponse, params=params)


def hp_importance(
    session: Session, experiment_id: int, metric: str | None = None, smaller_is_better: bool | None = None
) -> GetHpImportanceResponse:
    """Of the best validation of each completed trial; by default of the searcher metric."""
    params = given(metric=metric, smallerIsBetter=smaller_is_better)
    return session.get_as(f"{_ROOT}/{experiment_id}/hp-importance", GetHpImportanceResponse, params=params)
