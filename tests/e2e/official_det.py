"""The official client's `det` for tests of tasks: the fixture, and the id that it prints."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cluster import Cluster, official

Det = Callable[..., "subprocess.CompletedProcess[str]"]
_LAUNCHED = re.compile(r"Launched .* \(id: (.*), name: (.*)\)")


@pytest.fixture
def det(cluster: Cluster, home: Path, tmp_path: Path) -> Det:
    """The official `det` in a directory of its own."""

    def run(*words: str, check: bool = True, **options: Any) -> "subprocess.CompletedProcess[str]":
        return official(home, *words, master=cluster.url, check=check, cwd=tmp_path, **options)

    return run


def launched(done: "subprocess.CompletedProcess[str]") -> str:
    """The id, within the first two lines as scripts look for it."""
    match = next(filter(None, map(_LAUNCHED.search, done.stdout.splitlines()[:2])), None)
    assert match, done.stdout
    return match[1]
