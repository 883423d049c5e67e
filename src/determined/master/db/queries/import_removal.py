"""Removal of an unfinished import: its rows go, and rows that it wrote over get their values back."""

from collections.abc import Mapping, Sequence

import msgspec
from sqlalchemy import Connection, delete, select

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.dialects import upsert
from determined.master.db.queries import imported
from determined.master.db.queries.batching import batches
from determined.master.db.rows.users import User
from determined.master.db.rows.workspaces import Project, Workspace
from determined.master.db.schema import (
    experiments,
    jobs,
    model_versions,
    models,
    project_views,
    projects,
    templates,
    trials,
    user_settings,
    users,
    webhooks,
    workspace_pins,
    workspaces,
)


def snapshot(conn: Connection) -> JsonObject:
    """Return users, workspaces and projects as they are now, for `restore`."""
    return {
        "users": [msgspec.to_builtins(row) for row in fetch.rows(conn, select(users), User)],
        "workspaces": [msgspec.to_builtins(row) for row in fetch.rows(conn, select(workspaces), Workspace)],
        "projects": [msgspec.to_builtins(row) for row in fetch.rows(conn, select(projects), Project)],
    }


def restore(conn: Connection, before: JsonObject) -> None:
    """Write back what `snapshot` returned."""
    upsert(conn, users, [msgspec.structs.asdict(msgspec.convert(row, User)) for row in before["users"]], ["id"])
    of_workspaces = [msgspec.structs.asdict(msgspec.convert(row, Workspace)) for row in before["workspaces"]]
    upsert(conn, workspaces, of_workspaces, ["id"])
    upsert(
        conn, projects, [msgspec.structs.asdict(msgspec.convert(row, Project)) for row in before["projects"]], ["id"]
    )


def remove_experiments(conn: Connection, ids: Sequence[int]) -> None:
    """Delete experiments with all that hangs on them, and their jobs."""
    for part in batches(ids):
        found = conn.execute(select(experiments.c.job_id).where(experiments.c.id.in_(part))).scalars().all()
        conn.execute(delete(experiments).where(experiments.c.id.in_(part)))
        conn.execute(delete(jobs).where(jobs.c.id.in_(found)))


def remove_trials(conn: Connection, ids: Sequence[int]) -> None:
    """Delete trials that were added to experiments of earlier imports; ranges are computed anew."""
    changed: set[int] = set()
    for part in batches(ids):
        changed |= set(conn.execute(select(trials.c.experiment_id).where(trials.c.id.in_(part))).scalars())
        conn.execute(delete(trials).where(trials.c.id.in_(part)))
    imported.make_ranges(conn, sorted(changed))


def remove_places(conn: Connection, project_ids: Sequence[int], workspace_ids: Sequence[int]) -> None:
    for part in batches(project_ids):
        conn.execute(delete(projects).where(projects.c.id.in_(part)))
    for part in batches(workspace_ids):
        conn.execute(delete(workspaces).where(workspaces.c.id.in_(part)))


def remove_users(conn: Connection, ids: Sequence[int]) -> None:
    for part in batches(ids):
        remove_settings(conn, part)
        conn.execute(delete(users).where(users.c.id.in_(part)))


def remove_settings(conn: Connection, user_ids: Sequence[int]) -> None:
    """Delete what users had set and seen."""
    for table in (user_settings, workspace_pins, project_views):
        conn.execute(delete(table).where(table.c.user_id.in_(user_ids)))


def remove_registry(conn: Connection, ids: Mapping[str, Sequence[int]]) -> None:
    """Delete model versions, models, templates and webhooks by step; models of earlier imports count theirs anew."""
    v = model_versions.c
    changed: set[int] = set()
    for part in batches(ids["model versions"]):
        changed |= set(conn.execute(select(v.model_id).where(v.id.in_(part))).scalars())
        conn.execute(delete(model_versions).where(v.id.in_(part)))
    for step, table in (("models", models), ("templates", templates), ("webhooks", webhooks)):
        for part in batches(ids[step]):
            conn.execute(delete(table).where(table.c.id.in_(part)))
    imported.count_versions(conn, sorted(changed))
