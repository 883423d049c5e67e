"""Submitted tasks in containers under a real master. Most of it is for `make test-engines`."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from docker_daemon import DockerDaemon
from host_image import PLAIN
from node_packages import index_mounts, index_variables, libraries_of_uv, libraries_of_wheels
from task_contract import ProgramContract, TaskContract
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
