"""Agents (nodes) and their slots: what engines offer, what runs there, what administrators disable and drain."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from determined.errors import AlreadyExists, InvalidArgument, NotFound
from determined.master.auth.identity import Caller, require_admin
from determined.master.context import MasterContext
from determined.master.db.queries import node as nodes
from determined.master.db.queries import runner as runners
from determined.master.db.rows.allocations import Runner
from determined.master.lifecycle import allocation as allocation_lifecycle
from determined.master.lifecycle import cluster as clusters
from determined.master.lifecycle import topics
from determined.master.lifecycle.capacity import Override, Overrides
from determined.master.lifecycle.cluster import PlacedNode, new_local_node
from determined.master.lifecycle.pools import pools_of
from determined.master.services.agent_view import AgentView
from determined.wire.agent import Agent, GetAgentsRequestSortBy, ListAgents, PostAgentRequest, Slot
from determined.wire.base import OrderBy

MAX_SLOTS = 4096


@dataclass(frozen=True, slots=True)
class _Now:
    overrides: Overrides
    held: Sequence[Runner]


async def list_agents(ctx: MasterContext, params: ListAgents) -> list[Agent]:
    now = await ctx.db.read(_read)
    agents = [_view(ctx, placed, now).agent() for placed in clusters.of(ctx.bus).nodes()]
    by_time = params.sort_by == GetAgentsRequestSortBy.TIME
    agents.sort(
        key=lambda agent: (agent.registered_time or "" if by_time else "", agent.id),
        reverse=params.order_by == OrderBy.DESC,
    )
    for agent in agents:
        agent.slots = None if params.exclude_slots else agent.slots
        agent.containers = None if params.exclude_containers else agent.containers
    return agents


async def get(ctx: MasterContext, agent_id: str) -> Agent:
    placed = _node(ctx, agent_id)
    return _view(ctx, placed, await ctx.db.read(_read)).agent()


async def get_slot(ctx: MasterContext, agent_id: str, slot_id: str) -> Slot:
    placed, number = _slot(ctx, agent_id, slot_id)
    return _view(ctx, placed, await ctx.db.read(_read)).slot(number)


async def set_enabled(
    ctx: MasterContext, caller: Caller, agent_id: str, *, enabled: bool, drain: bool = False
) -> Agent:
    """Disabling without draining kills what runs there; that is free of charge for trials."""
    require_admin(caller)
    _node(ctx, agent_id)
    wanted = Override(enabled=enabled, draining=drain and not enabled)

    def concerned(row: Runner) -> bool:
        return True

    await _override(ctx, agent_id, nodes.WHOLE_NODE, wanted, concerned)
    return await get(ctx, agent_id)


async def set_slot_enabled(
    ctx: MasterContext, caller: Caller, agent_id: str, slot_id: str, *, enabled: bool, drain: bool = False
) -> Slot:
    require_admin(caller)
    _, number = _slot(ctx, agent_id, slot_id)
    wanted = Override(enabled=enabled, draining=drain and not enabled)

    def concerned(row: Runner) -> bool:
        return number in row.slot_ids

    await _override(ctx, agent_id, number, wanted, concerned)
    return await get_slot(ctx, agent_id, slot_id)


async def add(ctx: MasterContext, caller: Caller, request: PostAgentRequest) -> Agent:
    """Offer another node of the local engine; it is offered again after a restart."""
    require_admin(caller)
    _check_new(ctx, request)
    engine = clusters.of(ctx.bus).growing_engine()
    await engine.add_node(new_local_node(request.id, request.resource_pool, request.slots))
    now = ctx.clock.now()
    await ctx.db.write(lambda conn: nodes.add(conn, now, request.id, request.resource_pool, request.slots))
    ctx.bus.publish(topics.SCHEDULE, "agents")
    return await get(ctx, request.id)


async def remove(ctx: MasterContext, caller: Caller, agent_id: str) -> None:
    """Take back a node that was added by hand; what runs there is killed and retried elsewhere."""
    require_admin(caller)
    _node(ctx, agent_id)

    def write(conn: Connection) -> set[str]:
        if agent_id not in {row.node_id for row in nodes.added(conn)}:
            raise InvalidArgument(f"agent {agent_id} was not added by hand; disable it instead")
        nodes.remove(conn, agent_id)
        nodes.drop_overrides(conn, agent_id)
        return _kill_there(conn, ctx.clock.now(), agent_id, lambda row: True)

    cluster = clusters.of(ctx.bus)
    async with cluster.passing:  # or a pass that has counted on this node might still give it work, which nobody kills
        changed = await ctx.db.write(write)
        await cluster.growing_engine().remove_node(agent_id)
    ctx.bus.publish(topics.SCHEDULE, "agents", *changed)


async def _override(
    ctx: MasterContext, agent_id: str, slot_id: int, wanted: Override, concerned: Callable[[Runner], bool]
) -> None:
    def write(conn: Connection) -> set[str]:
        if wanted.enabled:
            nodes.drop_override(conn, agent_id, slot_id)
            return set()
        nodes.put_override(conn, agent_id, slot_id, enabled=False, draining=wanted.draining)
        if wanted.draining:
            return set()
        return _kill_there(conn, ctx.clock.now(), agent_id, concerned)

    ctx.bus.publish(topics.SCHEDULE, "agents", *await ctx.db.write(write))


def _kill_there(conn: Connection, now: datetime, agent_id: str, concerned: Callable[[Runner], bool]) -> set[str]:
    changed: set[str] = set()
    for allocation_id in {row.allocation_id for row in runners.on_node(conn, agent_id) if concerned(row)}:
        allocation_lifecycle.request_kill(conn, now, allocation_id, f"agent {agent_id} was disabled")
        changed.update(topics.of_allocation(conn, allocation_id))
    return changed


def _check_new(ctx: MasterContext, request: PostAgentRequest) -> None:
    if not request.id or any(c in request.id for c in "/\0") or len(request.id) > 255:
        raise InvalidArgument(f"agent id {request.id!r} must be a name without slashes, at most 255 characters")
    if not 0 <= request.slots <= MAX_SLOTS:
        raise InvalidArgument(f"slots={request.slots} must lie between 0 and {MAX_SLOTS}")
    pools = pools_of(ctx.config)
    if request.resource_pool not in pools:
        raise InvalidArgument(f"resource pool '{request.resource_pool}' does not exist; use one of {', '.join(pools)}")
    if any(placed.node.id == request.id for placed in clusters.of(ctx.bus).nodes()):
        raise AlreadyExists(f"agent {request.id} exists already; remove it first or choose another id")


def _read(conn: Connection) -> _Now:
    return _Now(Overrides(nodes.overrides(conn)), runners.of_live_allocations(conn))


def _view(ctx: MasterContext, placed: PlacedNode, now: _Now) -> AgentView:
    since = clusters.of(ctx.bus).seen_since(placed.node.id, ctx.clock.now())
    return AgentView(placed, now.overrides, now.held, since)


def _node(ctx: MasterContext, agent_id: str) -> PlacedNode:
    for placed in clusters.of(ctx.bus).nodes():
        if placed.node.id == agent_id:
            return placed
    raise NotFound(f"agent {agent_id} not found")


def _slot(ctx: MasterContext, agent_id: str, slot_id: str) -> tuple[PlacedNode, int]:
    placed = _node(ctx, agent_id)
    for slot in placed.node.slots:
        if str(slot.id) == slot_id.lstrip("0") or (slot.id == 0 and set(slot_id) == {"0"}):
            return placed, slot.id
    raise NotFound(f"slot {slot_id} of agent {agent_id} not found")
