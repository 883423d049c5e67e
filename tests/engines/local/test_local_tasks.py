"""Submitted tasks as processes of this machine under a real master."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from served_program import shared_cache
from task_contract import ProgramContract, TaskContract
from task_site import TaskSite

from cluster import Cluster


class LocalSite(TaskSite):
    """Programs of other people are built once for all tests of a run."""

    def __init__(self, place: Path, environments: Path) -> None:
        cluster = Cluster(place / "master")
        cluster.start()
        variables = [f"DET_ENVIRONMENT_CACHE={environments}"]
        super().__init__(cluster, place, task={"environment": {"environment_variables": variables}})

    def left_over(self) -> list[Path]:
        return list((self.cluster.directory / "runs").glob("*/lock"))

    def lose_node(self, task_id: str) -> None:
        """There is one node: its runners are killed."""
        self.cluster.end_runners()

    def close(self) -> None:
        self.cluster.stop()
        self.cluster.end_runners()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSite]:
    site = LocalSite(tmp_path_factory.mktemp("tasks"), shared_cache(tmp_path_factory.getbasetemp()))
    yield site
    site.close()


class TestLocalTasks(TaskContract):
    @pytest.fixture
    def site(self, site: LocalSite) -> LocalSite:  # type: ignore[override]
        return site


class TestLocalPrograms(ProgramContract):
    @pytest.fixture
    def site(self, site: LocalSite) -> LocalSite:  # type: ignore[override]
        return site
