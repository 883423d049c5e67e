"""Submitted tasks on a real Slurm under a real master."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from slurm_cluster import SlurmCluster
from task_contract import ProgramContract, TaskContract, reaches_ports
from task_site import TaskSite

from cluster import Cluster, eventually

STAYS = "echo begun; while :; do sleep 1; done"


class SlurmSite(TaskSite):
    """Jobs have two GPUs a node: a trial of four slots has two nodes."""

    def __init__(self, place: Path, slurm: SlurmCluster) -> None:
        manager = {"type": "slurm", "run_root": str(place / "runs"), "job_storage_root": str(place)}
        cluster = Cluster(place / "master", slots=None, config={"resource_manager": manager})
        cluster.start()
        self.slurm = slurm
        super().__init__(cluster, place, nodes=2, wide=4)

    def left_over(self) -> list[str]:
        return self.slurm.command("squeue", "-h", "-o", "%i %T %N").splitlines()

    def lose_node(self, task_id: str) -> None:
        self.slurm.lose_node(self.node_of(task_id))

    def bring_back(self) -> None:
        self.slurm.clear()

    def close(self) -> None:
        self.slurm.clear()
        self.cluster.stop()
        eventually(lambda: not self.slurm.steps(), 20)


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


def test_ports_of_a_command_on_a_node_are_reached(site: SlurmSite) -> None:
    reaches_ports(site)


@pytest.mark.engines
def test_command_and_generic_task_are_sent_away_by_slurm(site: SlurmSite) -> None:
    command, generic = site.launch("command", STAYS), site.launch_generic(STAYS)
    for task_id in (command, generic):
        site.until_said(task_id, "begun")
    words = ("sbatch", "-p", "urgent", "-N", "3", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 1")
    site.slurm.command(*words)
    assert "its node was taken away" in site.until_ended("command", command)
    site.until_said(generic, "begun", times=2)
    site.client.post(f"/api/v1/tasks/{generic}/kill", {})
    site.until(lambda: not site.left_over(), generic)


@pytest.mark.engines
def test_command_and_generic_task_that_somebody_cancels_in_slurm_end(site: SlurmSite) -> None:
    command, generic = site.launch("command", STAYS), site.launch_generic(STAYS)
    for task_id in (command, generic):
        site.until_said(task_id, "begun")
    for job in site.left_over():
        site.slurm.command("scancel", job.split()[0])
    assert "its node was taken away" in site.until_ended("command", command)
    site.until(lambda: site.generic_state(generic) == "CANCELED", generic)
    assert "is CANCELLED" in site.lines(generic)
    site.until(lambda: not site.left_over(), generic)
