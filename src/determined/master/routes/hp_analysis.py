"""What finished trials say about hyperparameters: Pareto fronts and importance."""

from typing import Annotated

from litestar import Router, get
from litestar.params import Parameter

from determined.errors import InvalidArgument
from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.services import hp_analysis
from determined.wire.hp_analysis import GetHpImportanceResponse, GetParetoFrontResponse

_WORDS = {"true": True, "false": False}


@get("/api/v1/experiments/{experiment_id:int}/pareto-front", opt=ANY_USER)
async def pareto_front(
    ctx: MasterContext,
    experiment_id: int,
    metrics: list[str] | None = None,
    smaller_is_better: Annotated[list[str] | None, Parameter(query="smallerIsBetter")] = None,
) -> GetParetoFrontResponse:
    """`metrics=loss,latency&smallerIsBetter=true,true`, or the keys repeated; the experiment's own by default."""
    directions = [_direction(word) for word in _split(smaller_is_better)]
    return await hp_analysis.pareto_front(ctx, experiment_id, _split(metrics), directions)


@get("/api/v1/experiments/{experiment_id:int}/hp-importance", opt=ANY_USER)
async def hp_importance(
    ctx: MasterContext,
    experiment_id: int,
    metric: str | None = None,
    smaller_is_better: Annotated[bool | None, Parameter(query="smallerIsBetter")] = None,
) -> GetHpImportanceResponse:
    """Of the experiment's searcher metric by default."""
    return await hp_analysis.hp_importance(ctx, experiment_id, metric, smaller_is_better)


def _split(values: list[str] | None) -> list[str]:
    """`a,b` given once, or the key given again for each: then a comma belongs to the name."""
    if not values or len(values) > 1:
        return values or []
    return [part.strip() for part in values[0].split(",") if part.strip()]


def _direction(word: str) -> bool:
    if word.lower() not in _WORDS:
        raise InvalidArgument(f"smallerIsBetter={word!r} is neither true nor false")
    return _WORDS[word.lower()]


router = Router(path="", route_handlers=[pareto_front, hp_importance])
