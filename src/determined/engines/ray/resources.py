"""Resources of a Ray cluster for each pool, and what a runner or a queue needs of them, in Ray's terms. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from determined.engines.model import Device, Node, Slot
from determined.engines.ray.config import GPU, RayPool
from determined.wire.bridge import BridgedNode

_HEAD = "node:__internal_head__"  # a resource that Ray gives to its head alone
_BRAND = "ray.io/accelerator-type"
_MARK = 0.001  # enough of a marking resource to name the kind of node, too little to use it up
_HAIR = 1e-6  # Ray counts in ten-thousandths; sums of floats do not


def pool_of(node: BridgedNode, pools: Iterable[RayPool]) -> RayPool | None:
    """Return the first pool of the config that takes the node."""
    return next((pool for pool in pools if _takes(pool, node)), None)


def slots_of(node: BridgedNode, pool: RayPool) -> int:
    """Return the slots of a node with nothing running there."""
    whole = int((node.total.get(pool.resource, 0.0) + _HAIR) // pool.per_slot)
    return whole if pool.slots_per_node is None else min(whole, pool.slots_per_node)


def offered(node: BridgedNode, pool: RayPool, ours: Collection[int], version: str) -> Node:
    """Return the node less the slots that other Ray jobs hold. `ours`: slots with runners of ours; they stay."""
    device = Device.CUDA if pool.resource == GPU else Device.CPU
    free = [number for number in range(slots_of(node, pool)) if number not in ours]
    left = _left(node, pool, len(ours))
    numbers = sorted({*ours, *free[:left]})
    slots = (Slot(n, device, f"{node.name}-{pool.resource}-{n}", node.labels.get(_BRAND, "")) for n in numbers)
    return Node(node.name, pool.name, tuple(slots), addresses=(node.address,), version=version)


def possible_sizes(nodes: Iterable[BridgedNode], pool: RayPool, pools: Sequence[RayPool]) -> list[int]:
    """Return the slots of every node that the pool has, or may get from the autoscaler."""
    there = [slots_of(node, pool) for node in nodes if pool_of(node, pools) == pool]
    to_come = max(0, pool.max_nodes - len(there))
    size = pool.slots_per_node or max(there, default=0)
    return [*there, *([size] * to_come if size else [])]


def needed(pool: RayPool, slots: int) -> dict[str, float]:
    """Return the resources that a runner with so many slots holds in Ray."""
    return {pool.resource: slots * pool.per_slot} if slots else {}


def bundles(pool: RayPool, queued: Sequence[int], largest: int) -> list[dict[str, float]]:
    """Return what the autoscaler must find room for; `largest`: slots of the largest node there can be."""
    wanted_bundles: list[dict[str, float]] = []
    for slots in queued:
        size = max(1, min(largest, slots)) if largest else max(1, slots)
        sizes = [size] * (slots // size) + ([slots % size] if slots % size else [])
        wanted_bundles += [marked(pool, needed(pool, n)) for n in sizes or [1]]
    return wanted_bundles


def marked(pool: RayPool, resources: Mapping[str, float]) -> dict[str, float]:
    return {**resources, pool.marker: _MARK} if pool.marker and resources else dict(resources)


def _takes(pool: RayPool, node: BridgedNode) -> bool:
    if not pool.include_head and _HEAD in node.total:
        return False
    if pool.marker is not None and not node.total.get(pool.marker):
        return False
    if any(node.labels.get(key) != value for key, value in pool.labels.items()):
        return False
    return slots_of(node, pool) > 0


def _left(node: BridgedNode, pool: RayPool, ours: int) -> int:
    """Return the slots that neither we nor others hold. A slot of which others hold a part is theirs."""
    free = node.total.get(pool.resource, 0.0) - node.taken.get(pool.resource, 0.0) - ours * pool.per_slot
    return max(0, int((free + _HAIR) // pool.per_slot))
