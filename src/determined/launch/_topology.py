"""The nodes of a task, the ranks on each, and which of them are ours."""

import contextlib
import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass

from determined._info import ClusterInfo, get_cluster_info
from determined.errors import FailedPrecondition
from determined.launch import environment


@dataclass(frozen=True, slots=True)
class Rank:
    rank: int
    local: int


@dataclass(frozen=True, slots=True)
class Gang:
    """Processes of a job: one per slot, and one where a node has no slots; ranks follow the order of the nodes."""

    addresses: tuple[str, ...]
    sizes: tuple[int, ...]
    node: int

    @property
    def nodes(self) -> int:
        return len(self.addresses)

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @property
    def local_size(self) -> int:
        return self.sizes[self.node]

    @property
    def chief(self) -> str:
        return self.addresses[0]

    @property
    def ranks(self) -> Iterator[Rank]:
        """Return the ranks of this node."""
        first = sum(self.sizes[: self.node])
        return (Rank(first + local, local) for local in range(self.local_size))


def cluster_info(launcher: str) -> ClusterInfo:
    info = get_cluster_info()
    if info is None:
        raise FailedPrecondition(
            f"determined.launch.{launcher} runs in a task of a cluster, and here is none; submit it as the entrypoint "
            "of an experiment (det experiment create)"
        )
    return info


def gang_of(info: ClusterInfo) -> Gang:
    sizes = tuple(max(1, slots) for slots in info.container_slot_counts)
    return Gang(tuple(info.container_addrs), sizes, info.container_rank)


def rendezvous_at(gang: Gang) -> tuple[str, int]:
    """Return where rank 0 listens for the others. Alone on a node nobody else has to know a port: a taken one is
    replaced."""
    port = environment.rendezvous_port()
    if gang.nodes > 1:
        return gang.chief, port
    return "localhost", port if _is_free(port) else _free_port()


def hostfile(gang: Gang) -> str:
    """Return the hostfile as MPI and DeepSpeed read it."""
    return "".join(f"{address} slots={slots}\n" for address, slots in zip(gang.addresses, gang.sizes, strict=True))


def tf_config(gang: Gang, port: int) -> str:
    """Nodes that share an address (several on one machine) get ports that follow one another."""
    hosts = [f"[{address}]" if ":" in address else address for address in gang.addresses]
    workers = [f"{host}:{port + hosts[:node].count(host)}" for node, host in enumerate(hosts)]
    return json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": gang.node}})


def _is_free(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_server(("", port)):
        return True
    return False


def _free_port() -> int:
    with socket.create_server(("", 0)) as probe:
        return int(probe.getsockname()[1])
