"""Rows of runners, one per node of an allocation."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, bindparam, func, insert, or_, select, update

from determined.errors import NotFound
from determined.master.db.queries.batching import batches
from determined.master.db.schema import allocations, jobs, runners, tasks, users, workspaces

_others = users.alias("others")
# Whose OS user a workspace lends to everybody in it; some other user's name, or NULL.
_LENT = (
    select(func.min(_others.c.username))
    .where(
        _others.c.id != users.c.id,
        or_(
            _others.c.agent_uid == workspaces.c.agent_uid,
            and_(workspaces.c.agent_uid.is_(None), _others.c.agent_user == workspaces.c.agent_user),
        ),
    )
    .correlate(users, workspaces)
    .scalar_subquery()
)
# Whom a task of this user in this workspace runs as; lifecycle/identity.py reads these.
_IDENTITY = (
    users.c.username,
    users.c.agent_uid,
    users.c.agent_user,
    users.c.agent_gid,
    users.c.agent_group,
    workspaces.c.agent_uid.label("workspace_uid"),
    workspaces.c.agent_user.label("workspace_user"),
    workspaces.c.agent_gid.label("workspace_gid"),
    workspaces.c.agent_group.label("workspace_group"),
    _LENT.label("workspace_user_of"),
)

# Statements that every trial needs are built once: building one costs more than running it.
_FIND = select(runners).where(runners.c.resource_id == bindparam("this"))
_UPDATE = update(runners).where(runners.c.resource_id == bindparam("this"))
_OF_ALLOCATION = select(runners).where(runners.c.allocation_id == bindparam("allocation")).order_by(runners.c.rank)
_OF_LIVE_ALLOCATIONS = select(runners).where(
    runners.c.allocation_id.in_(select(allocations.c.id).where(allocations.c.ended_at.is_(None)))
)
_ALIVE = (
    select(runners, allocations.c.kill_at, *_IDENTITY)
    .join(allocations, allocations.c.id == runners.c.allocation_id)
    .join(tasks, tasks.c.id == allocations.c.task_id)
    .join(jobs, jobs.c.id == tasks.c.job_id)
    .join(users, users.c.id == jobs.c.owner_id)
    .join(workspaces, workspaces.c.id == jobs.c.workspace_id)
    .where(runners.c.drained.is_(False), allocations.c.drained.is_(False))
    .order_by(runners.c.allocation_id, runners.c.rank)
)


def get(conn: Connection, resource_id: str) -> RowMapping:
    """Raises NotFound."""
    row = find(conn, resource_id)
    if row is None:
        raise NotFound(f"resources {resource_id} not found")
    return row


def find(conn: Connection, resource_id: str) -> RowMapping | None:
    return conn.execute(_FIND, {"this": resource_id}).mappings().one_or_none()


def known(conn: Connection, resource_ids: Sequence[str]) -> set[str]:
    """Which of these have a row, in whatever state."""
    found: set[str] = set()
    for some in batches(resource_ids):
        found.update(conn.execute(select(runners.c.resource_id).where(runners.c.resource_id.in_(some))).scalars())
    return found


def insert_rows(conn: Connection, rows: list[dict[str, Any]]) -> None:
    conn.execute(insert(runners), rows)


def update_row(conn: Connection, resource_id: str, values: dict[str, Any]) -> None:
    conn.execute(_UPDATE, {"this": resource_id, **values})


def of_allocation(conn: Connection, allocation_id: str) -> Sequence[RowMapping]:
    """By rank."""
    return conn.execute(_OF_ALLOCATION, {"allocation": allocation_id}).mappings().all()


def of_live_allocations(conn: Connection) -> Sequence[RowMapping]:
    """Every runner whose allocation has not ended: these hold slots. By allocation and rank.

    Neither joined nor sorted by the database: SQLite would walk all runners there ever were.
    """
    found = conn.execute(_OF_LIVE_ALLOCATIONS).mappings()
    return sorted(found, key=lambda row: (row["allocation_id"], row["rank"]))


def alive(conn: Connection) -> Sequence[RowMapping]:
    """Runners an engine must have, with the kill request of their allocation and whom they run as.

    A runner that has reported its exit but not drained still belongs to its engine: it may have records to ship.
    """
    return conn.execute(_ALIVE).mappings().all()


def identity(conn: Connection, owner_id: int, workspace_id: int) -> RowMapping:
    """Whom tasks of this user in this workspace run as."""
    statement = (
        select(*_IDENTITY).join_from(users, workspaces, workspaces.c.id == workspace_id).where(users.c.id == owner_id)
    )
    return conn.execute(statement).mappings().one()


def on_node(conn: Connection, node_id: str) -> Sequence[RowMapping]:
    """Runners of live allocations on one node."""
    statement = (
        select(runners)
        .join(allocations, allocations.c.id == runners.c.allocation_id)
        .where(runners.c.node_id == node_id, allocations.c.ended_at.is_(None))
    )
    return conn.execute(statement).mappings().all()
