"""Short ways to write pools and requests in scheduling tests."""

from datetime import UTC, datetime, timedelta
from typing import Any

from determined.engines.scheduling.model import NodeView, Request

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def node(id: str, slots: int = 4, **changes: Any) -> NodeView:
    return NodeView(**{"id": id, "total_slots": slots, "free_slots": slots, **changes})


def after(requests: list[Request], *nodes: NodeView) -> list[NodeView]:
    """`nodes` with the slots taken that `requests` hold."""
    held: dict[str, int] = {}
    aux: dict[str, int] = {}
    for request in requests:
        for node_id, slots in request.placement or ():
            held[node_id] = held.get(node_id, 0) + slots
            aux[node_id] = aux.get(node_id, 0) + (slots == 0)
    return [
        NodeView(
            id=n.id,
            total_slots=n.total_slots,
            free_slots=n.free_slots - held.get(n.id, 0),
            max_aux=n.max_aux,
            used_aux=n.used_aux + aux.get(n.id, 0),
            enabled=n.enabled,
            draining=n.draining,
        )
        for n in nodes
    ]


class Queue:
    """Makes requests one second apart, so that each is younger than the one before."""

    def __init__(self) -> None:
        self._made = 0

    def pending(self, id: str, slots: int = 1, **changes: Any) -> Request:
        self._made += 1
        time = NOON + timedelta(seconds=self._made)
        fields = {
            "allocation_id": id,
            "job_id": f"job-{id}",
            "slots": slots,
            "preemptible": True,
            "position": float(self._made),
            "job_submitted": time,
            "requested_at": time,
        }
        return Request(**{**fields, **changes})

    def running(self, id: str, slots: int, *where: str, **changes: Any) -> Request:
        """Spread evenly over the nodes `where`."""
        placement = tuple((node_id, slots // len(where)) for node_id in where)
        return self.pending(id, slots, placement=placement, **changes)
