"""A daemon for each test that asks for one; and the tests of this folder import docker_socket by bare name."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder to the path

from docker_socket import Daemon


@pytest.fixture
async def daemon(tmp_path: Path) -> AsyncIterator[Daemon]:
    daemon = Daemon(str(tmp_path / "sock"))
    server = await asyncio.start_unix_server(daemon.serve, daemon.socket)
    yield daemon
    server.close()
    await server.wait_closed()
