"""From requirements to a lock, by the real uv over wheels made on the spot."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from determined.config.python_environment import PythonEnvironment
from determined.environments import resolve, uv
from determined.environments.cache_directory import Place, base_python
from determined.errors import EnvironmentUnusable
from small_index import serving
from small_project import make_project
from small_wheel import make_wheel

FILE = PythonEnvironment(requirements="requirements.txt")


def test_a_lock_has_everything_that_is_needed_with_versions_and_hashes(place: Place, context: Path) -> None:
    lock = resolve.resolve(FILE, context, place)
    assert "alpha==1.0" in lock and "beta==1.0" in lock
    assert lock.count("--hash=sha256:") == 2


def test_lines_in_the_config_resolve_as_a_file_does(place: Place, context: Path) -> None:
    assert resolve.resolve(PythonEnvironment(requirements=("alpha",)), context, place) == resolve.resolve(
        FILE, context, place
    )


def test_the_same_requirements_are_resolved_once(place: Place, context: Path, said: list[str]) -> None:
    first = resolve.resolve(FILE, context, place)
    assert resolve.resolve(FILE, context, place) == first
    assert said.count("environment.python: resolving the requirements") == 1


def test_a_resolution_of_yesterday_is_made_anew(place: Place, context: Path, said: list[str]) -> None:
    resolve.resolve(FILE, context, place)
    [file] = place.resolutions.glob("*.txt")
    before = time.time() - 90_000
    os.utime(file, (before, before))
    resolve.resolve(FILE, context, place)
    assert said.count("environment.python: resolving the requirements") == 2


def test_a_new_wheel_in_a_local_directory_counts_at_once(place: Place, context: Path, wheels: Path) -> None:
    assert "alpha==1.0" in resolve.resolve(FILE, context, place)
    make_wheel(wheels, "alpha", "2.0")
    assert "alpha==2.0" in resolve.resolve(FILE, context, place)


def test_a_changed_file_that_the_requirements_include_counts(place: Place, context: Path, wheels: Path) -> None:
    make_wheel(wheels, "alpha", "2.0")
    (context / "requirements.txt").write_text("-r more/pins.txt\n")
    (context / "more").mkdir()
    (context / "more" / "pins.txt").write_text("alpha<2\n")
    assert "alpha==1.0" in resolve.resolve(FILE, context, place)
    (context / "more" / "pins.txt").write_text("alpha\n")
    assert "alpha==2.0" in resolve.resolve(FILE, context, place)


def test_where_packages_come_from_stays_in_the_lock(place: Place, context: Path) -> None:
    make_wheel(context / "own", "gamma")
    (context / "requirements.txt").write_text("--find-links ./own\ngamma\n")
    assert resolve.resolve(FILE, context, place).startswith("--find-links ./own\ngamma==1.0")


def test_where_an_included_file_finds_packages_stays_in_the_lock(place: Place, context: Path) -> None:
    make_wheel(context / "more" / "own", "gamma")
    (context / "more" / "pins.txt").write_text("--find-links ./own\ngamma\n")
    (context / "requirements.txt").write_text("-r more/pins.txt\n")
    assert resolve.resolve(FILE, context, place).startswith("--find-links more/own\ngamma==1.0")


def test_a_lock_has_no_login_of_an_index(make_place: Callable[..., Place], context: Path, tmp_path: Path) -> None:
    make_wheel(tmp_path / "private", "gamma")
    place = make_place(PIP_NO_INDEX="", UV_CACHE_DIR=str(tmp_path / "uv"))
    with serving(tmp_path / "private", "me:s3cret") as url:
        secret = url.replace("://", "://me:s3cret@")
        (context / "requirements.txt").write_text(f"--index-url {secret}\ngamma\n")
        lock = resolve.resolve(FILE, context, place)
        assert resolve.resolve(FILE, context, place) == lock
    assert lock.startswith(f"--index-url {url}\ngamma==1.0")
    assert not any("s3cret" in file.read_text() for file in place.resolutions.glob("*.txt"))


def test_a_project_is_resolved_and_its_packages_are_named_by_their_place(place: Place, context: Path) -> None:
    make_project(context / "pkg", "gamma")
    text = '[project]\nname="me"\nversion="1"\ndependencies=["alpha", "gamma"]\n[tool.uv.sources]\ngamma={path="pkg"}\n'
    (context / "pyproject.toml").write_text(text)
    wanted = PythonEnvironment(requirements="pyproject.toml")
    lock = resolve.resolve(wanted, context, place)
    assert "alpha==1.0" in lock and "./pkg\n" in lock
    (context / "pyproject.toml").write_text(text.replace('path="pkg"', 'path="pkg", editable=true'))
    with pytest.raises(EnvironmentUnusable, match=r"`-e \./pkg` is editable"):
        resolve.resolve(wanted, context, place)


def test_a_lock_of_uv_is_read_with_its_project(place: Place, context: Path, wheels: Path) -> None:
    (context / "pyproject.toml").write_text(
        '[project]\nname="me"\nversion="1"\nrequires-python=">=3.11"\ndependencies=["alpha"]\n'
    )
    words = ["lock", "--no-index", "--find-links", str(wheels), "--python", base_python(None)]
    uv.find_uv(place).run(*words, doing="locking", cwd=context)
    wanted = PythonEnvironment(lock="uv.lock")
    assert resolve.resolve(wanted, context, place).split() == ["alpha==1.0", "beta==1.0"]
    (context / "pyproject.toml").unlink()
    with pytest.raises(EnvironmentUnusable, match=r"there is no pyproject\.toml beside uv\.lock"):
        resolve.resolve(wanted, context, place)


def test_the_index_of_single_packages_stays_in_the_lock(
    make_place: Callable[..., Place], context: Path, tmp_path: Path
) -> None:
    make_wheel(tmp_path / "private", "gamma")
    place = make_place(PIP_NO_INDEX="", UV_CACHE_DIR=str(tmp_path / "uv"))
    with serving(tmp_path / "private") as url:
        (context / "pyproject.toml").write_text(
            '[project]\nname="me"\nversion="1"\ndependencies=["gamma"]\n[tool.uv.sources]\ngamma={index="mine"}\n'
            f'[[tool.uv.index]]\nname="mine"\nurl="{url}"\nexplicit=true\n'
        )
        lock = resolve.resolve(PythonEnvironment(requirements="pyproject.toml"), context, place)
    assert lock.startswith(f"--extra-index-url {url}\ngamma==1.0")


def test_what_cannot_be_met_fails_in_the_resolvers_own_words(place: Place, context: Path) -> None:
    (context / "requirements.txt").write_text("alpha==7\n")
    with pytest.raises(EnvironmentUnusable, match="there is no version of alpha==7"):
        resolve.resolve(FILE, context, place)


def test_a_line_that_is_no_requirement_is_refused(place: Place, context: Path) -> None:
    (context / "requirements.txt").write_text("al pha =\n")
    with pytest.raises(EnvironmentUnusable, match="parse"):
        resolve.resolve(FILE, context, place)


def test_a_lock_is_taken_as_it_is(place: Place, context: Path, said: list[str]) -> None:
    (context / "requirements.lock").write_text("beta==1.0\n")
    assert resolve.resolve(PythonEnvironment(lock="requirements.lock"), context, place) == "beta==1.0\n"
    assert said == []


def test_a_lock_with_a_range_is_no_lock(place: Place, context: Path) -> None:
    (context / "requirements.lock").write_text("beta>=1\n")
    with pytest.raises(EnvironmentUnusable, match="`beta>=1` names no exact version"):
        resolve.resolve(PythonEnvironment(lock="requirements.lock"), context, place)


def test_an_editable_requirement_is_refused(place: Place, context: Path) -> None:
    make_project(context, "gamma")
    (context / "requirements.txt").write_text("-e .\n")
    with pytest.raises(EnvironmentUnusable, match="editable"):
        resolve.resolve(FILE, context, place)


def test_an_editable_requirement_of_an_included_file_is_refused(place: Place, context: Path) -> None:
    make_project(context / "pkg", "gamma")
    (context / "more").mkdir()
    (context / "more" / "pins.txt").write_text("-e ./pkg\n")
    (context / "requirements.txt").write_text("-r more/pins.txt\n")
    with pytest.raises(EnvironmentUnusable, match=r"`-e \./pkg` is editable"):
        resolve.resolve(FILE, context, place)


def test_a_file_that_is_not_there_is_named(place: Place, context: Path) -> None:
    with pytest.raises(EnvironmentUnusable, match=r"environment\.python\.requirements: other\.txt cannot be read"):
        resolve.resolve(PythonEnvironment(requirements="other.txt"), context, place)
