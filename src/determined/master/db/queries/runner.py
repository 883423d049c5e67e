"""Rows of runners, one per node of an allocation."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, insert, select, update

from determined.errors import NotFound
from determined.master.db.schema import allocations, jobs, runners, tasks, users, workspaces

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
)


def get(conn: Connection, resource_id: str) -> RowMapping:
    """Raises NotFound."""
    row = find(conn, resource_id)
    if row is None:
        raise NotFound(f"resources {resource_id} not found")
    return row


def find(conn: Connection, resource_id: str) -> RowMapping | None:
    return conn.execute(select(runners).where(runners.c.resource_id == resource_id)).mappings().one_or_none()


def insert_rows(conn: Connection, rows: list[dict[str, Any]]) -> None:
    conn.execute(insert(runners), rows)


def update_row(conn: Connection, resource_id: str, values: dict[str, Any]) -> None:
    conn.execute(update(runners).where(runners.c.resource_id == resource_id).values(**values))


def of_allocation(conn: Connection, allocation_id: str) -> Sequence[RowMapping]:
    """By rank."""
    statement = select(runners).where(runners.c.allocation_id == allocation_id).order_by(runners.c.rank)
    return conn.execute(statement).mappings().all()


def of_live_allocations(conn: Connection) -> Sequence[RowMapping]:
    """Every runner whose allocation has not ended: these hold slots. By allocation and rank.

    Neither joined nor sorted by the database: SQLite would walk all runners there ever were.
    """
    live = select(allocations.c.id).where(allocations.c.ended_at.is_(None))
    found = conn.execute(select(runners).where(runners.c.allocation_id.in_(live))).mappings()
    return sorted(found, key=lambda row: (row["allocation_id"], row["rank"]))


def alive(conn: Connection) -> Sequence[RowMapping]:
    """Runners an engine must have, with the kill request of their allocation and whom they run as.

    A runner that has reported its exit but not drained still belongs to its engine: it may have records to ship.
    """
    statement = (
        select(runners, allocations.c.kill_at, *_IDENTITY)
        .join(allocations, allocations.c.id == runners.c.allocation_id)
        .join(tasks, tasks.c.id == allocations.c.task_id)
        .join(jobs, jobs.c.id == tasks.c.job_id)
        .join(users, users.c.id == jobs.c.owner_id)
        .join(workspaces, workspaces.c.id == jobs.c.workspace_id)
        .where(runners.c.drained.is_(False), allocations.c.drained.is_(False))
        .order_by(runners.c.allocation_id, runners.c.rank)
    )
    return conn.execute(statement).mappings().all()


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
