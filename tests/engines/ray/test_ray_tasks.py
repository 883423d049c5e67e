"""Submitted tasks on a real Ray cluster of two nodes, each in a network of its own, under a real master."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from ray_cluster import RayCluster, ray_bin
from ray_master import agents, left_over, master_over, ready
from task_contract import ProgramContract, TaskContract, reaches_ports
from task_site import TaskSite

from cluster import Cluster, eventually

pytestmark = [pytest.mark.engines, pytest.mark.timeout(900)]

# The nodes of these tests have no way to a package index: they find what this machine has built for their Python.
BUILD = """
import os
from determined.environments import programs
from determined.environments.cache_directory import place_of
from determined.exec.notebook import kernel, server
from determined.exec.shell_server import library
from determined.exec.tensorboard.__main__ import TENSORBOARD
for program in (server.JUPYTERLAB, kernel.IPYKERNEL, library.ASYNCSSH, TENSORBOARD):
    programs.provide(program, place_of(os.environ, print)).hold.close()
"""


class RaySite(TaskSite):
    """The master gives two slots of each node: a trial of four has both."""

    def __init__(self, cluster: Cluster, place: Path, ray: RayCluster) -> None:
        super().__init__(cluster, place, nodes=2, wide=4)
        self._ray = ray

    def lose_node(self, task_id: str) -> None:
        self._ray.kill_node(self.node_of(task_id).rpartition("-")[0])

    def bring_back(self) -> None:
        self._ray.bring_up("n1", "n2")
        ready(self.cluster, self._ray)

    def left_over(self) -> list[object]:
        return list(left_over(self.cluster.directory))


@pytest.fixture(scope="module")
def site(ray: RayCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RaySite]:
    ray.bring_up("n1", "n2")
    place = tmp_path_factory.mktemp("tasks")
    with master_over(ray, place / "master", {"slots_per_node": 2}) as master:
        ready(master, ray)
        yield RaySite(master, place, ray)


class TestRayTasks(TaskContract):
    @pytest.fixture
    def site(self, site: RaySite) -> RaySite:  # type: ignore[override]
        return site


@pytest.fixture(scope="module")
def programs() -> None:
    subprocess.run([ray_bin() / "python", "-c", BUILD], check=True, timeout=600)


@pytest.mark.usefixtures("programs")
class TestRayPrograms(ProgramContract):
    @pytest.fixture
    def site(self, site: RaySite) -> RaySite:  # type: ignore[override]
        return site


def test_tunnel_to_a_master_with_a_certificate_of_its_own(ray: RayCluster, tmp_path: Path) -> None:
    ray.bring_up("n1", "n2")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=m -addext subjectAltName=IP:{ray.master_address}"
    subprocess.run(["openssl", *words.split(), "-keyout", key, "-out", cert], check=True, capture_output=True)
    with master_over(ray, tmp_path / "master", {}, tls={"cert": str(cert), "key": str(key)}) as master:
        site = TaskSite(master, tmp_path / "site", cert=cert)
        eventually(lambda: ray.agent_id("n1") in agents(site.client), 90, master.log)
        reaches_ports(site)
