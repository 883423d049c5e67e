"""Submitted tasks on a real Slurm under a real master."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from slurm_cluster import SlurmCluster
from task_contract import ProgramContract, TaskContract
from task_site import TaskSite

from cluster import Cluster, eventually


class SlurmSite(TaskSite):
    """Jobs have two GPUs a node: a trial of four slots has two nodes."""

    def __init__(self, place: Path, slurm: SlurmCluster) -> None:
        manager = {"type": "slurm", "run_root": str(place / "runs"), "job_storage_root": str(place)}
        cluster = Cluster(place / "master", slots=None, config={"resource_manager": manager})
        cluster.start()
        self._slurm = slurm
        super().__init__(cluster, place, nodes=2, wide=4)

    def left_over(self) -> list[str]:
        return self._slurm.command("squeue", "-h", "-o", "%i %T %N").splitlines()

    def lose_node(self, task_id: str) -> None:
        self._slurm.lose_node(self.node_of(task_id))

    def bring_back(self) -> None:
        self._slurm.clear()

    def close(self) -> None:
        self._slurm.clear()
        self.cluster.stop()
        eventually(lambda: not self._slurm.steps(), 20)


@pytest.fixture(scope="module")
def site(slurm: SlurmCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmSite]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in slurm.environment().items():
            patch.setenv(name, value)
        site = SlurmSite(tmp_path_factory.mktemp("tasks"), slurm)
        yield site
        site.close()


@pytest.mark.engines
class TestSlurmTasks(TaskContract):
    @pytest.fixture
    def site(self, site: SlurmSite) -> SlurmSite:  # type: ignore[override]
        return site


@pytest.mark.engines
class TestSlurmPrograms(ProgramContract):
    @pytest.fixture
    def site(self, site: SlurmSite) -> SlurmSite:  # type: ignore[override]
        return site
