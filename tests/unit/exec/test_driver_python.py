"""Which Python reaches a store."""

import importlib.util
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from determined.environments.cache_directory import Place
from determined.environments.programs import Program
from determined.exec import driver_python
from determined.storage.shared_fs.config import section_at

BUCKET = {"type": "s3", "bucket": "b"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, {}, lambda text: None)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Program]:
    """Environments that were asked for. They lack determined, as all that an index gives."""
    asked: list[Program] = []

    def provide(program: Program, place: Place) -> Any:
        asked.append(program)
        return SimpleNamespace(interpreter=SimpleNamespace(path="/env/bin/python", missing=("determined",)))

    monkeypatch.setattr(driver_python.programs, "provide", provide)
    return asked


def test_a_mounted_store_is_reached_by_the_tasks_own(place: Place, built: list[Program]) -> None:
    found = driver_python.find_python([section_at("/store")], place, {"A": "1"})
    assert (found.path, found.variables, built) == (sys.executable, {"A": "1"}, [])


def test_a_python_that_has_the_driver_is_used(
    place: Place, built: list[Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_python, "find_spec", lambda name: object())
    assert driver_python.find_python([BUCKET], place, {}).path == sys.executable
    assert built == []


def test_a_missing_driver_comes_from_an_environment_with_our_own_package(
    place: Place, built: list[Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_python, "find_spec", lambda name: None)
    monkeypatch.setattr(tempfile, "tempdir", str(place.root))
    sections = [BUCKET, section_at("/store"), {"type": "gcs", "bucket": "b"}, BUCKET]
    found = driver_python.find_python(sections, place, {"PYTHONPATH": "/of/the/task", "A": "1"})
    assert found.argv("m", "x") == ["/env/bin/python", "-P", "-m", "m", "x"]
    assert built[0].requirements[:2] == ("gcsfs", "s3fs")
    assert built[0].extra == "gcs,s3"
    links = Path(found.variables["PYTHONPATH"])
    assert found.variables["A"] == "1"
    spec = importlib.util.find_spec("determined")
    assert spec is not None and spec.submodule_search_locations is not None
    assert {path.name: str(path.readlink()) for path in links.iterdir()} == {
        "determined": next(iter(spec.submodule_search_locations))
    }
