"""A fake master and a real runner process for each test."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_master import FakeMaster, RunnerUnderTest
from forked_runner import ForkedRunnerUnderTest

from determined.engines.host.fork_server import ForkServer


@pytest.fixture
def fake_master() -> Iterator[FakeMaster]:
    running = FakeMaster()
    yield running
    running.close()


@pytest.fixture(scope="session")
def fork_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    """A server that has imported what every runner needs, and no packages of anybody."""
    server = ForkServer(sys.executable, None, tmp_path_factory.mktemp("server") / "log")
    yield server
    server.close()


@pytest.fixture(params=[False, True], ids=["started", "forked"])
def is_forked(request: pytest.FixtureRequest) -> bool:
    """Whether `runner` and `make_runner` give runners that are forked. A module of tests may need only one kind."""
    forked: bool = request.param
    return forked


@pytest.fixture
def make_runner(
    request: pytest.FixtureRequest, fake_master: FakeMaster, tmp_path: Path, is_forked: bool
) -> Iterator[Callable[..., RunnerUnderTest]]:
    """Runners with their own launch fields; each on a directory of its own."""
    made: list[RunnerUnderTest] = []

    def make(**launch: Any) -> RunnerUnderTest:
        path = tmp_path / f"run{len(made) or ''}"
        if is_forked:
            server: ForkServer = request.getfixturevalue("fork_server")
            made.append(ForkedRunnerUnderTest(server, fake_master, path, **launch))
        else:
            made.append(RunnerUnderTest(fake_master, path, **launch))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def runner(make_runner: Callable[..., RunnerUnderTest]) -> RunnerUnderTest:
    return make_runner()
