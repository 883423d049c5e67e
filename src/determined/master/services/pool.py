"""Resource pools: what they are, whether a request can ever run there, which workspaces they are bound to."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from determined.errors import InvalidArgument, NotFound
from determined.master.auth.identity import Caller, require_admin
from determined.master.context import MasterContext
from determined.master.db.queries import node as nodes
from determined.master.db.queries import runner as runners
from determined.master.lifecycle import cluster as clusters
from determined.master.lifecycle.capacity import Capacity, Overrides, capacities, check_fits
from determined.master.lifecycle.pools import Pool, pools_of
from determined.master.services import job as jobs
from determined.master.services import pool_binding
from determined.master.services.pool_view import to_wire
from determined.wire.job import ListJobs
from determined.wire.pool import ResourcePool

_MORE_SLOTS = (
    "; on CPUs, the master can also be started with more: det master start --slots {slots}, or"
    " det deploy local cluster-up --slots {slots}"
)
_MORE_NODES = (
    "; on CPUs, a node can be added to it: det deploy local agent-up localhost --agent-name {pool}-1"
    " --agent-resource-pool {pool} --slots {slots}"
)


async def check_capacity(
    ctx: MasterContext, pool: str, slots: int, single_node: bool, options: Mapping[str, object] | None = None
) -> list[str]:
    """Refuse what the pool can never run, naming the nearest size that it can; with `launch_error: false`, warn.

    Args:
        options: what the submitter says to an engine that chooses nodes itself.

    Raises:
        InvalidArgument: the pool does not exist, or no arrangement of its nodes holds `slots`.
    """
    resource_pool = require_pool(ctx, pool or default_pool(ctx, slots))
    placing = clusters.of(ctx.bus).placing(resource_pool.name)
    if placing is not None:
        # Whatever `launch_error` says: such an engine would refuse it at the hand-over all the same.
        placing[1].spread(resource_pool.name, slots, options or {}, single_node=single_node)
        return []
    offered = clusters.of(ctx.bus).nodes()
    capacity = await ctx.db.read(lambda conn: _capacities(conn, ctx, offered))
    elastic = clusters.of(ctx.bus).elastic(resource_pool.name)
    possible = elastic.possible_sizes(resource_pool.name) if elastic is not None else ()
    if possible is None:
        return [
            f"pool '{resource_pool.name}': its cluster has not been reached yet; the job waits (det job list says why)"
        ]
    try:
        check_fits(resource_pool, capacity.values(), slots, single_node=single_node, possible=possible)
    except InvalidArgument as e:
        total = sum(c.total for c in capacity.values() if c.serves(resource_pool.name))
        may_grow = slots > total and clusters.of(ctx.bus).grows(resource_pool.name)
        text = e.message + (_way_to_grow(ctx, resource_pool.name, slots) if may_grow else "")
        if ctx.config.launch_error:
            raise InvalidArgument(text, **e.details) from e
        return [text]
    return []


def _way_to_grow(ctx: MasterContext, pool: str, slots: int) -> str:
    """Say how a pool gets more slots; those that the master is started with are in one pool only."""
    own = ctx.config.resource_manager.default_compute_resource_pool
    return (_MORE_SLOTS if pool == own else _MORE_NODES).format(pool=pool, slots=slots)


def require_pool(ctx: MasterContext, name: str) -> Pool:
    pools = pools_of(ctx.config)
    if name not in pools:
        raise InvalidArgument(f"resource pool '{name}' does not exist; use one of {', '.join(pools)}")
    return pools[name]


def default_pool(ctx: MasterContext, slots: int) -> str:
    manager = ctx.config.resource_manager
    return manager.default_aux_resource_pool if slots == 0 else manager.default_compute_resource_pool


async def list_pools(ctx: MasterContext, *, unbound: bool = False) -> list[ResourcePool]:
    offered = clusters.of(ctx.bus).nodes()
    capacity, bound = await ctx.db.read(lambda conn: (_capacities(conn, ctx, offered), nodes.bound_pools(conn)))
    queue = await jobs.list_jobs(ctx, ListJobs())
    return [
        to_wire(pool, ctx.config, [c for c in capacity.values() if c.serves(name)], jobs.count(queue, name))
        for name, pool in pools_of(ctx.config).items()
        if not (unbound and bound.get(name))
    ]


async def available_pools(ctx: MasterContext, workspace_id: int) -> list[str]:
    """Return the pools a workspace may use: those bound to it and those bound to none."""

    def read(conn: Connection) -> list[str]:
        _require_workspaces(conn, [workspace_id])
        return pool_binding.available(conn, ctx.config, workspace_id)

    return await ctx.db.read(read)


async def require_available(ctx: MasterContext, pool: str, workspace_id: int) -> None:
    """Require that the workspace may use the pool. Raises InvalidArgument."""
    await ctx.db.read(lambda conn: pool_binding.require_available(conn, ctx.config, pool, workspace_id))


async def bindings(ctx: MasterContext, pool: str) -> list[int]:
    _existing(ctx, pool)
    return list(await ctx.db.read(lambda conn: nodes.bound_workspaces(conn, pool)))


async def bind(
    ctx: MasterContext, caller: Caller, pool: str, ids: Sequence[int], names: Sequence[str], *, replace: bool = False
) -> None:
    require_admin(caller)
    _existing(ctx, pool)
    manager = ctx.config.resource_manager
    if pool in (manager.default_aux_resource_pool, manager.default_compute_resource_pool):
        raise InvalidArgument(f"pool '{pool}' is a default pool of the cluster: every workspace may use it")

    def write(conn: Connection) -> None:
        chosen = _workspaces(conn, ids, names)
        if replace:
            nodes.unbind(conn, pool, None)
        nodes.bind(conn, pool, chosen)

    await ctx.db.write(write)
    ctx.bus.publish("pools")


async def unbind(ctx: MasterContext, caller: Caller, pool: str, ids: Sequence[int], names: Sequence[str]) -> None:
    require_admin(caller)
    _existing(ctx, pool)
    await ctx.db.write(lambda conn: nodes.unbind(conn, pool, _workspaces(conn, ids, names)))
    ctx.bus.publish("pools")


def _capacities(conn: Connection, ctx: MasterContext, offered: Sequence[clusters.PlacedNode]) -> dict[str, Capacity]:
    """`offered` is asked for in the event loop: engines know of no other thread."""
    held = runners.of_live_allocations(conn)
    return capacities(offered, held, Overrides(nodes.overrides(conn)), pools_of(ctx.config))


def _existing(ctx: MasterContext, pool: str) -> None:
    if pool not in pools_of(ctx.config):
        raise NotFound(f"resource pool '{pool}' not found; the pools are {', '.join(pools_of(ctx.config))}")


def _workspaces(conn: Connection, ids: Sequence[int], names: Sequence[str]) -> list[int]:
    by_name = nodes.workspace_ids_by_name(conn, names)
    missing = [name for name in names if name not in by_name]
    if missing:
        raise NotFound(f"workspace {missing[0]!r} not found")
    _require_workspaces(conn, ids)
    return sorted({*ids, *by_name.values()})


def _require_workspaces(conn: Connection, ids: Sequence[int]) -> None:
    missing = set(ids) - nodes.existing_workspaces(conn, ids)
    if missing:
        raise NotFound(f"workspace {min(missing)} not found")
