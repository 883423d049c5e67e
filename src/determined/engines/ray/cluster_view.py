"""View of the cluster as the bridge sees it: its nodes, and how much of each is used by others."""

import time
from collections.abc import Iterable
from typing import Any

from determined.engines.ray.tracked_actor import TrackedActor
from determined.wire.bridge import BridgedNode

_RELEASE_SECONDS = 3.0  # Ray counts resources as used this long after an actor is gone


_MOVING = ("memory", "object_store_memory")  # no slot is made of them, and they change all the time


class ClusterView:
    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._released: list[tuple[float, str, dict[str, float]]] = []

    def release(self, held: TrackedActor) -> None:
        """Count a runner's resources as ours a while longer, or they would seem to be used by somebody else."""
        self._released.append((time.monotonic() + _RELEASE_SECONDS, held.node, held.resources))

    def nodes(self, runners: Iterable[TrackedActor]) -> dict[str, BridgedNode]:
        """Return the nodes by name."""
        alive = [row for row in self._ray.nodes() if row["Alive"]]
        state = self._ray._private.state
        available = state.available_resources_per_node()
        draining = state.state.get_draining_nodes()
        ours = self._ours(runners)
        nodes = {}
        for row in alive:
            node_id, name = row["NodeID"], _name(row)
            total = {key: float(value) for key, value in row["Resources"].items() if key not in _MOVING}
            nodes[name] = BridgedNode(
                id=node_id,
                name=name,
                address=row["NodeManagerAddress"],
                total=total,
                taken=_taken(total, available.get(node_id), ours.get(name, {})),
                labels={str(k): str(v) for k, v in (row.get("Labels") or {}).items()},
                draining=node_id in draining,
            )
        return nodes

    def _ours(self, runners: Iterable[TrackedActor]) -> dict[str, dict[str, float]]:
        self._released = [entry for entry in self._released if entry[0] > time.monotonic()]
        held = [(r.node, r.resources) for r in runners] + [(node, resources) for _, node, resources in self._released]
        used: dict[str, dict[str, float]] = {}
        for node, resources in held:
            mine = used.setdefault(node, {})
            for key, amount in resources.items():
                mine[key] = mine.get(key, 0.0) + amount
        return used


def _name(row: dict[str, Any]) -> str:
    """Return a name with a piece of the node's id: Ray lists a dead node for half a minute, beside its replacement."""
    return f"{row.get('NodeName') or row['NodeManagerAddress']}-{row['NodeID'][:6]}"


def _taken(total: dict[str, float], free: dict[str, float] | None, ours: dict[str, float]) -> dict[str, float]:
    """Return what others use. Ray leaves out what is used up; a node that just joined has no entry yet."""
    if free is None:
        return {}
    left = {key: round(amount - free.get(key, 0.0) - ours.get(key, 0.0), 4) for key, amount in total.items()}
    return {key: amount for key, amount in left.items() if amount > 0 and not key.startswith("node:")}
