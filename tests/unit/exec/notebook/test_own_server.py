"""JupyterLab of a notebook: the user's own where it is recent enough, else the node's."""

import sys
from pathlib import Path

import pytest

from determined.environments import programs
from determined.environments.cache_directory import Place
from determined.errors import FailedPrecondition
from determined.exec.notebook import server

OWN = {"jupyterlab": "4.2.5", "jupyter_server": "2.14.0"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "cache", {}, lambda text: None)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Packages of the task's Python, as its search path has them."""
    packages = tmp_path / "packages"
    packages.mkdir()
    monkeypatch.setattr(sys, "path", [str(packages), *sys.path])
    return packages


def install(packages: Path, distributions: dict[str, str]) -> None:
    for name, version in distributions.items():
        information = packages / f"{name}-{version}.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Programs that the node was asked for; it has none."""
    asked: list[str] = []

    def provide(program: programs.Program, place: Place) -> None:
        asked.append(program.name)
        raise FailedPrecondition("no index")

    monkeypatch.setattr(programs, "provide", provide)
    return asked


def test_a_jupyterlab_of_the_users_own_is_started_and_nothing_is_installed(
    packages: Path, place: Place, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    install(packages, OWN)
    found = server.find_server(place)
    assert (found.python, found.environment, asked) == (sys.executable, None, [])
    assert f"JupyterLab 4.2.5 of {sys.executable}" in capsys.readouterr().out
    words = found.argv(Path("config.json"))
    assert words[:2] == [sys.executable, "-P"], "its packages are the user's: -I would hide those of PYTHONPATH"


@pytest.mark.parametrize(
    "distributions",
    [
        pytest.param({}, id="none"),
        pytest.param({**OWN, "jupyterlab": "3.6.8"}, id="a JupyterLab that does not know our settings"),
        pytest.param({**OWN, "jupyter_server": "1.24.0"}, id="a server that does not know our settings"),
        pytest.param({"jupyterlab": "4.2.5"}, id="a JupyterLab without its server"),
    ],
)
def test_else_the_node_provides_one(
    packages: Path, place: Place, asked: list[str], distributions: dict[str, str]
) -> None:
    install(packages, distributions)
    with pytest.raises(FailedPrecondition, match="no index"):
        server.find_server(place)
    assert asked == ["JupyterLab"]
