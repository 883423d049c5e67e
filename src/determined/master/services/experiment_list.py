"""Lists of experiments: the filtered list and the search of the web page."""

from datetime import datetime

from sqlalchemy import Connection

from determined.master.context import MasterContext
from determined.master.db.queries import experiment_list, query_filter, run
from determined.master.services import experiment_view, trial_view
from determined.master.services.paging import window
from determined.wire.base import Pagination
from determined.wire.experiment import (
    Experiment,
    GetExperimentsResponse,
    ListExperiments,
    SearchExperimentExperiment,
    SearchExperimentsRequest,
    SearchExperimentsResponse,
)

DEFAULT_LIMIT = 100  # of a list that names none; -1 asks for everything


async def list_experiments(ctx: MasterContext, params: ListExperiments) -> GetExperimentsResponse:
    def read(conn: Connection) -> tuple[list[Experiment], Pagination]:
        page = window(experiment_list.count(conn, params), params.limit or DEFAULT_LIMIT, params.offset)
        start, size = rows_of(page)
        ids = experiment_list.find(conn, params, limit=size, offset=start)
        return experiment_view.load(conn, ctx.clock.now(), ids, with_best=params.show_trial_data), page

    experiments, page = await ctx.db.read(read)
    return GetExperimentsResponse(experiments=experiments, pagination=page)


async def search(ctx: MasterContext, request: SearchExperimentsRequest) -> SearchExperimentsResponse:
    def read(conn: Connection) -> SearchExperimentsResponse:
        conditions = run.experiment_conditions(query_filter.parse(request.filter), request.project_id)
        page = window(run.count_experiments(conn, conditions), request.limit or DEFAULT_LIMIT, request.offset)
        start, size = rows_of(page)
        ids = run.find_experiments(conn, conditions, request.sort, size, start)
        return SearchExperimentsResponse(experiments=_with_best(conn, ctx.clock.now(), ids), pagination=page)

    return await ctx.db.read(read)


async def labels(ctx: MasterContext, project_id: int | None) -> list[str]:
    return await ctx.db.read(lambda conn: experiment_list.labels_by_popularity(conn, project_id))


def rows_of(page: Pagination) -> tuple[int, int]:
    """Offset and number of the rows a page holds."""
    start, end = page.start_index or 0, page.end_index or 0
    return start, end - start


def _with_best(conn: Connection, now: datetime, ids: list[int]) -> list[SearchExperimentExperiment]:
    experiments = experiment_view.load(conn, now, ids, with_best=True)
    best = [e.best_trial_id for e in experiments if e.best_trial_id is not None]
    trials = {t.id: t for t in trial_view.load(conn, now, best)}
    return [SearchExperimentExperiment(experiment=e, best_trial=trials.get(e.best_trial_id or 0)) for e in experiments]
