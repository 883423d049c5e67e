"""Hosts from the last answer of sinfo, as pools, nodes and the ways to spread over them."""

from collections.abc import Mapping, Sequence

from determined.engines.model import Node
from determined.engines.slurm import partitions
from determined.engines.slurm.config import SlurmManager
from determined.engines.slurm.partitions import Host


class Hosts:
    """Hosts of a cluster. `pools`: pool -> partition."""

    def __init__(self, settings: SlurmManager, pools: Mapping[str, str]) -> None:
        self.pools = dict(pools)
        self.lines: list[str] = []
        self.nodes: tuple[Node, ...] = ()
        self.device = partitions.device_of(settings.slot_type, ())
        self._settings = settings
        self._hosts: tuple[Host, ...] = ()

    def learn(self, lines: list[str]) -> bool:
        """Read the nodes from lines of sinfo and return whether the offer has changed."""
        self.lines, before = lines, self.nodes
        self._hosts = partitions.parse_hosts(lines)
        self.device = partitions.device_of(self._settings.slot_type, self._hosts)
        self.nodes = partitions.nodes_of(self._hosts, self.pools, self.device)
        return self.nodes != before

    def spread(self, pool: str, slots: int, per_node: int | None, *, single_node: bool) -> list[int]:
        """Return the slots on each node. Raises as `partitions.spread`."""
        where = f"pool '{pool}' (partition '{self.pools.get(pool, pool)}')"
        per = per_node or self._settings.slots_per_node
        return partitions.spread(self._of(pool), slots, per, single_node=single_node, where=where, device=self.device)

    def time_limit(self, pool: str) -> int | None:
        """Return the seconds that a job without a limit of its own may run there."""
        return partitions.limit_of(self._of(pool))

    def silent_ranks(self, nodes: str) -> dict[int, str]:
        return partitions.silent_ranks(self._hosts, nodes)

    def _of(self, pool: str) -> Sequence[Host]:
        partition = self.pools.get(pool, pool)
        return [host for host in self._hosts if host.partition == partition]
