"""Health of the master, and its numbers for Prometheus."""

from litestar import Response, get
from litestar.datastructures import State

from determined._json import JsonObject
from determined.errors import DeterminedError, NotFound, Unavailable
from determined.master.auth.permission import ANY_USER, PUBLIC
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import master as masters
from determined.wire.master import GET_HEALTH

_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


@serve(GET_HEALTH, PUBLIC)
async def health(ctx: MasterContext) -> Response[JsonObject]:
    """200 while the database answers; 503 with the reason while it does not."""
    try:
        await masters.check_database(ctx)
    except DeterminedError as e:
        raise Unavailable(f"the database does not answer: {e.message}") from e
    return Response({"status": "up", "database": "up"})


@get(["/metrics", "/debug/prom/metrics", "/prom/det-state-metrics"], include_in_schema=False, opt=ANY_USER)
async def metrics(ctx: MasterContext, state: State) -> Response[bytes]:
    if not ctx.config.observability.enable_prometheus:
        raise NotFound("metrics are off; set observability.enable_prometheus in the master's config")
    return Response(await state.metrics.scrape(ctx), media_type=_PROMETHEUS)
