"""Things by id or part of a name, the closest names first and among those the newest."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, TypeVarTuple

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, case, or_, select

from determined.master.db import fetch
from determined.master.db.queries.text_match import contains, equals, starts
from determined.master.db.schema import experiments, projects, trials, users, workspaces

S = TypeVar("S")
Ts = TypeVarTuple("Ts")


class ExperimentHit(msgspec.Struct, frozen=True):
    id: int
    name: str
    state: str
    project: str
    workspace: str


class TrialHit(msgspec.Struct, frozen=True):
    id: int
    state: str
    experiment_id: int
    experiment: str


class ProjectHit(msgspec.Struct, frozen=True):
    id: int
    name: str
    workspace: str


class WorkspaceHit(msgspec.Struct, frozen=True):
    id: int
    name: str


class UserHit(msgspec.Struct, frozen=True):
    id: int
    username: str
    display_name: str


def find_experiments(conn: Connection, text: str, number: int | None, limit: int) -> list[ExperimentHit]:
    e = experiments.c
    query = (
        select(e.id, e.name, e.state, projects.c.name.label("project"), workspaces.c.name.label("workspace"))
        .join(projects, projects.c.id == e.project_id)
        .join(workspaces, workspaces.c.id == projects.c.workspace_id)
    )
    return _closest(conn, query, ExperimentHit, e.id, [e.name], text, number, limit)


def find_trial(conn: Connection, number: int) -> TrialHit | None:
    t = trials.c
    query = select(t.id, t.state, t.experiment_id, experiments.c.name.label("experiment"))
    query = query.join(experiments, experiments.c.id == t.experiment_id).where(t.id == number)
    return fetch.row(conn, query, TrialHit)


def find_projects(conn: Connection, text: str, number: int | None, limit: int) -> list[ProjectHit]:
    p = projects.c
    query = select(p.id, p.name, workspaces.c.name.label("workspace"))
    query = query.join(workspaces, workspaces.c.id == p.workspace_id)
    return _closest(conn, query, ProjectHit, p.id, [p.name, p.key], text, number, limit)


def find_workspaces(conn: Connection, text: str, number: int | None, limit: int) -> list[WorkspaceHit]:
    w = workspaces.c
    return _closest(conn, select(w.id, w.name), WorkspaceHit, w.id, [w.name], text, number, limit)


def find_users(conn: Connection, text: str, number: int | None, limit: int) -> list[UserHit]:
    u = users.c
    query = select(u.id, u.username, u.display_name).where(u.active)
    return _closest(conn, query, UserHit, u.id, [u.username, u.display_name], text, number, limit)


def _closest(
    conn: Connection,
    query: Select[*Ts],
    struct: Callable[[*Ts], S],
    key: ColumnElement[int],
    names: Sequence[ColumnElement[Any]],
    text: str,
    number: int | None,
    limit: int,
) -> list[S]:
    matches = [contains(name, text) for name in names]
    ranks = [(equals(name, text), 1) for name in names] + [(starts(name, text), 2) for name in names]
    if number is not None:
        matches.append(key == number)
        ranks.insert(0, (key == number, 0))
    query = query.where(or_(*matches)).order_by(case(*ranks, else_=3), key.desc())
    return fetch.rows(conn, query.limit(limit), struct)
