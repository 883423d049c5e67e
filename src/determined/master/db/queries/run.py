"""Runs, the flat view of trials across experiments: search, and the metadata users attach."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select, update

from determined.master.db.queries import search_filter
from determined.master.db.queries.batching import AnyRow, batches
from determined.master.db.queries.search_columns import experiment_column, run_column
from determined.master.db.schema import experiments, jobs, projects, trials, users, workspaces


def find_runs(
    conn: Connection, conditions: Sequence[ColumnElement[bool]], sort: str | None, limit: int | None, offset: int
) -> list[int]:
    order = [*search_filter.ordering(sort, run_column), trials.c.id.desc()]
    query = _runs(select(trials.c.id)).where(*conditions).order_by(*order).offset(offset)
    return list(conn.execute(query.limit(limit) if limit is not None else query).scalars())


def count_runs(conn: Connection, conditions: Sequence[ColumnElement[bool]]) -> int:
    total: int = conn.execute(_runs(select(func.count())).where(*conditions)).scalar_one()
    return total


def run_conditions(filter_text: str | None, project_id: int | None) -> list[ColumnElement[bool]]:
    parsed = search_filter.parse(filter_text)
    conditions = [search_filter.condition(parsed.group, run_column)]
    if not parsed.show_archived:
        conditions += [~trials.c.archived, ~experiments.c.archived]
    if project_id is not None:
        conditions.append(experiments.c.project_id == project_id)
    return conditions


def find_experiments(
    conn: Connection, conditions: Sequence[ColumnElement[bool]], sort: str | None, limit: int | None, offset: int
) -> list[int]:
    order = [*search_filter.ordering(sort, experiment_column), experiments.c.id.desc()]
    query = _experiments(select(experiments.c.id)).where(*conditions).order_by(*order).offset(offset)
    return list(conn.execute(query.limit(limit) if limit is not None else query).scalars())


def count_experiments(conn: Connection, conditions: Sequence[ColumnElement[bool]]) -> int:
    total: int = conn.execute(_experiments(select(func.count())).where(*conditions)).scalar_one()
    return total


def experiment_conditions(filter_text: str | None, project_id: int | None) -> list[ColumnElement[bool]]:
    parsed = search_filter.parse(filter_text)
    conditions = [search_filter.condition(parsed.group, experiment_column)]
    if not parsed.show_archived:
        conditions.append(~experiments.c.archived)
    if project_id is not None:
        conditions.append(experiments.c.project_id == project_id)
    return conditions


def load(conn: Connection, ids: Sequence[int]) -> list[AnyRow]:
    found: dict[int, AnyRow] = {}
    for some in batches(ids):
        found.update((row.id, row) for row in conn.execute(_runs(_columns()).where(trials.c.id.in_(some))))
    return [found[i] for i in ids if i in found]


def set_metadata(conn: Connection, run_id: int, metadata: dict[str, Any]) -> None:
    conn.execute(update(trials).where(trials.c.id == run_id).values(metadata=metadata))


def set_archived(conn: Connection, run_id: int, archived: bool) -> None:
    conn.execute(update(trials).where(trials.c.id == run_id).values(archived=archived))


def _columns() -> Select[Any]:
    return select(
        trials,
        experiments.c.name.label("experiment_name"),
        experiments.c.description.label("experiment_description"),
        experiments.c.progress.label("experiment_progress"),
        experiments.c.state.label("experiment_state"),
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


def _runs(query: Select[Any]) -> Select[Any]:
    return (
        query.select_from(trials)
        .join(experiments, experiments.c.id == trials.c.experiment_id)
        .join(users, users.c.id == experiments.c.owner_id)
        .join(jobs, jobs.c.id == experiments.c.job_id)
        .join(projects, projects.c.id == experiments.c.project_id)
        .join(workspaces, workspaces.c.id == projects.c.workspace_id)
    )


def _experiments(query: Select[Any]) -> Select[Any]:
    return (
        query.select_from(experiments)
        .join(users, users.c.id == experiments.c.owner_id)
        .join(jobs, jobs.c.id == experiments.c.job_id)
        .join(projects, projects.c.id == experiments.c.project_id)
        .join(workspaces, workspaces.c.id == projects.c.workspace_id)
    )
