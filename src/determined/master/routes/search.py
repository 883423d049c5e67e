"""Searches: previews and extensions."""

from determined.errors import FailedPrecondition
from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import search
from determined.wire.search import (
    EXTEND_EXPERIMENT,
    PREVIEW_HP_SEARCH,
    ExtendExperimentRequest,
    ExtendExperimentResponse,
    PreviewHPSearchRequest,
    PreviewHPSearchResponse,
)


@serve(PREVIEW_HP_SEARCH, ANY_USER)
async def preview_hp_search(payload: PreviewHPSearchRequest, ctx: MasterContext) -> PreviewHPSearchResponse:
    return PreviewHPSearchResponse(summary=await search.summarize(ctx, payload.config))


@serve(EXTEND_EXPERIMENT, ANY_USER, errors=(FailedPrecondition,))
async def extend_experiment(
    payload: ExtendExperimentRequest, ctx: MasterContext, experiment_id: int
) -> ExtendExperimentResponse:
    return ExtendExperimentResponse(experiment=await search.extend(ctx, experiment_id, payload.trials))
