"""Submitted tasks in containers under a real master. Most of it is for `make test-engines`."""

import random
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from docker_daemon import DockerDaemon
from host_image import PLAIN
from node_packages import index_mounts, index_variables, libraries_of_uv, libraries_of_wheels
from task_contract import ProgramContract, TaskContract, reaches_ports
from task_site import TaskSite

from cluster import Cluster


class DockerSite(TaskSite):
    """Tasks of an image that has a shell and a Python, and nothing of ours."""

    def __init__(self, place: Path, daemon: DockerDaemon) -> None:
        manager = {"type": "docker", "socket": daemon.socket, "slots": 2}
        cluster = Cluster(place / "master", config={"resource_manager": manager})
        cluster.start()
        self._daemon = daemon
        shared = {"host_path": str(place / "shared"), "container_path": str(place / "shared")}
        task = {
            "environment": {"image": daemon.image(PLAIN), "environment_variables": index_variables()},
            "bind_mounts": [shared, *libraries_of_uv(), *libraries_of_wheels(), *index_mounts()],
        }
        super().__init__(cluster, place, task=task)

    def left_over(self) -> list[str]:
        return self._daemon.command("ps", "-aq").split()

    def lose_node(self, task_id: str) -> None:
        """There is one node: its containers are killed."""
        self._daemon.command("kill", *self.left_over())

    def close(self) -> None:
        self.cluster.stop()
        self._daemon.clear()


@pytest.fixture(scope="module")
def site(daemon: DockerDaemon, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DockerSite]:
    site = DockerSite(tmp_path_factory.mktemp("tasks"), daemon)
    yield site
    site.close()


@pytest.mark.engines
class TestDockerTasks(TaskContract):
    @pytest.fixture
    def site(self, site: DockerSite) -> DockerSite:  # type: ignore[override]
        return site


@pytest.mark.engines
class TestDockerPrograms(ProgramContract):
    @pytest.fixture
    def site(self, site: DockerSite) -> DockerSite:  # type: ignore[override]
        return site


@pytest.fixture
def bridge() -> Iterator[tuple[str, str]]:
    """An interface for containers, and the address of this machine there."""
    name, address = f"detb{secrets.token_hex(3)}", f"10.{random.SystemRandom().randrange(64, 250)}.7.1"
    try:
        for words in (f"add {name} type bridge", f"set {name} up"):
            subprocess.run(["ip", "link", *words.split()], check=True)
        subprocess.run(["ip", "addr", "add", f"{address}/24", "dev", name], check=True)
        yield name, address
    finally:
        subprocess.run(["ip", "link", "del", name], check=False)


@pytest.mark.engines
def test_ports_of_a_command_in_a_network_of_its_own_are_reached(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, daemon: DockerDaemon, bridge: tuple[str, str]
) -> None:
    own = DockerDaemon(tmp_path_factory.mktemp("docker"), bridge[0])
    manager = {"type": "docker", "socket": own.socket, "network": "bridge"}
    cluster = Cluster(tmp_path / "master", host=bridge[1], config={"resource_manager": manager})
    try:
        own.start()
        cluster.start()
        reaches_ports(TaskSite(cluster, tmp_path, task={"environment": {"image": own.image(PLAIN)}}))
    finally:
        cluster.stop()
        own.stop()
