"""Node as the API shows it: slots, containers, counts by device type and brand."""

from collections.abc import Sequence
from datetime import datetime

from determined._version import __version__
from determined.constants import API_VERSION
from determined.master.db.rows.allocations import Runner
from determined.master.lifecycle.capacity import Overrides
from determined.master.lifecycle.cluster import PlacedNode
from determined.master.lifecycle.states import AllocationState
from determined.wire.agent import Agent, Container, ContainerState, Device, DeviceStats, DeviceType, Slot, SlotStats
from determined.wire.codec import rfc3339


class AgentView:
    """`held`: the runners of all live allocations."""

    def __init__(self, placed: PlacedNode, overrides: Overrides, held: Sequence[Runner], since: datetime) -> None:
        self._node = placed.node
        self._overrides = overrides
        self._here = [row for row in held if row.node_id == self._node.id]
        self._since = since
        self._devices = {
            slot.id: Device(
                id=slot.id, brand=slot.brand, uuid=slot.uuid, type=DeviceType(f"TYPE_{slot.device.upper()}")
            )
            for slot in self._node.slots
        }

    def agent(self) -> Agent:
        state = self._overrides.node(self._node.id)
        slots = {f"{slot.id:03d}": self.slot(slot.id) for slot in self._node.slots}
        return Agent(
            id=self._node.id,
            slot_stats=_stats(list(slots.values())),
            addresses=list(self._node.addresses),
            containers={row.container_id: self._container(row) for row in self._here},
            draining=state.draining,
            enabled=state.enabled,
            registered_time=rfc3339(self._since),
            resource_pools=[self._node.pool, *self._node.also_pools],
            slots=slots,
            version=_shown_version(self._node.version),
        )

    def slot(self, slot_id: int) -> Slot:
        node, own = self._overrides.node(self._node.id), self._overrides.slot(self._node.id, slot_id)
        runner = next((row for row in self._here if slot_id in row.slot_ids), None)
        return Slot(
            id=str(slot_id),
            device=self._devices[slot_id],
            enabled=node.enabled and own.enabled,
            draining=node.draining or own.draining,
            container=self._container(runner) if runner is not None else None,
        )

    def _container(self, row: Runner) -> Container:
        return Container(
            id=row.container_id,
            parent=self._node.id,
            state=_shown(row.state),
            devices=[self._devices[n] for n in row.slot_ids if n in self._devices],
        )


def _shown_version(version: str) -> str:
    """A node of our own release speaks the API that the master says it does; clients compare the two."""
    return API_VERSION if version in ("", __version__) else version


def _shown(state: str) -> ContainerState:
    """Clients know no container that is about to end: it runs until then."""
    return ContainerState.RUNNING if state == AllocationState.TERMINATING else ContainerState(f"STATE_{state}")


def _stats(slots: list[Slot]) -> SlotStats:
    brands: dict[str, DeviceStats] = {}
    types: dict[str, DeviceStats] = {}
    for slot in slots:
        device = slot.device or Device()
        _add(brands, device.brand or "", slot)
        _add(types, (device.type or DeviceType.UNSPECIFIED).value, slot)
    return SlotStats(brand_stats=brands, type_stats=types)


def _add(stats: dict[str, DeviceStats], key: str, slot: Slot) -> None:
    entry = stats.setdefault(key, DeviceStats(disabled=0, draining=0, total=0, states={}))
    entry.total += 1
    entry.disabled += not slot.enabled
    entry.draining += bool(slot.draining)
    if slot.container is not None and entry.states is not None:
        state = slot.container.state.value
        entry.states[state] = entry.states.get(state, 0) + 1
