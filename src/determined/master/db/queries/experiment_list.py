"""Experiments in lists: filter, sort and page in SQL, then load the page with a fixed number of queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVarTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Float,
    Select,
    case,
    func,
    or_,
    select,
    type_coerce,
)

from determined.master.db.queries.batching import batches, load_in_order
from determined.master.db.queries.displayed import allocation_rank, experiment_shows
from determined.master.db.queries.label_use import most_used_first
from determined.master.db.queries.text_match import contains, has_labels
from determined.master.db.rows.experiments import Experiment
from determined.master.db.schema import (
    allocations,
    experiments,
    jobs,
    model_definitions,
    projects,
    trials,
    users,
    workspaces,
)
from determined.master.db.statements import AnyColumn, AnySelect
from determined.wire.base import OrderBy
from determined.wire.experiment import GetExperimentsRequestSortBy as SortBy
from determined.wire.experiment import ListExperiments

Ts = TypeVarTuple("Ts")


class ListedExperiment(Experiment, frozen=True):
    """Experiment with its owner, project, workspace and pool."""

    username: str
    display_name: str
    project_name: str
    project_owner_id: int
    project_archived: bool
    workspace_id: int
    workspace_name: str
    workspace_archived: bool
    pool: str
    model_definition_size: int


def num_trials() -> ColumnElement[int]:
    return select(func.count()).where(trials.c.experiment_id == experiments.c.id).scalar_subquery()


def checkpoint_total(column: ColumnElement[int]) -> ColumnElement[int]:
    own = trials.c.experiment_id == experiments.c.id
    return select(func.coalesce(func.sum(column), 0)).where(own).scalar_subquery()


def best_value() -> ColumnElement[float]:
    """Return the best searcher metric of an experiment, in its own direction."""
    own = trials.c.experiment_id == experiments.c.id
    low = select(func.min(trials.c.best_validation_value)).where(own).scalar_subquery()
    high = select(func.max(trials.c.best_validation_value)).where(own).scalar_subquery()
    return type_coerce(case((experiments.c.smaller_is_better, low), else_=high), Float)


def find(conn: Connection, params: ListExperiments, *, limit: int | None = None, offset: int = 0) -> list[int]:
    """List the ids of those that fit, in their order. `limit` and `offset` are rows, not those of `params`."""
    key, descending = _sort_key(params.sort_by or SortBy.UNSPECIFIED), params.order_by is OrderBy.DESC
    ordered = key.desc().nulls_last() if descending else key.asc().nulls_last()
    tie = experiments.c.id.desc() if descending else experiments.c.id.asc()
    query = _matching(select(experiments.c.id), params).order_by(ordered, tie).offset(offset)
    return list(conn.execute(query.limit(limit) if limit is not None else query).scalars())


def count(conn: Connection, params: ListExperiments) -> int:
    return conn.execute(_matching(select(func.count()), params)).scalar_one()


def load(conn: Connection, ids: Sequence[int]) -> list[ListedExperiment]:
    """Return experiments in the order of `ids`; ids without a row are left out."""
    return load_in_order(conn, _detailed(), ListedExperiment, experiments.c.id, ids)


@dataclass(frozen=True, slots=True)
class TrialTotals:
    trials: int = 0
    checkpoints: int = 0
    checkpoint_size: int = 0


def totals(conn: Connection, ids: Sequence[int]) -> dict[int, TrialTotals]:
    totals_by_experiment: dict[int, TrialTotals] = {}
    for some in batches(ids):
        query = (
            select(
                trials.c.experiment_id,
                func.count(),
                func.sum(trials.c.checkpoint_count),
                func.sum(trials.c.checkpoint_size),
            )
            .where(trials.c.experiment_id.in_(some))
            .group_by(trials.c.experiment_id)
        )
        for experiment_id, n, checkpoints, size in conn.execute(query):
            totals_by_experiment[experiment_id] = TrialTotals(n, int(checkpoints or 0), int(size or 0))
    return totals_by_experiment


def best_trials(conn: Connection, ids: Sequence[int]) -> dict[int, tuple[int, float]]:
    """experiment -> (trial, value) of its best validation."""
    best: dict[int, tuple[int, float]] = {}
    for some in batches(ids):
        value = trials.c.best_validation_value
        signed = case((experiments.c.smaller_is_better, value), else_=-value)
        rank = func.row_number().over(partition_by=trials.c.experiment_id, order_by=(signed, trials.c.id))
        ranked = (
            select(trials.c.experiment_id, trials.c.id, value.label("value"), rank.label("rank"))
            .join(experiments, experiments.c.id == trials.c.experiment_id)
            .where(trials.c.experiment_id.in_(some), value.is_not(None))
            .subquery()
        )
        query = select(ranked.c.experiment_id, ranked.c.id, ranked.c.value).where(ranked.c.rank == 1)
        best.update((e, (t, v)) for e, t, v in conn.execute(query))
    return best


def furthest_allocations(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    """experiment -> state of its live allocation that has come furthest."""
    states: dict[int, str] = {}
    for some in batches(ids):
        query = (
            select(trials.c.experiment_id, allocations.c.state)
            .join(trials, trials.c.id == allocations.c.trial_id)
            .where(trials.c.experiment_id.in_(some), allocations.c.state != "TERMINATED")
            .order_by(allocation_rank())
        )
        states.update((e, s) for e, s in conn.execute(query))
    return states


def trial_ids(conn: Connection, experiment_id: int) -> list[int]:
    query = select(trials.c.id).where(trials.c.experiment_id == experiment_id).order_by(trials.c.id)
    return list(conn.execute(query).scalars())


def labels_by_popularity(conn: Connection, project_id: int | None) -> list[str]:
    query = select(experiments.c.labels)
    if project_id is not None:
        query = query.where(experiments.c.project_id == project_id)
    return most_used_first(conn.execute(query).scalars())


def _detailed() -> AnySelect:
    return (
        select(
            experiments,
            users.c.username,
            users.c.display_name,
            projects.c.name.label("project_name"),
            projects.c.user_id.label("project_owner_id"),
            projects.c.archived.label("project_archived"),
            workspaces.c.id.label("workspace_id"),
            workspaces.c.name.label("workspace_name"),
            workspaces.c.archived.label("workspace_archived"),
            jobs.c.pool,
            func.coalesce(func.length(model_definitions.c.tgz), 0).label("model_definition_size"),
        )
        .join(users, users.c.id == experiments.c.owner_id)
        .join(projects, projects.c.id == experiments.c.project_id)
        .join(workspaces, workspaces.c.id == projects.c.workspace_id)
        .join(jobs, jobs.c.id == experiments.c.job_id)
        .outerjoin(model_definitions, model_definitions.c.experiment_id == experiments.c.id)
    )


def _matching(query: Select[*Ts], params: ListExperiments) -> Select[*Ts]:
    return (
        query.select_from(experiments)
        .join(users, users.c.id == experiments.c.owner_id)
        .join(jobs, jobs.c.id == experiments.c.job_id)
        .where(*_conditions(params))
    )


def _conditions(params: ListExperiments) -> list[ColumnElement[bool]]:
    column = experiments.c
    conditions: list[ColumnElement[bool]] = []
    conditions.extend(_archived(params))
    if params.description:
        conditions.append(contains(column.description, params.description))
    if params.name:
        conditions.append(contains(column.name, params.name))
    if params.project_id:  # 0 is how some clients write "any"
        conditions.append(column.project_id == params.project_id)
    if params.states:
        conditions.append(experiment_shows([state.removeprefix("STATE_") for state in params.states]))
    if params.users:
        conditions.append(users.c.username.in_(params.users))
    if params.user_ids:
        conditions.append(column.owner_id.in_(params.user_ids))
    conditions += has_labels(column.labels, params.labels or ())
    return conditions + _id_conditions(params)


def _archived(params: ListExperiments) -> list[ColumnElement[bool]]:
    """Archived by itself; a list of all projects also leaves out what stands in an archived project or workspace."""
    if params.archived is None:
        return []
    own = experiments.c.archived == params.archived
    if params.archived or params.project_id:
        return [own]
    shelved = (
        select(projects.c.id)
        .join(workspaces, workspaces.c.id == projects.c.workspace_id)
        .where(or_(projects.c.archived, workspaces.c.archived))
    )
    return [own, experiments.c.project_id.not_in(shelved)]


def _id_conditions(params: ListExperiments) -> list[ColumnElement[bool]]:
    column = experiments.c.id
    conditions: list[ColumnElement[bool]] = []
    if params.id_gt is not None:
        conditions.append(column > params.id_gt)
    if params.id_gte is not None:
        conditions.append(column >= params.id_gte)
    if params.id_lt is not None:
        conditions.append(column < params.id_lt)
    if params.id_lte is not None:
        conditions.append(column <= params.id_lte)
    if params.ids is not None:
        conditions.append(or_(*(column.in_(some) for some in batches(params.ids))) if params.ids else column < 0)
    if params.not_ids:
        conditions.append(column.not_in(params.not_ids))
    return conditions


def _sort_key(sort: SortBy) -> AnyColumn:
    column = experiments.c
    if sort is SortBy.NUM_TRIALS:
        return num_trials()
    if sort is SortBy.CHECKPOINT_SIZE:
        return checkpoint_total(trials.c.checkpoint_size)
    if sort is SortBy.CHECKPOINT_COUNT:
        return checkpoint_total(trials.c.checkpoint_count)
    if sort is SortBy.SEARCHER_METRIC_VAL:
        return best_value()
    plain: dict[SortBy, AnyColumn] = {
        SortBy.UNSPECIFIED: column.id,
        SortBy.ID: column.id,
        SortBy.DESCRIPTION: column.description,
        SortBy.START_TIME: type_coerce(column.start_time, BigInteger),
        SortBy.END_TIME: type_coerce(column.end_time, BigInteger),
        SortBy.STATE: column.state,
        SortBy.PROGRESS: column.progress,
        SortBy.USER: users.c.username,
        SortBy.NAME: column.name,
        SortBy.FORKED_FROM: column.parent_id,
        SortBy.RESOURCE_POOL: jobs.c.pool,
        SortBy.PROJECT_ID: column.project_id,
    }
    return plain[sort]
