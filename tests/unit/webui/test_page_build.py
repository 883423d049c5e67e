"""When the web page is built again: nothing built, a newer source; and never twice for the same sources."""

import importlib.util
import json
import os
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
REACT = {"version": "1.0.0", "integrity": "sha512-AAAA"}
PACKAGES: dict[str, object] = {"node_modules/react": REACT}


@pytest.fixture
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("webui_build", ROOT / "webui" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def home(tmp_path: Path, build: ModuleType) -> Path:
    """Sources of a page, all of one moment, and a Node that only takes notes."""
    for name in build.SOURCES:
        place = tmp_path / (name if "." in name else f"{name}/part.ts")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("source")
        os.utime(place, (1_000, 1_000))
    _write_lock(tmp_path / "package-lock.json", PACKAGES)
    _fake_node(tmp_path, PACKAGES)
    return tmp_path


def _fake_node(home: Path, packages: dict[str, object]) -> None:
    """Let `npm install` install these packages, and `npm run build` build an empty page."""
    _write_lock(home / "installed.json", packages)
    (home / "node.sh").write_text(
        'echo "$@" >> calls\n'
        'if [ "$2" = install ]; then mkdir -p node_modules && cp installed.json node_modules/.package-lock.json; fi\n'
        'if [ "$3" = build ]; then mkdir -p dist.new && touch dist.new/index.html; fi\n'
    )


def _write_lock(path: Path, packages: dict[str, object]) -> None:
    path.write_text(json.dumps({"packages": {"": {"name": "page"}, **packages}}))
    os.utime(path, (1_000, 1_000))


def _calls(home: Path) -> list[str]:
    return (home / "calls").read_text().splitlines()


def test_a_page_is_built_once_and_packages_are_fetched_first(build: ModuleType, home: Path) -> None:
    assert not build.is_built(home)
    build.ensure(home)
    build.ensure(home)
    assert build.is_built(home)
    assert _calls(home) == ["npm install --no-audit --no-fund --silent", "npm run build --silent"]


def test_a_newer_source_asks_for_another_build(build: ModuleType, home: Path) -> None:
    build.ensure(home)
    assert build.is_current(home)
    later = (home / "dist" / "index.html").stat().st_mtime + 10
    os.utime(home / "src" / "part.ts", (later, later))
    assert not build.is_current(home)


def test_sources_and_page_of_one_moment_are_current(build: ModuleType, home: Path) -> None:
    """As an unpacked source distribution has them."""
    (home / "dist").mkdir()
    (home / "dist" / "index.html").write_text("page")
    os.utime(home / "dist" / "index.html", (1_000, 1_000))
    assert build.is_current(home)


def test_packages_that_are_there_are_not_fetched_again(build: ModuleType, home: Path) -> None:
    (home / "node_modules").mkdir()
    (home / "node_modules" / ".package-lock.json").write_text("{}")
    build.ensure(home)
    assert _calls(home) == ["npm run build --silent"]


def test_npm_may_name_more_platforms_in_the_lockfile_which_stays_as_it_was(build: ModuleType, home: Path) -> None:
    lock = home / "package-lock.json"
    before = lock.read_bytes()
    with (home / "node.sh").open("a") as script:
        script.write('if [ "$2" = install ]; then echo "{}" > package-lock.json; fi\n')
    build.ensure(home)
    assert lock.read_bytes() == before
    build.ensure(home, if_needed=False)
    assert _calls(home) == ["npm install --no-audit --no-fund --silent", *["npm run build --silent"] * 2]


@pytest.mark.parametrize("change", [{"version": "2.0.0"}, {"integrity": "sha512-BBBB"}])
def test_a_package_that_the_lockfile_does_not_name_is_refused_and_removed(
    build: ModuleType, home: Path, change: dict[str, str]
) -> None:
    _fake_node(home, {"node_modules/react": {**REACT, **change}})
    with pytest.raises(OSError, match=r"does not name: node_modules/react .*update that file"):
        build.ensure(home)
    assert not (home / "node_modules").exists()


def test_the_old_page_stays_until_the_new_one_is_whole(build: ModuleType, home: Path) -> None:
    build.ensure(home)
    (home / "dist" / "mark").touch()
    (home / "node.sh").write_text("exit 1\n")
    with pytest.raises(subprocess.CalledProcessError):
        build.ensure(home, if_needed=False)
    assert (home / "dist" / "mark").exists()
    (home / "node.sh").write_text("mkdir -p dist.new && touch dist.new/index.html\n")
    build.ensure(home, if_needed=False)
    assert [path.name for path in (home / "dist").iterdir()] == ["index.html"]
