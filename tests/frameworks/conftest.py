"""A master for the examples of every framework; in a framework's own environment, only the tests that are for it."""

import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import compatibility_table  # noqa: E402

if TYPE_CHECKING:
    from journeys import Bench

_UNIT = HERE / "unit"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-table", action="store_true", help="put the outcomes into docs/frameworks.md")


def pytest_configure(config: pytest.Config) -> None:
    """Warnings that frameworks give about themselves are no defects of ours."""
    if kind_of_this_python() is not None:
        config.addinivalue_line("filterwarnings", "default")
    if config.getoption("--write-table", default=False):
        config.pluginmanager.register(compatibility_table.Writer(), "compatibility-table")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """`unit/<package>/PYTHON` names the environments whose Python can import what its tests need."""
    if not collection_path.is_relative_to(_UNIT) or collection_path == _UNIT:
        return None
    package = _UNIT / collection_path.relative_to(_UNIT).parts[0]
    kinds = package / "PYTHON"
    if not kinds.is_file():
        return None
    return True if kind_of_this_python() not in kinds.read_text().split() else None


def kind_of_this_python() -> str | None:
    """`current` or `tf215`; None in an environment without the frameworks."""
    try:
        version = importlib.metadata.version("tensorflow-cpu")
    except importlib.metadata.PackageNotFoundError:
        return None
    return "tf215" if version.startswith("2.15.") else "current"


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Bench]":
    """Start a master with two slots for all rows."""
    from journeys import Bench

    from cluster import Client, Cluster

    directory = tmp_path_factory.mktemp("frameworks")
    cluster = Cluster(directory / "cluster")
    cluster.start()
    yield Bench(cluster, Client(cluster.url), directory)
    cluster.stop()
    cluster.end_runners()
