"""Partitions and their hosts as sinfo tells them: what nodes they offer and how a trial spreads over them. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from determined.engines.model import Device, Node, Slot
from determined.engines.slurm.script import parse_time
from determined.errors import InvalidArgument, Unavailable

# Columns of sinfo.
COLUMNS = "%P|%N|%T|%c|%L|%l|%o|%G"
_GPUS = re.compile(r"\bgpu(?::([^:,()]+))?:(\d+)")
_AWAY = ("down", "drain", "fail", "unknown", "error", "maint", "inval", "reboot")


@dataclass(frozen=True, slots=True)
class Host:
    """Node in one partition; a node of several partitions is several of these. `limit`: seconds a job may run."""

    partition: str
    name: str
    state: str
    cpus: int
    gpus: int
    address: str
    limit: int | None = None
    is_default: bool = False

    def slots(self, device: Device) -> int:
        return self.cpus if device is Device.CPU else self.gpus

    @property
    def is_offered(self) -> bool:
        """Availability of the node for jobs; sinfo marks one that does not answer with a star."""
        return not self.state.startswith(_AWAY) and not self.state.endswith("*")


def parse_hosts(lines: Iterable[str]) -> tuple[Host, ...]:
    return tuple(_host(line.split("|", 7)) for line in lines if line.count("|") >= 7)


def device_of(slot_type: str, hosts: Sequence[Host]) -> Device:
    if slot_type != "auto":
        return Device(slot_type)
    return Device.CUDA if any(host.gpus for host in hosts) else Device.CPU


def nodes_of(hosts: Sequence[Host], pools: Mapping[str, str], device: Device) -> tuple[Node, ...]:
    """Return each node once, in the first of its pools, with the others beside it. `pools`: pool -> partition."""
    nodes: dict[str, Node] = {}
    for pool, partition in pools.items():
        for host in hosts:
            if host.partition != partition or not host.is_offered:
                continue
            known = nodes.get(host.name)
            nodes[host.name] = _node(host, pool, device) if known is None else _also(known, pool)
    return tuple(nodes[name] for name in sorted(nodes))


def spread(
    hosts: Sequence[Host], slots: int, per_node: int | None, *, single_node: bool, where: str, device: Device
) -> list[int]:
    """Return the slots on each node, equally many. `per_node`: the number that submitter or operator set.

    Raises:
        InvalidArgument: no such arrangement, naming one that is.
        Unavailable: nothing is known of the partition yet.
    """
    if slots == 0:
        return [0]
    sizes = sorted((host.slots(device) for host in hosts), reverse=True)
    if not sizes and per_node is None:
        raise Unavailable(f"Slurm has not told yet what nodes {where} has")
    largest = sizes[0] if sizes else per_node or 0
    per = per_node or largest
    if sizes and per > largest:
        raise InvalidArgument(f"slots_per_node={per} exceeds the largest node of {where} ({largest} {device} slots)")
    if slots <= per:
        return [slots]
    able = 1 if single_node else sum(size >= per for size in sizes) if sizes else slots
    if slots % per or slots // per > able:
        raise InvalidArgument(_problem(slots, per, able, where))
    return [per] * (slots // per)


def silent_ranks(hosts: Sequence[Host], nodes: str) -> dict[int, str]:
    """Return the ranks whose node is silent or down, with that node. `nodes`: the job's node list, in order of rank."""
    silent = {host.name: host.state for host in hosts if host.state.endswith("*") or host.state.startswith("down")}
    named = enumerate(expand(nodes))
    return {rank: f"{name} ({silent[name]})" for rank, name in named if name in silent}


def expand(nodes: str) -> list[str]:
    """Expand Slurm's way to write many names: `n[1-3,07],m1`."""
    names: list[str] = []
    for name, ranges, rest in re.findall(r"([^,\[\]]+)(?:\[([^\]]*)\])?([^,\[\]]*)", nodes):
        if not ranges:
            names.append(name + rest)
            continue
        for one in ranges.split(","):
            first, _, last = one.partition("-")
            numbers = range(int(first), int(last or first) + 1)
            names += [f"{name}{number:0{len(first)}d}{rest}" for number in numbers]
    return names


def limit_of(hosts: Sequence[Host]) -> int | None:
    return next((host.limit for host in hosts if host.limit is not None), None)


def _problem(slots: int, per: int, able: int, where: str) -> str:
    nearest = min(max(1, slots // per), able) * per
    what = f"{slots} slots cannot be had in {where}: it has {able} node(s) of {per} slots for one task"
    return f"{what}; ask for {nearest}, or set slurm.slots_per_node" if nearest else f"{what}; pick another pool"


def _host(fields: list[str]) -> Host:
    partition, name, state, cpus, usual, longest, address, gres = (field.strip() for field in fields)
    limit = parse_time(usual)
    return Host(
        partition=partition.removesuffix("*"),
        name=name,
        state=state,
        cpus=int(cpus) if cpus.isdigit() else 0,
        gpus=sum(int(count) for _, count in _GPUS.findall(gres)),
        address=address,
        limit=limit if limit is not None else parse_time(longest),
        is_default=partition.endswith("*"),
    )


def _node(host: Host, pool: str, device: Device) -> Node:
    slots = tuple(Slot(i, device, f"{host.name}-{device}-{i}") for i in range(host.slots(device)))
    return Node(host.name, pool, slots, addresses=(host.address,) if host.address else ())


def _also(node: Node, pool: str) -> Node:
    return Node(node.id, node.pool, node.slots, addresses=node.addresses, also_pools=(*node.also_pools, pool))
