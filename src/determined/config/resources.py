"""The resources section of an experiment: slots, weight, priority, pool, shared memory, devices."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from determined.config.node import Boolean, Integer, KeyedList, Node, Number, Report, Text
from determined.config.objects import Field, Object
from determined.config.quantities import parse_size
from determined.errors import InvalidArgument

PRIORITY_RANGE = (1, 99)
# The widest integer a database column holds.
INT32_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class DeviceMount:
    host_path: str
    container_path: str
    mode: str = "mrw"


@dataclass(frozen=True, slots=True)
class Resources:
    slots_per_trial: int = 1
    max_slots: int | None = None
    weight: float = 1
    priority: int | None = None
    resource_pool: str = ""
    is_single_node: bool | None = None
    shm_size: int | None = None
    devices: tuple[DeviceMount, ...] = ()


def parse_resources(raw: dict[str, Any]) -> Resources:
    return Resources(
        slots_per_trial=raw["slots_per_trial"],
        max_slots=raw["max_slots"],
        weight=raw["weight"],
        priority=raw["priority"],
        resource_pool=raw["resource_pool"],
        is_single_node=raw["is_single_node"],
        shm_size=raw["shm_size"],
        devices=tuple(DeviceMount(**device) for device in raw["devices"]),
    )


def canonical_resources(raw: Any) -> Any:
    """Sizes as bytes, devices as maps; what cannot be read is left for the check."""
    if not isinstance(raw, dict):
        return raw
    changed = dict(raw)
    if isinstance(raw.get("shm_size"), str):
        changed["shm_size"] = canonical_size(raw["shm_size"])
    if isinstance(raw.get("devices"), list):
        changed["devices"] = [canonical_device(device) for device in raw["devices"]]
    return changed


def canonical_size(raw: str) -> str | int:
    try:
        return parse_size(raw)
    except InvalidArgument:
        return raw


def canonical_device(raw: Any) -> Any:
    """`/host:/container[:mode]` as a map."""
    parts = raw.split(":") if isinstance(raw, str) else []
    if len(parts) not in (2, 3):
        return raw
    return dict(zip(("host_path", "container_path", "mode"), parts, strict=False))


class _Size(Node):
    def check(self, value: Any, at: str, report: Report) -> None:
        if isinstance(value, bool) or not isinstance(value, int | str):
            return report.add(at, "must be a number of bytes or a size such as 4g")
        try:
            parse_size(value)
        except InvalidArgument as error:
            report.add(at, error.message)


SIZE = _Size()
DEVICES = KeyedList(
    Object(
        {
            "host_path": Field(Text(), required=True),
            "container_path": Field(Text(), required=True),
            "mode": Field(Text(), default="mrw"),
        }
    ),
    key="container_path",
)


def _slots_within_cap(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    slots, cap = value.get("slots_per_trial"), value.get("max_slots")
    if slots is not None and cap is not None and slots > cap:
        yield "", f"slots_per_trial={slots} exceeds max_slots={cap}; no trial could ever start"


RESOURCES = Object(
    {
        "slots_per_trial": Field(Integer(0, INT32_MAX), default=1),
        "max_slots": Field(Integer(0, INT32_MAX), default=None),
        "weight": Field(Number(above=0), default=1),
        "priority": Field(Integer(*PRIORITY_RANGE), default=None),
        "resource_pool": Field(Text(), default=""),
        "is_single_node": Field(Boolean(), default=None),
        "shm_size": Field(SIZE, default=None, honoured_by=("docker",)),
        "devices": Field(DEVICES, default=[], honoured_by=("docker",)),
        "native_parallel": Field(Boolean(), default=False, legacy=True, honoured_by=()),
        "agent_label": Field(Text(), legacy=True, honoured_by=()),
        "slots": Field(Integer(low=0), legacy=True),  # jobs only; `prepare` drops it with a remark
    },
    complete_rules=(_slots_within_cap,),
)
