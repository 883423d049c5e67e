"""Runs, the flat view of trials across experiments: search, and the metadata users attach."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVarTuple

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, bindparam, func, select, update

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.queries import query_filter
from determined.master.db.queries.batching import load_in_order
from determined.master.db.queries.query_columns import experiment_column, run_column
from determined.master.db.queries.query_filter import Filter
from determined.master.db.schema import experiments, jobs, projects, trials, users, workspaces
from determined.master.db.statements import AnySelect

# Built once: a bulk verb asks for it twice per run, and building it costs more than running it.
_STANDING = (
    select(
        trials.c.state,
        trials.c.archived,
        experiments.c.state.label("experiment_state"),
        experiments.c.archived.label("experiment_archived"),
        experiments.c.project_id,
    )
    .join(experiments, experiments.c.id == trials.c.experiment_id)
    .where(trials.c.id == bindparam("this"))
)
Ts = TypeVarTuple("Ts")


class ListedRun(msgspec.Struct, frozen=True):
    """Columns of a trial that the search shows, with its experiment, project and workspace."""

    id: int
    experiment_id: int
    state: str
    hparams: JsonObject
    start_time: datetime
    end_time: datetime | None
    archived: bool
    checkpoint_count: int
    checkpoint_size: int
    best_validation_value: float | None
    metadata: JsonObject | None
    external_id: str | None
    log_policy_label: str | None
    experiment_name: str
    experiment_description: str | None
    experiment_progress: float | None
    experiment_archived: bool
    external_experiment_id: str | None
    parent_id: int | None
    labels: list[str]
    unmanaged: bool
    owner_id: int
    project_id: int
    searcher_metric: str | None
    searcher_type: str | None
    pool: str
    project_name: str
    project_key: str | None
    project_archived: bool
    workspace_id: int
    workspace_name: str
    workspace_archived: bool


class RunStanding(msgspec.Struct, frozen=True):
    """Columns of a run that verbs change: comparing two shows whether one did."""

    state: str
    archived: bool
    experiment_state: str
    experiment_archived: bool
    project_id: int


def find_runs(
    conn: Connection, conditions: Sequence[ColumnElement[bool]], sort: str | None, limit: int | None, offset: int
) -> list[int]:
    order = [*query_filter.ordering(sort, run_column), trials.c.id.desc()]
    query = of_runs(select(trials.c.id)).where(*conditions).order_by(*order).offset(offset)
    return list(conn.execute(query.limit(limit) if limit is not None else query).scalars())


def count_runs(conn: Connection, conditions: Sequence[ColumnElement[bool]]) -> int:
    return conn.execute(of_runs(select(func.count())).where(*conditions)).scalar_one()


def run_conditions(parsed: Filter, project_id: int | None) -> list[ColumnElement[bool]]:
    conditions = [query_filter.condition(parsed.group, run_column)]
    if not parsed.show_archived:
        conditions += [~trials.c.archived, ~experiments.c.archived]
    if project_id is not None:
        conditions.append(experiments.c.project_id == project_id)
    return conditions


def find_experiments(
    conn: Connection, conditions: Sequence[ColumnElement[bool]], sort: str | None, limit: int | None, offset: int
) -> list[int]:
    order = [*query_filter.ordering(sort, experiment_column), experiments.c.id.desc()]
    query = of_experiments(select(experiments.c.id)).where(*conditions).order_by(*order).offset(offset)
    return list(conn.execute(query.limit(limit) if limit is not None else query).scalars())


def count_experiments(conn: Connection, conditions: Sequence[ColumnElement[bool]]) -> int:
    return conn.execute(of_experiments(select(func.count())).where(*conditions)).scalar_one()


def experiment_conditions(parsed: Filter, project_id: int | None) -> list[ColumnElement[bool]]:
    conditions = [query_filter.condition(parsed.group, experiment_column)]
    if not parsed.show_archived:
        conditions.append(~experiments.c.archived)
    if project_id is not None:
        conditions.append(experiments.c.project_id == project_id)
    return conditions


def of_runs(query: Select[*Ts]) -> Select[*Ts]:
    """Join everything that columns of runs name."""
    return (
        query.select_from(trials)
        .join(experiments, experiments.c.id == trials.c.experiment_id)
        .join(users, users.c.id == experiments.c.owner_id)
        .join(jobs, jobs.c.id == experiments.c.job_id)
        .join(projects, projects.c.id == experiments.c.project_id)
        .join(workspaces, workspaces.c.id == projects.c.workspace_id)
    )


def of_experiments(query: Select[*Ts]) -> Select[*Ts]:
    """Join everything that columns of experiments name."""
    return (
        query.select_from(experiments)
        .join(users, users.c.id == experiments.c.owner_id)
        .join(jobs, jobs.c.id == experiments.c.job_id)
        .join(projects, projects.c.id == experiments.c.project_id)
        .join(workspaces, workspaces.c.id == projects.c.workspace_id)
    )


def load(conn: Connection, ids: Sequence[int]) -> list[ListedRun]:
    """Return runs in the order of `ids`; ids without a row are left out."""
    return load_in_order(conn, of_runs(_columns()), ListedRun, trials.c.id, ids)


def standing(conn: Connection, run_id: int) -> RunStanding | None:
    return fetch.row(conn, _STANDING, RunStanding, {"this": run_id})


def set_metadata(conn: Connection, run_id: int, metadata: JsonObject) -> None:
    conn.execute(update(trials).where(trials.c.id == run_id).values(metadata=metadata))


def archiving(conn: Connection, run_ids: Sequence[int]) -> dict[int, tuple[str, bool]]:
    """(state, archived) of those that exist."""
    t = trials.c
    rows = conn.execute(select(t.id, t.state, t.archived).where(t.id.in_(run_ids)))
    return {run_id: (state, archived) for run_id, state, archived in rows}


def set_archived(conn: Connection, run_ids: Sequence[int], archived: bool) -> None:
    conn.execute(update(trials).where(trials.c.id.in_(run_ids)).values(archived=archived))


def _columns() -> AnySelect:
    return select(
        trials.c.id,
        trials.c.experiment_id,
        trials.c.state,
        trials.c.hparams,
        trials.c.start_time,
        trials.c.end_time,
        trials.c.archived,
        trials.c.checkpoint_count,
        trials.c.checkpoint_size,
        trials.c.best_validation_value,
        trials.c.metadata,
        trials.c.external_id,
        trials.c.log_policy_label,
        experiments.c.name.label("experiment_name"),
        experiments.c.description.label("experiment_description"),
        experiments.c.progress.label("experiment_progress"),
        experiments.c.archived.label("experiment_archived"),
        experiments.c.external_id.label("external_experiment_id"),
        experiments.c.parent_id,
        experiments.c.labels,
        experiments.c.unmanaged,
        experiments.c.owner_id,
        experiments.c.project_id,
        experiments.c.searcher_metric,
        experiments.c.config[("searcher", "name")].as_string().label("searcher_type"),
        jobs.c.pool,
        projects.c.name.label("project_name"),
        projects.c.key.label("project_key"),
        projects.c.archived.label("project_archived"),
        workspaces.c.id.label("workspace_id"),
        workspaces.c.name.label("workspace_name"),
        workspaces.c.archived.label("workspace_archived"),
    )
