"""Pareto fronts and importance of hyperparameters, from finished trials."""

from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import hp_analysis
from determined.wire.hp_analysis import (
    GET_HP_IMPORTANCE,
    GET_PARETO_FRONT,
    GetHpImportance,
    GetHpImportanceResponse,
    GetParetoFront,
    GetParetoFrontResponse,
)

_WORDS = {"true": True, "false": False}


@serve(GET_PARETO_FRONT, ANY_USER)
async def pareto_front(ctx: MasterContext, experiment_id: int, params: GetParetoFront) -> GetParetoFrontResponse:
    """Find the front of `metrics=loss,latency&smallerIsBetter=true,true`, or of repeated keys."""
    directions = [_direction(word) for word in _split(params.smaller_is_better)]
    return await hp_analysis.pareto_front(ctx, experiment_id, _split(params.metrics), directions)


@serve(GET_HP_IMPORTANCE, ANY_USER, errors=(FailedPrecondition,))
async def hp_importance(ctx: MasterContext, experiment_id: int, params: GetHpImportance) -> GetHpImportanceResponse:
    """Weigh hyperparameters by a metric; by default the searcher's."""
    return await hp_analysis.hp_importance(ctx, experiment_id, params.metric, params.smaller_is_better)


def _split(values: list[str] | None) -> list[str]:
    """Split `a,b` where the key stands once; where it is repeated, a comma belongs to the name."""
    if not values or len(values) > 1:
        return values or []
    return [part.strip() for part in values[0].split(",") if part.strip()]


def _direction(word: str) -> bool:
    if word.lower() not in _WORDS:
        raise InvalidArgument(f"smallerIsBetter={word!r} is neither true nor false")
    return _WORDS[word.lower()]
