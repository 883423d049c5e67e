"""The engine contract's rig over a real Slurm."""

from pathlib import Path

from engine_rig import EngineRig
from slurm_cluster import SlurmCluster

from determined.engines.slurm.config import SlurmManager
from determined.engines.slurm.engine import SlurmEngine

POOLS = {"main": "main", "quick": "urgent", "small": "small"}


class SlurmRig(EngineRig):
    """Slots are CPUs here: the suite starts several runners side by side."""

    node = "main"

    def __init__(self, place: Path, cluster: SlurmCluster, python: str) -> None:
        super().__init__(place)
        self._cluster = cluster
        self._python = python

    def engine(self, **changes: object) -> SlurmEngine:
        settings = {"slot_type": "cpu", "run_root": str(self.run_root), "job_storage_root": str(self.marks), **changes}
        return SlurmEngine(SlurmManager(**settings), POOLS, self.place / "slurm", "cluster-1", self._python)  # type: ignore[arg-type]

    def lose_node(self, resource_id: str) -> None:
        self._cluster.lose_node(self.node_of(resource_id))

    def notice(self, resource_id: str) -> None:
        """A job of a higher partition wants everything."""
        nodes = str(len(self._cluster.nodes))
        self._cluster.command("sbatch", "-p", "urgent", "-N", nodes, "--exclusive", "-o", "/dev/null", "--wrap", "true")

    def node_of(self, resource_id: str) -> str:
        node = self.master.claims[resource_id].node_id
        assert node is not None
        return node
