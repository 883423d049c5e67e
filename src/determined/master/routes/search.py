"""Searches: previews and extensions."""

from typing import Any

from litestar import Request, Router, post

from determined.master.auth.permission import ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.services import search
from determined.wire.search import (
    ExtendExperimentRequest,
    ExtendExperimentResponse,
    PreviewHPSearchRequest,
    PreviewHPSearchResponse,
)

AnyRequest = Request[Any, Any, Any]


@post("/api/v1/preview-hp-search", status_code=200, opt=ANY_USER)
async def preview_hp_search(request: AnyRequest, ctx: MasterContext) -> PreviewHPSearchResponse:
    asked = await read_body(request, PreviewHPSearchRequest)
    return PreviewHPSearchResponse(summary=await search.summarize(ctx, asked.config))


@post("/api/v1/experiments/{experiment_id:int}/extend", status_code=200, opt=ANY_USER)
async def extend_experiment(request: AnyRequest, ctx: MasterContext, experiment_id: int) -> ExtendExperimentResponse:
    asked = await read_body(request, ExtendExperimentRequest)
    return ExtendExperimentResponse(experiment=await search.extend(ctx, experiment_id, asked.trials))


router = Router(path="", route_handlers=[preview_hp_search, extend_experiment])
