"""Environments of programs for tasks: built once, with the versions of before while a month has not passed."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from determined.environments import programs
from determined.environments.cache_directory import Place
from determined.environments.programs import Program
from determined.errors import FailedPrecondition
from small_wheel import make_wheel

ALPHA = Program("Alpha", ("alpha>=1",), "alphas")


def _version(place: Place) -> str:
    environment = programs.provide(ALPHA, place)
    environment.hold.close()
    script = "import alpha; print(alpha.VERSION)"
    return subprocess.run(
        [environment.interpreter.path, "-I", "-c", script], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_a_program_is_built_once_and_its_lines_name_it(place: Place, said: list[str]) -> None:
    assert _version(place) == "1.0"
    assert said and all(line.startswith("Alpha: ") for line in said)
    said.clear()
    assert _version(place) == "1.0"
    assert said == []


def test_a_newer_release_waits_for_a_month(place: Place, wheels: Path) -> None:
    _version(place)
    make_wheel(wheels, "alpha", "1.1", needs=["beta>=1"])
    assert _version(place) == "1.0"
    _grow_old(place)
    assert _version(place) == "1.1"


def test_a_machine_without_an_index_goes_on_with_what_it_has(place: Place, wheels: Path, said: list[str]) -> None:
    _version(place)
    for wheel in wheels.iterdir():
        wheel.unlink()
    _grow_old(place)
    said.clear()
    assert _version(place) == "1.0"
    assert any("looking for newer versions failed, using those of before" in line for line in said)


def test_a_program_that_cannot_be_had_is_named_with_what_to_do(make_place: Callable[..., Place]) -> None:
    absent = Program("Omega", ("omega>=1",), "omegas")
    with pytest.raises(FailedPrecondition, match=r"Omega is not in the Python of this task") as caught:
        programs.provide(absent, make_place())
    assert "redetermined[omegas]" in str(caught.value) and "omega" in str(caught.value)


def _grow_old(place: Place) -> None:
    """As if the versions had been chosen more than a month ago."""
    past = time.time() - 40 * 86400
    for file in [*(place.root / "programs").iterdir(), *place.resolutions.glob("*.txt")]:
        os.utime(file, (past, past))
