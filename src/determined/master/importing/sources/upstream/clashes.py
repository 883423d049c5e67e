"""Clashes: ids and names of the source that things of this cluster have. Found before anything is written."""

from collections.abc import Sequence

from sqlalchemy import Connection

from determined.errors import FailedPrecondition
from determined.master.db.queries import imported
from determined.master.importing.notes import shown
from determined.master.importing.sources.upstream.plan import EXPERIMENTS, PROJECTS, USERS, WORKSPACES, Plan
from determined.master.services.bootstrap import ADMIN, ORDINARY, UNCATEGORIZED

_BUILT_IN_USERS = {ADMIN, ORDINARY}
_FIRST = 1  # id of the workspace and of the project that every cluster has
_SHOWN = 5


def require_none(conn: Connection, plan: Plan, user_names: dict[str, int], workspace_names: dict[str, int]) -> None:
    """Refuse what would take the place of something that is here.

    Raises:
        FailedPrecondition: naming the first few of each noun.
    """
    problems = [
        *_users(conn, plan, user_names),
        *_workspaces(conn, plan, workspace_names),
        *_numbers(conn, PROJECTS, [id_ for id_ in plan.projects if id_ != _FIRST]),
        *_numbers(conn, EXPERIMENTS, plan.experiments),
        *_numbers(conn, "trials", plan.trials),
    ]
    if problems:
        raise FailedPrecondition(
            f"this cluster has things with ids or names of the source: {'; '.join(problems)}. Ids are kept, so that "
            "old links work: import into an empty cluster (another --data-dir or database). Nothing was written"
        )


def _numbers(conn: Connection, table: str, ids: Sequence[int]) -> list[str]:
    taken = sorted(imported.existing_ids(conn, table, ids))
    return [f"{table} {shown(taken, _SHOWN)}"] if taken else []


def _users(conn: Connection, plan: Plan, names: dict[str, int]) -> list[str]:
    ours = imported.existing_names(conn, USERS, "username")
    own = {name: id_ for name, id_ in ours.items() if name not in _BUILT_IN_USERS}
    coming = set(plan.users)
    taken = [f"{name} ({id_})" for name, id_ in own.items() if id_ in coming or names.get(name) in coming]
    return [f"users {shown(taken, _SHOWN)}"] if taken else []


def _workspaces(conn: Connection, plan: Plan, names: dict[str, int]) -> list[str]:
    own = {
        name: id_ for name, id_ in imported.existing_names(conn, WORKSPACES, "name").items() if name != UNCATEGORIZED
    }
    coming = set(plan.workspaces)
    taken = [f"{name} ({id_})" for name, id_ in own.items() if id_ in coming or names.get(name) in coming]
    return [f"workspaces {shown(taken, _SHOWN)}"] if taken else []
