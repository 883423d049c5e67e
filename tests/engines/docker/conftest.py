"""Start one real Docker for all tests of this folder, with images made of this machine's own files."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "e2e"))
sys.path.insert(0, str(Path(__file__).parents[2] / "contract"))
sys.path.insert(0, str(Path(__file__).parent))

from docker_daemon import NEEDED, DockerDaemon


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DockerDaemon]:
    if any(shutil.which(program, path=DockerDaemon.PATH) is None for program in NEEDED):
        pytest.skip("Docker is not installed; run scripts/install_docker.sh")
    daemon = DockerDaemon(tmp_path_factory.mktemp("docker"))
    try:
        daemon.start()
        yield daemon
    finally:
        daemon.stop()


@pytest.fixture
def docker(daemon: DockerDaemon) -> Iterator[DockerDaemon]:
    """No container of a test is left to the next."""
    yield daemon
    daemon.clear()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path
