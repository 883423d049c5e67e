"""Fit of one request: the free capacity of a pool during one scheduling pass."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from determined.engines.scheduling.feasible import split
from determined.engines.scheduling.model import FittingPolicy, NodeView, Placement, Request, Settings

_Shape = tuple[int, bool, frozenset[str]]


@dataclass(slots=True)
class _Capacity:
    """A node's capacity as the pass changes it. Sealed: draining, so what is given back there is gone."""

    id: str
    total: int
    free: int
    aux: int
    free_aux: int
    sealed: bool
    hash: int


class Cluster:
    """Free capacity that `take` and `release` move. One pass owns it and may use it for what-if questions."""

    def __init__(self, nodes: Iterable[NodeView], settings: Settings) -> None:
        self._settings = settings
        self._nodes = {node.id: _capacity(node) for node in nodes if node.enabled or node.draining}
        # Taking never makes a failed shape fit, so a failure is remembered until something is given back:
        # ten thousand queued requests of a few shapes cost a few searches.
        self._failed: set[_Shape] = set()

    @property
    def total(self) -> int:
        """Slots that count as capacity: of draining nodes only those in use."""
        return sum(node.total for node in self._nodes.values())

    @property
    def free(self) -> int:
        return sum(node.free for node in self._nodes.values())

    @property
    def sizes(self) -> list[int]:
        """Slots of the nodes that take new work."""
        return [node.total for node in self._nodes.values() if not node.sealed]

    def sizes_for(self, request: Request) -> list[int]:
        return [n.total for n in self._nodes.values() if not n.sealed and n.id not in request.excluded_nodes]

    @property
    def aux(self) -> tuple[int, int]:
        """Zero-slot places of the nodes that take new work: (free, all)."""
        nodes = [node for node in self._nodes.values() if not node.sealed]
        return sum(node.free_aux for node in nodes), sum(node.aux for node in nodes)

    def fit(self, request: Request) -> Placement | None:
        shape = shape_of(request)
        if shape in self._failed:
            return None
        placement = self._shared(request)
        if placement is None and request.slots > 1 and not request.single_node:
            placement = self._whole_nodes(request)
        if placement is None:
            self._failed.add(shape)
        return placement

    def reserve(self, request: Request) -> Placement | None:
        """Choose the nodes where a request that does not fit now should wait: those that lack the fewest slots for it.

        There the most slots are free already, and reserving keeps them so: the wait ends when what runs there does.
        None where it could not be placed even if all were idle.
        """
        nodes = [node for node in self._nodes.values() if not node.sealed and node.id not in request.excluded_nodes]
        ordered = sorted(_nearest(nodes, request), key=lambda node: -node.free)
        for node in ordered:
            if node.total >= request.slots:
                return ((node.id, request.slots),)
        if request.single_node:
            return None
        counts = Counter(node.total for node in nodes)
        chosen = split(request.slots, counts, heterogeneous=self._settings.allow_heterogeneous)
        return None if chosen is None else _whole(ordered, chosen)

    def take(self, placement: Placement) -> None:
        for node_id, slots in placement:
            self._move(node_id, slots, -1)

    def release(self, placement: Placement) -> None:
        for node_id, slots in placement:
            self._move(node_id, slots, 1)
        self._failed.clear()

    def may_fit_after(self, released: Placement, request: Request) -> bool:
        """Check cheaply whether a request that did not fit may fit now: only nodes in `released` can have helped."""
        return any(self._may_fit_on(node_id, request) for node_id, _ in released)

    def _may_fit_on(self, node_id: str, request: Request) -> bool:
        node = self._nodes.get(node_id)
        if node is None or node.sealed:
            return False
        return _has_room(node, request.slots) or (not request.single_node and node.free == node.total)

    def _move(self, node_id: str, slots: int, sign: int) -> None:
        node = self._nodes.get(node_id)
        if node is None:
            return
        if node.sealed:
            # Given back on a draining node: that capacity leaves the pool.
            node.total -= slots * sign
        elif slots:
            node.free += slots * sign
        else:
            node.free_aux += sign

    def _shared(self, request: Request) -> Placement | None:
        best: list[_Capacity] = []
        best_score = -1.0
        slots, excluded = request.slots, request.excluded_nodes
        for node in self._nodes.values():
            if node.sealed or not _has_room(node, slots) or node.id in excluded:
                continue
            score = self._score(node, slots)
            if score > best_score:
                best, best_score = [node], score
            elif score == best_score:
                best.append(node)
        if not best:
            return None
        return ((_nearest(best, request)[0].id, slots),)

    def _whole_nodes(self, request: Request) -> Placement | None:
        idle = [
            node
            for node in self._nodes.values()
            if node.free == node.total > 0 and not node.sealed and node.id not in request.excluded_nodes
        ]
        chosen = split(
            request.slots,
            Counter(node.total for node in idle),
            heterogeneous=self._settings.allow_heterogeneous,
        )
        if chosen is None:
            return None
        return _whole(_nearest(idle, request), chosen)

    def _score(self, node: _Capacity, slots: int) -> float:
        if self._settings.fitting is FittingPolicy.WORST:
            return node.free / node.total if slots else node.free_aux / node.aux
        if slots or node.free < node.total:
            return 1 / (1 + node.free)
        return 1 / (1 + node.free_aux)


def _whole(ordered: list[_Capacity], chosen: dict[int, int]) -> Placement:
    """Return the first nodes of each chosen size."""
    return tuple(
        (node.id, size) for size, count in chosen.items() for node in [n for n in ordered if n.total == size][:count]
    )


def shape_of(request: Request) -> _Shape:
    """Return what decides whether a request fits; requests of one shape fit or fail together."""
    return request.slots, request.single_node, request.excluded_nodes


def _capacity(node: NodeView) -> _Capacity:
    used = node.total_slots - node.free_slots
    return _Capacity(
        id=node.id,
        total=used if node.draining else node.total_slots,
        free=0 if node.draining else node.free_slots,
        aux=node.max_aux,
        free_aux=0 if node.draining else node.max_aux - node.used_aux,
        sealed=node.draining,
        hash=_hash(node.id),
    )


def _has_room(node: _Capacity, slots: int) -> bool:
    return node.free >= slots if slots else node.free_aux > 0


def _nearest(nodes: list[_Capacity], request: Request) -> list[_Capacity]:
    """Sort nodes; equals in a stable order of their own for each allocation, so that ties spread over the pool."""
    if len(nodes) == 1:
        return nodes
    own = _hash(request.allocation_id)
    return sorted(nodes, key=lambda node: ((own - node.hash) % 2**64, node.id))


def _hash(name: str) -> int:
    digest = hashlib.md5(name.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:8], "little")
