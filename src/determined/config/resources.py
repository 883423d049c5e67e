"""The resources section of an experiment: slots, weight, priority, pool, shared memory, devices."""

from collections.abc import Iterator

from determined._json import JsonObject, JsonValue
from determined.schema.engine_traits import FORKS_TRIALS, RUNS_CONTAINERS
from determined.schema.lists import KeyedList
from determined.schema.node import Boolean, Integer, Number, Text
from determined.schema.objects import Object
from determined.schema.quantity_nodes import Size
from determined.schema.section import Section, field

DEFAULT_PRIORITY = 42
PRIORITY_RANGE = (1, 99)
# The widest integer a database column holds.
INT32_MAX = 2**31 - 1
CONTAINERS = (RUNS_CONTAINERS,)  # the fields that need a container have an effect on these engines


class _Device(Object["DeviceMount"]):
    """A device may also be written as `/host:/container[:mode]`."""

    def canonical(self, value: JsonValue) -> JsonValue:
        parts = value.split(":") if isinstance(value, str) else []
        if len(parts) not in (2, 3):
            return super().canonical(value)
        return dict(zip(("host_path", "container_path", "mode"), parts, strict=False))

    def json_schema(self) -> JsonObject:
        return {"anyOf": [{"type": "string", "pattern": "^[^:]*:[^:]*(:[^:]*)?$"}, super().json_schema()]}


class DeviceMount(Section, node=_Device):
    """A device file of the node, in the container."""

    host_path: str = field(Text(), "On the node.")
    container_path: str = field(Text(), "In the container.")
    mode: str = field(Text(), "Access.", default="mrw")


DEVICES = KeyedList(DeviceMount, key="container_path")


def _slots_within_cap(value: JsonObject) -> Iterator[tuple[str, str]]:
    slots, cap = value.get("slots_per_trial"), value.get("max_slots")
    if slots is not None and cap is not None and slots > cap:
        yield "", f"slots_per_trial={slots} exceeds max_slots={cap}; no trial could ever start"


class Resources(Section, complete_rules=(_slots_within_cap,)):
    """The resources of each trial of an experiment."""

    slots_per_trial: int = field(
        Integer(0, INT32_MAX), "GPUs (or CPU slots) of each trial; 0 is a task without slots.", default=1
    )
    max_slots: int | None = field(Integer(0, INT32_MAX), "Cap on all trials of the experiment together.", default=None)
    weight: float = field(Number(above=0), "Share under the fair-share scheduler.", default=1)
    priority: int | None = field(
        Integer(*PRIORITY_RANGE), "1 is the most urgent. Default: the pool's `default_priority`.", default=None
    )
    resource_pool: str = field(Text(), "Default: the workspace's or the cluster's default pool.", default="")
    is_single_node: bool | None = field(Boolean(), "Whether a trial must fit on one node.", default=None)
    shm_size: int | None = field(Size(), "A size such as `4g`.", default=None, engines=CONTAINERS)
    devices: tuple[DeviceMount, ...] = field(DEVICES, "Device files.", default=[], engines=CONTAINERS)
    warm: bool = field(
        Boolean(),
        "Start trials by a fork of an interpreter that has imported their packages"
        " ([Warm workers](../performance.md#warm-workers)).",
        default=True,
        engines=(FORKS_TRIALS,),
        since="0.39",
    )
    native_parallel: bool = field(Boolean(), "", default=False, legacy=True, engines=())
    agent_label: str | None = field(Text(), "", default=None, fill=False, legacy=True, engines=())
    # Jobs only; `prepare` drops it with a remark.
    slots: int | None = field(Integer(low=0), "", default=None, fill=False, legacy=True)
