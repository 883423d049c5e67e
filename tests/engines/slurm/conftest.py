"""Start one real Slurm for all tests of this folder, and the parts that suites elsewhere share."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "e2e"))
sys.path.insert(0, str(Path(__file__).parents[2] / "contract"))
sys.path.insert(0, str(Path(__file__).parent))

from slurm_cluster import NEEDED, SlurmCluster


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    if any(shutil.which(program, path=SlurmCluster.PATH) is None for program in NEEDED):
        pytest.skip("Slurm is not installed; run scripts/install_slurm.sh")
    if os.geteuid() != 0:
        pytest.skip("the nodes' device files are made by root")
    cluster = SlurmCluster(tmp_path_factory.mktemp("slurm"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def at_slurm(slurm: SlurmCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlurmCluster]:
    """Slurm's commands find this cluster; no job of a test is left to the next."""
    for name, value in slurm.environment().items():
        monkeypatch.setenv(name, value)
    yield slurm
    slurm.clear()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path
