"""A shell server for each test that asks for one."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from shell_rig import ShellRig


@pytest.fixture
def directory() -> Iterator[Path]:
    yield from _directory()


@pytest.fixture
def rig(directory: Path) -> Iterator[ShellRig]:
    yield from _rig(directory)


@pytest.fixture(scope="module")
def module_directory() -> Iterator[Path]:
    yield from _directory()


@pytest.fixture(scope="module")
def shared_rig(module_directory: Path) -> Iterator[ShellRig]:
    """One server for the tests of a file that leave it as they found it."""
    yield from _rig(module_directory)


def _directory() -> Iterator[Path]:
    """Make a short path: a Unix socket has at most 107 characters."""
    path = Path(tempfile.mkdtemp(prefix="shell-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


def _rig(directory: Path) -> Iterator[ShellRig]:
    pytest.importorskip("asyncssh")
    if shutil.which("ssh") is None:
        pytest.skip("there is no OpenSSH client here: apt-get install openssh-client")
    rig = ShellRig(directory)
    try:
        rig.wait_until_ready()
        yield rig
    finally:
        rig.close()
