"""AsyncSSH for the server: the task's own where it is new enough, else one that the node installs."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from determined.environments import programs
from determined.environments.interpreter import PREFIX
from determined.exec.shell_server import library


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An environment as uv builds it, with a module in it."""
    packages = tmp_path / "lib" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "only_of_the_node.py").write_text("NAME = 'found'\n")
    interpreter = SimpleNamespace(prefix=str(tmp_path), packages=(f"{PREFIX}/lib/site-packages",))
    environment = SimpleNamespace(interpreter=interpreter)
    monkeypatch.setattr(programs, "provide", lambda program, place: environment)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return environment


def test_the_tasks_own_is_used_where_it_is_new_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("asyncssh")
    monkeypatch.setattr(programs, "provide", lambda program, place: pytest.fail("nothing is to be installed"))
    assert library.provide(None) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("version", ["2.7.0", "1.17", "strange"])
def test_an_old_one_is_passed_over(version: str, built: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "version", lambda name: version)
    assert library.provide(None) is built  # type: ignore[arg-type]
    import only_of_the_node  # type: ignore[import-not-found]

    assert only_of_the_node.NAME == "found"
