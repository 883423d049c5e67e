"""Packages that the project installs and builds with are pinned: versions in constraints.txt, hashes in
requirements-*.txt.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PIN = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", re.MULTILINE)


def _pins(name: str) -> dict[str, str]:
    return {package.lower(): version for package, version in _PIN.findall((ROOT / name).read_text())}


def test_every_pinned_package_but_torch_has_its_hashes() -> None:
    pins = _pins("constraints.txt")
    del pins["torch"]  # its CPU build and the index's are different files of one version
    assert _pins("requirements-dev.txt") == pins, "run: make lock"
    assert not _without_hash("requirements-dev.txt")


def test_every_package_of_the_documentation_site_has_its_hashes() -> None:
    named = (ROOT / "scripts" / "guide" / "requirements.in").read_text().splitlines()
    assert {line for line in named if not line.startswith("#")} <= set(_pins("requirements-docs.txt")), "run: make lock"
    assert not _without_hash("requirements-docs.txt")


def test_the_build_of_wheels_is_pinned_by_version_and_hash() -> None:
    pins = _pins("constraints.txt")
    required = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert required == [f"hatchling=={pins['hatchling']}"], "pin it as constraints.txt does"
    build = _pins("requirements-build.txt")
    assert {"build", "hatchling"} <= set(build), "run: make lock"
    assert {name: pins.get(name, version) for name, version in build.items()} == build, "run: make lock"
    assert not _without_hash("requirements-build.txt")
    script = (ROOT / "scripts" / "build_wheel.sh").read_text()
    assert script.count("--require-hashes") == script.count("requirements-build.txt", script.index("set -eu")) == 2


def _without_hash(name: str) -> list[str]:
    blocks = (ROOT / name).read_text().replace("\\\n", " ").splitlines()
    return [block for block in blocks if block.strip() and "--hash=sha256:" not in block]


def test_the_web_pages_packages_are_exact_and_have_hashes() -> None:
    lock = (ROOT / "webui" / "package-lock.json").read_text()
    assert lock.count('"integrity": "sha512-') >= lock.count('"resolved"') > 0 or '"resolved"' not in lock
    declared = (ROOT / "webui" / "package.json").read_text()
    assert not re.search(r'"[\^~]\d', declared), "pin exact versions in webui/package.json"
