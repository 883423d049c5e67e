"""Rows of runners, one per node of an allocation."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from sqlalchemy import Connection, and_, bindparam, func, insert, or_, select, update

from determined.master.db import fetch
from determined.master.db.prepared import prepare
from determined.master.db.queries.batching import batches
from determined.master.db.rows.allocations import Runner, RunnerValues
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
_FIND = prepare(select(runners).where(runners.c.resource_id == bindparam("this")))
_INSERT = prepare(insert(runners))
_UPDATE = prepare(update(runners).where(runners.c.resource_id == bindparam("this")))
_OF_ALLOCATION = prepare(
    select(runners).where(runners.c.allocation_id == bindparam("allocation")).order_by(runners.c.rank)
)
_OF_LIVE_ALLOCATIONS = prepare(
    select(runners).where(runners.c.allocation_id.in_(select(allocations.c.id).where(allocations.c.ended_at.is_(None))))
)
_ALIVE = prepare(
    select(
        *_IDENTITY,
        runners.c.resource_id,
        runners.c.allocation_id,
        runners.c.container_id,
        runners.c.rank,
        runners.c.engine,
        runners.c.node_id,
        runners.c.slot_ids,
        runners.c.device,
        runners.c.state,
        runners.c.exited_at,
        allocations.c.kill_at,
        allocations.c.trial_id,
        tasks.c.job_id,
    )
    .join_from(runners, allocations, allocations.c.id == runners.c.allocation_id)
    .join(tasks, tasks.c.id == allocations.c.task_id)
    .join(jobs, jobs.c.id == tasks.c.job_id)
    .join(users, users.c.id == jobs.c.owner_id)
    .join(workspaces, workspaces.c.id == jobs.c.workspace_id)
    .where(runners.c.drained.is_(False), allocations.c.drained.is_(False))
    .order_by(runners.c.allocation_id, runners.c.rank)
)


class Identity(msgspec.Struct, frozen=True):
    """Operating system users of a task's owner and of its workspace."""

    username: str
    agent_uid: int | None
    agent_user: str | None
    agent_gid: int | None
    agent_group: str | None
    workspace_uid: int | None
    workspace_user: str | None
    workspace_gid: int | None
    workspace_group: str | None
    workspace_user_of: str | None


class AliveRunner(Identity, frozen=True):
    """Runner that its engine must have, with the kill request of its allocation and whom it runs as."""

    resource_id: str
    allocation_id: str
    container_id: str
    rank: int
    engine: str
    node_id: str
    slot_ids: list[int]
    device: str
    state: str
    exited_at: datetime | None
    kill_at: datetime | None
    trial_id: int | None
    job_id: str | None


def get(conn: Connection, resource_id: str) -> Runner:
    """Return the runner. Raises NotFound."""
    return fetch.existing(find(conn, resource_id), f"resources {resource_id} not found")


def find(conn: Connection, resource_id: str) -> Runner | None:
    return fetch.row(conn, _FIND, Runner, {"this": resource_id})


def known(conn: Connection, resource_ids: Sequence[str]) -> set[str]:
    """Return which of these have a row, in whatever state."""
    ids: set[str] = set()
    for some in batches(resource_ids):
        ids.update(conn.execute(select(runners.c.resource_id).where(runners.c.resource_id.in_(some))).scalars())
    return ids


def insert_rows(conn: Connection, rows: list[RunnerValues]) -> None:
    fetch.change_each(conn, _INSERT, rows)


def update_row(conn: Connection, resource_id: str, values: RunnerValues) -> None:
    fetch.change(conn, _UPDATE, {"this": resource_id, **values})


def of_allocation(conn: Connection, allocation_id: str) -> list[Runner]:
    """Return the runners of an allocation by rank."""
    return fetch.rows(conn, _OF_ALLOCATION, Runner, {"allocation": allocation_id})


def of_live_allocations(conn: Connection) -> list[Runner]:
    """Return every runner whose allocation has not ended, by allocation and rank: these hold slots.

    Neither joined nor sorted by the database: SQLite would walk all runners there ever were.
    """
    return sorted(
        fetch.rows(conn, _OF_LIVE_ALLOCATIONS, Runner), key=lambda runner: (runner.allocation_id, runner.rank)
    )


def alive(conn: Connection) -> list[AliveRunner]:
    """Return runners an engine must have, with the kill request of their allocation and whom they run as.

    A runner that has reported its exit but not drained still belongs to its engine: it may have records to ship.
    """
    return fetch.rows(conn, _ALIVE, AliveRunner)


def identity(conn: Connection, owner_id: int, workspace_id: int) -> Identity:
    """Return whom tasks of this user in this workspace run as."""
    statement = (
        select(*_IDENTITY).join_from(users, workspaces, workspaces.c.id == workspace_id).where(users.c.id == owner_id)
    )
    return fetch.existing(
        fetch.row(conn, statement, Identity), f"user {owner_id} or workspace {workspace_id} not found"
    )


def on_node(conn: Connection, node_id: str) -> list[Runner]:
    """Return runners of live allocations on one node."""
    statement = (
        select(runners)
        .join(allocations, allocations.c.id == runners.c.allocation_id)
        .where(runners.c.node_id == node_id, allocations.c.ended_at.is_(None))
    )
    return fetch.rows(conn, statement, Runner)
