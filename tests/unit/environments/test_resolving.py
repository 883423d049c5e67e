"""From requirements to a lock, by the real uv over wheels made on the spot."""

import os
import time
from pathlib import Path

import pytest

from determined.config.python_environment import PythonEnvironment
from determined.environments import resolving
from determined.environments.place import Place
from determined.errors import EnvironmentUnusable
from small_wheel import make_wheel

FILE = PythonEnvironment(requirements="requirements.txt")


def test_a_lock_has_everything_that_is_needed_with_versions_and_hashes(place: Place, context: Path) -> None:
    lock = resolving.resolve(FILE, context, place)
    assert "alpha==1.0" in lock and "beta==1.0" in lock
    assert lock.count("--hash=sha256:") == 2


def test_lines_in_the_config_resolve_as_a_file_does(place: Place, context: Path) -> None:
    assert resolving.resolve(PythonEnvironment(requirements=("alpha",)), context, place) == resolving.resolve(
        FILE, context, place
    )


def test_the_same_requirements_are_resolved_once(place: Place, context: Path, said: list[str]) -> None:
    first = resolving.resolve(FILE, context, place)
    assert resolving.resolve(FILE, context, place) == first
    assert said.count("environment.python: resolving the requirements") == 1


def test_a_resolution_of_yesterday_is_made_anew(place: Place, context: Path, said: list[str]) -> None:
    resolving.resolve(FILE, context, place)
    [file] = place.resolutions.glob("*.txt")
    before = time.time() - 90_000
    os.utime(file, (before, before))
    resolving.resolve(FILE, context, place)
    assert said.count("environment.python: resolving the requirements") == 2


def test_a_new_wheel_in_a_local_directory_counts_at_once(place: Place, context: Path, wheels: Path) -> None:
    assert "alpha==1.0" in resolving.resolve(FILE, context, place)
    make_wheel(wheels, "alpha", "2.0")
    assert "alpha==2.0" in resolving.resolve(FILE, context, place)


def test_a_changed_file_that_the_requirements_include_counts(place: Place, context: Path, wheels: Path) -> None:
    make_wheel(wheels, "alpha", "2.0")
    (context / "requirements.txt").write_text("-r more/pins.txt\n")
    (context / "more").mkdir()
    (context / "more" / "pins.txt").write_text("alpha<2\n")
    assert "alpha==1.0" in resolving.resolve(FILE, context, place)
    (context / "more" / "pins.txt").write_text("alpha\n")
    assert "alpha==2.0" in resolving.resolve(FILE, context, place)


def test_where_packages_come_from_stays_in_the_lock(place: Place, context: Path) -> None:
    make_wheel(context / "own", "gamma")
    (context / "requirements.txt").write_text("--find-links ./own\ngamma\n")
    assert resolving.resolve(FILE, context, place).startswith("--find-links ./own\ngamma==1.0")


def test_what_cannot_be_met_fails_in_the_resolvers_own_words(place: Place, context: Path) -> None:
    (context / "requirements.txt").write_text("alpha==7\n")
    with pytest.raises(EnvironmentUnusable, match="there is no version of alpha==7"):
        resolving.resolve(FILE, context, place)


def test_a_line_that_is_no_requirement_is_refused(place: Place, context: Path) -> None:
    (context / "requirements.txt").write_text("al pha =\n")
    with pytest.raises(EnvironmentUnusable, match="parse"):
        resolving.resolve(FILE, context, place)


def test_a_lock_is_taken_as_it_is(place: Place, context: Path, said: list[str]) -> None:
    (context / "requirements.lock").write_text("beta==1.0\n")
    assert resolving.resolve(PythonEnvironment(lock="requirements.lock"), context, place) == "beta==1.0\n"
    assert said == []


def test_a_lock_with_a_range_is_no_lock(place: Place, context: Path) -> None:
    (context / "requirements.lock").write_text("beta>=1\n")
    with pytest.raises(EnvironmentUnusable, match="`beta>=1` names no exact version"):
        resolving.resolve(PythonEnvironment(lock="requirements.lock"), context, place)


def test_an_editable_requirement_is_refused(place: Place, context: Path) -> None:
    (context / "requirements.txt").write_text("-e .\n")
    with pytest.raises(EnvironmentUnusable, match="editable"):
        resolving.resolve(FILE, context, place)


def test_a_file_that_is_not_there_is_named(place: Place, context: Path) -> None:
    with pytest.raises(EnvironmentUnusable, match=r"environment\.python\.requirements: other\.txt cannot be read"):
        resolving.resolve(PythonEnvironment(requirements="other.txt"), context, place)
