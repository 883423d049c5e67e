"""Lists of experiments: the filtered list and the search of the web page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from determined.master.context import MasterContext
from determined.master.db.queries import experiment_list, query_filter, run
from determined.master.db.queries.experiment_list import ExperimentFilter, ExperimentSort
from determined.master.services import experiment_view, trial_view
from determined.master.services.paging import window
from determined.wire.base import OrderBy, Pagination
from determined.wire.experiment import (
    Experiment,
    ExperimentState,
    GetExperimentsRequestSortBy,
    GetExperimentsResponse,
    SearchExperimentExperiment,
    SearchExperimentsRequest,
    SearchExperimentsResponse,
)

DEFAULT_LIMIT = 100  # of a list that names none; -1 asks for everything


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentQuery:
    """What `GET /api/v1/experiments` asks for."""

    archived: bool | None = None
    description: str | None = None
    name: str | None = None
    labels: Sequence[str] = ()
    project_id: int | None = None
    states: Sequence[ExperimentState] = ()
    users: Sequence[str] = ()
    user_ids: Sequence[int] = ()
    ids: Sequence[int] | None = None
    not_ids: Sequence[int] = ()
    id_gt: int | None = None
    id_gte: int | None = None
    id_lt: int | None = None
    id_lte: int | None = None
    order_by: OrderBy | None = None
    sort_by: GetExperimentsRequestSortBy | None = None
    with_best: bool = False


async def list_experiments(
    ctx: MasterContext, wanted: ExperimentQuery, limit: int | None, offset: int | None
) -> GetExperimentsResponse:
    where, sort = _filter(wanted), _sort(wanted.sort_by)
    descending = wanted.order_by is OrderBy.DESC

    def read(conn: Connection) -> tuple[list[Experiment], Pagination]:
        page = window(experiment_list.count(conn, where), limit or DEFAULT_LIMIT, offset)
        start, size = rows_of(page)
        ids = experiment_list.find(conn, where, sort=sort, descending=descending, limit=size, offset=start)
        return experiment_view.load(conn, ctx.clock.now(), ids, with_best=wanted.with_best), page

    found, page = await ctx.db.read(read)
    return GetExperimentsResponse(experiments=found, pagination=page)


async def search(ctx: MasterContext, asked: SearchExperimentsRequest) -> SearchExperimentsResponse:
    def read(conn: Connection) -> SearchExperimentsResponse:
        conditions = run.experiment_conditions(query_filter.parse(asked.filter), asked.project_id)
        page = window(run.count_experiments(conn, conditions), asked.limit or DEFAULT_LIMIT, asked.offset)
        start, size = rows_of(page)
        ids = run.find_experiments(conn, conditions, asked.sort, size, start)
        return SearchExperimentsResponse(experiments=_with_best(conn, ctx.clock.now(), ids), pagination=page)

    return await ctx.db.read(read)


async def labels(ctx: MasterContext, project_id: int | None) -> list[str]:
    return await ctx.db.read(lambda conn: experiment_list.labels_by_popularity(conn, project_id))


def rows_of(page: Pagination) -> tuple[int, int]:
    """Offset and number of the rows a page holds."""
    start, end = page.start_index or 0, page.end_index or 0
    return start, end - start


def _filter(wanted: ExperimentQuery) -> ExperimentFilter:
    return ExperimentFilter(
        archived=wanted.archived,
        description=wanted.description,
        name=wanted.name,
        labels=wanted.labels,
        project_id=wanted.project_id or None,  # 0 is how some clients write "any"
        states=[state.removeprefix("STATE_") for state in wanted.states],
        users=wanted.users,
        user_ids=wanted.user_ids,
        ids=wanted.ids,
        not_ids=wanted.not_ids,
        id_gt=wanted.id_gt,
        id_gte=wanted.id_gte,
        id_lt=wanted.id_lt,
        id_lte=wanted.id_lte,
    )


def _sort(by: GetExperimentsRequestSortBy | None) -> ExperimentSort:
    if by is None or by is GetExperimentsRequestSortBy.UNSPECIFIED:
        return ExperimentSort.ID
    return ExperimentSort(by.removeprefix("SORT_BY_"))


def _with_best(conn: Connection, now: datetime, ids: list[int]) -> list[SearchExperimentExperiment]:
    found = experiment_view.load(conn, now, ids, with_best=True)
    best = [e.best_trial_id for e in found if e.best_trial_id is not None]
    trials = {t.id: t for t in trial_view.load(conn, now, best)}
    return [SearchExperimentExperiment(experiment=e, best_trial=trials.get(e.best_trial_id or 0)) for e in found]
