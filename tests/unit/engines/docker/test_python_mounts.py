"""Which paths of this machine are mounted into an image without determined."""

import sys
from pathlib import Path
from typing import Any

import pytest

from determined.engines.docker.python_mounts import PACKAGES, find_python_mounts, paths_of
from determined.errors import FailedPrecondition


def answer(**changes: Any) -> dict[str, object]:
    site = "/srv/venv/lib/python3.11/site-packages"
    return {
        "executable": "/srv/venv/bin/python",
        "real": "/srv/python/bin/python3.11",
        "prefix": "/srv/venv",
        "base": "/srv/python",
        "stdlib": "/srv/python/lib/python3.11",
        "library": "/srv/python/lib/libpython3.11.so.1.0",
        "packages": {name: f"{site}/{name}" for name in PACKAGES},
        **changes,
    }


def test_virtual_environment_is_lent_with_its_python() -> None:
    assert paths_of(answer()) == ("/srv/python", "/srv/venv")


def test_editable_package_is_lent_from_where_it_lies() -> None:
    packages = {"determined": "/home/me/src/determined", "msgspec": "/srv/venv/lib/python3.11/site-packages/msgspec"}
    assert paths_of(answer(packages=packages)) == ("/home/me/src/determined", "/srv/python", "/srv/venv")


def test_python_of_the_system_is_lent_by_its_own_files_alone() -> None:
    """A whole /usr would hide the image's programs."""
    found = answer(base="/nowhere/usr", real="/nowhere/usr/bin/python3.11")
    assert "/nowhere/usr" in paths_of(found)
    system = paths_of(
        answer(
            base="/usr/local",
            executable="/srv/venv/bin/python",
            real="/usr/local/bin/python9.99",
            stdlib="/usr/local/lib/python9.99",
            library=None,
        )
    )
    assert system == ("/srv/venv", "/usr/local/bin/python9.99", "/usr/local/lib/python9.99")


def test_path_that_is_a_link_is_lent_under_both_names(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    found = paths_of(answer(base=str(tmp_path / "link")))
    assert {str(tmp_path / "real"), str(tmp_path / "link")} <= set(found)


def test_our_own_python_can_be_lent() -> None:
    python_mounts = find_python_mounts(sys.executable)
    assert python_mounts.python == sys.executable
    assert all(Path(path).exists() for path in python_mounts.paths)


def test_interpreter_that_does_not_work_is_named() -> None:
    with pytest.raises(FailedPrecondition, match=r"/bin/false does not work.*resource_manager\.python"):
        find_python_mounts("/bin/false")
