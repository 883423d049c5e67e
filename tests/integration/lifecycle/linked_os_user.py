"""An OS user other than the master's, and what tasks need to run as that user."""

import os
import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import determined

NOBODY = {"agentUid": 65534, "agentGid": 65534, "agentUser": "nobody", "agentGroup": "nogroup"}
DEBIAN_PYTHON = Path("/usr/bin/python3")  # the tests' own may lie in a home that others cannot enter

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="switching users needs root")


@pytest.fixture
def place() -> Iterator[Path]:
    """Like tmp_path, but other users can get there. Not in /tmp, of which a task sees its own."""
    path = Path(tempfile.mkdtemp(dir="/var/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def python(place: Path) -> str:
    """An interpreter everybody can enter, with our package and what it needs."""
    if not DEBIAN_PYTHON.exists() or not _same_version():
        pytest.skip("needs a system Python of the version the tests run with")
    ours = [str(Path(determined.__file__).parents[1]), *site.getsitepackages()]
    if not all(_others_can_enter(Path(each)) for each in ours):
        pytest.skip("needs a checkout that other users can enter")
    subprocess.run([DEBIAN_PYTHON, "-m", "venv", "--without-pip", place / "venv"], check=True)
    (packages_of(place) / "determined.pth").write_text("\n".join(ours) + "\n")
    return str(place / "venv" / "bin" / "python")


def packages_of(place: Path) -> Path:
    """Return the directory of the packages of `python`."""
    [packages] = (place / "venv" / "lib").glob("python3*/site-packages")
    return packages


def link(master: Any, **changes: Any) -> None:
    """Link the user `determined` to nobody."""
    body = {"agentUserGroup": {**NOBODY, **changes}}
    answer = master.client("admin").patch("/api/v1/users/2", body)
    assert answer.status == 200, answer.raw


def _others_can_enter(directory: Path) -> bool:
    return all(each.stat().st_mode & 0o001 for each in (directory, *directory.parents))


def _same_version() -> bool:
    asked = [DEBIAN_PYTHON, "-c", "import sys; print(*sys.version_info[:2])"]
    theirs = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    return theirs == [str(n) for n in sys.version_info[:2]]
