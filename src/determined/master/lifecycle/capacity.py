"""Capacity of each node: what engines report, less what runs, less what administrators disabled or drain."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from determined.engines.model import Node, Slot
from determined.engines.scheduling import feasible
from determined.engines.scheduling.model import NodeView
from determined.master.db.rows.allocations import Runner
from determined.master.db.rows.cluster import NodeOverride
from determined.master.lifecycle.cluster import PlacedNode
from determined.master.lifecycle.pools import Pool

WHOLE_NODE = -1


@dataclass(frozen=True, slots=True)
class Override:
    enabled: bool = True
    draining: bool = False


class Overrides:
    """Rows of `node_overrides` by node and slot; what has no row is enabled."""

    def __init__(self, rows: Sequence[NodeOverride]) -> None:
        self._by_key = {(row.node_id, row.slot_id): Override(row.enabled, row.draining) for row in rows}

    def node(self, node_id: str) -> Override:
        return self._by_key.get((node_id, WHOLE_NODE), Override())

    def slot(self, node_id: str, slot_id: int) -> Override:
        return self._by_key.get((node_id, slot_id), Override())


@dataclass(slots=True)
class Capacity:
    """Capacity of one node during one pass; `free` shrinks as allocations are assigned."""

    engine: str
    node: Node
    pool: str
    max_aux: int
    state: Override
    used: set[int] = field(default_factory=set)
    used_aux: int = 0
    free: list[Slot] = field(default_factory=list)
    total: int = 0

    def serves(self, pool: str) -> bool:
        return pool == self.pool or pool in self.node.also_pools

    def view(self) -> NodeView:
        return NodeView(
            id=self.node.id,
            total_slots=self.total,
            free_slots=len(self.free),
            max_aux=self.max_aux,
            used_aux=self.used_aux,
            enabled=self.state.enabled,
            draining=self.state.draining,
        )

    def take(self, slots: int) -> list[Slot]:
        """Return the free slots with the lowest ids."""
        if slots == 0:
            self.used_aux += 1
        taken, self.free = self.free[:slots], self.free[slots:]
        return taken


def capacities(
    nodes: Sequence[PlacedNode], held: Sequence[Runner], overrides: Overrides, pools: dict[str, Pool]
) -> dict[str, Capacity]:
    """Return the capacity of each node by its id. `held`: runners of live allocations."""
    capacity_by_node = {p.node.id: _capacity(p, overrides, pools) for p in nodes}
    for row in held:
        capacity = capacity_by_node.get(row.node_id)
        if capacity is None:
            continue
        capacity.used.update(row.slot_ids)
        capacity.used_aux += not row.slot_ids
    for capacity in capacity_by_node.values():
        _count(capacity, overrides)
    return capacity_by_node


def check_fits(
    pool: Pool, capacity: Iterable[Capacity], slots: int, *, single_node: bool, possible: Sequence[int] = ()
) -> None:
    """Raise InvalidArgument, naming the nearest size that fits, when the pool's nodes can never hold `slots`.

    `possible`: sizes of the nodes that it may ever have, where these are others than the ones it has now.
    """
    sizes = [c.total for c in capacity if c.serves(pool.name) and (c.state.enabled or c.state.draining)]
    sizes = list(possible) or sizes
    feasible.check(slots, sizes, single_node, heterogeneous=pool.settings.allow_heterogeneous, pool=pool.name)


def _capacity(placed: PlacedNode, overrides: Overrides, pools: dict[str, Pool]) -> Capacity:
    node = placed.node
    pool = pools.get(node.pool)
    max_aux = node.max_aux if pool is None or pool.max_aux is None else pool.max_aux
    return Capacity(placed.engine, node, node.pool, max_aux, overrides.node(node.id))


def _count(capacity: Capacity, overrides: Overrides) -> None:
    """Count slots: a disabled slot does not exist; a draining one exists as long as it is used."""
    for slot in sorted(capacity.node.slots, key=lambda s: s.id):
        state = overrides.slot(capacity.node.id, slot.id)
        used = slot.id in capacity.used
        if state.enabled and not state.draining:
            capacity.total += 1
            if not used:
                capacity.free.append(slot)
        elif used:
            capacity.total += 1
