"""Builds the documentation site into build/guide: `python scripts/guide/build.py [--if-needed]`.

Standard library only: the hook of the wheel calls it where nothing of ours is installed. The generator (Zensical) has
an environment of its own, .venv-docs, made from requirements-docs.txt.
"""

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, STDOUT
from types import ModuleType

ROOT = Path(__file__).parents[2]
SOURCES = (
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benchmarks/results",
    "docs",
    "examples",
    "scripts/guide",
    "src/determined",
)
READ = (".md", ".in", ".json", ".png", ".py", ".svg", ".toml", ".yaml")


def main(words: list[str]) -> int:
    """`--if-needed`: not when no source has changed."""
    try:
        ensure(if_needed="--if-needed" in words)
    except (OSError, subprocess.CalledProcessError) as e:
        sys.stderr.write(f"the documentation site was not built: {e}\n")
        return 1
    return 0


def site(root: Path = ROOT) -> Path:
    return root / "build" / "guide"


def is_built(root: Path = ROOT) -> bool:
    return (site(root) / "index.html").is_file()


def is_current(root: Path = ROOT) -> bool:
    """Tell whether there is a site that no source is newer than."""
    if not is_built(root):
        return False
    made = (site(root) / "index.html").stat().st_mtime
    return all(path.stat().st_mtime <= made for path in _sources(root))


def ensure(root: Path = ROOT, *, if_needed: bool = True) -> None:
    """Build unless that has been done; several processes may ask at once.

    Raises: OSError, subprocess.CalledProcessError; what the generator says goes to our standard error.
    """
    if if_needed and is_current(root):
        return
    (root / "build").mkdir(exist_ok=True)
    with (root / "build" / ".guide-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (if_needed and is_current(root)):
            _build(root)


def _build(root: Path) -> None:
    """Build aside, and put in place when it is whole: a master may serve the old site meanwhile."""
    work, made = root / "build" / "guide.work", site(root)
    shutil.rmtree(work, ignore_errors=True)
    _stage(root, work)
    _generate(root, work)
    _part("finish").finish(work / "site")
    os.utime(work / "site" / "index.html")
    shutil.rmtree(made, ignore_errors=True)
    (work / "site").rename(made)
    shutil.rmtree(work)


def _stage(root: Path, work: Path) -> None:
    stage = _part("stage")
    try:
        stage.stage(work / "pages", root)
    except stage.LinkLeavesTheSite as e:
        raise OSError(str(e)) from e
    settings = (Path(__file__).parent / "zensical.toml").read_text()
    settings = settings.replace("@SRC@", str(root / "src")).replace("@HERE@", str(Path(__file__).parent))
    places = f'[project]\ndocs_dir = "pages"\nsite_dir = "site"\nnav = {stage.navigation(root)}'
    (work / "zensical.toml").write_text(settings.replace("[project]", places, 1))


def _generate(root: Path, work: Path) -> None:
    python = root / ".venv-docs" / "bin" / "python"
    if not _has_generator(root, python):
        _install(root)
    command = [str(python), "-m", "zensical", "build", "--strict"]
    variables = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=work, env=variables, stdout=PIPE, stderr=STDOUT, text=True, check=False)
    sys.stderr.write(done.stdout)
    if done.returncode != 0 or "griffe: " in done.stdout:  # what griffe says of docstrings does not end a strict build
        raise OSError("the generator warned; correct what the lines above name")


def _has_generator(root: Path, python: Path) -> bool:
    """Tell whether the environment was made from today's requirements."""
    installed = root / ".venv-docs" / "requirements-docs.txt"
    return python.is_file() and installed.is_file() and installed.read_bytes() == _requirements(root).read_bytes()


def _install(root: Path) -> None:
    """Make the environment, and note what it was made from last."""
    words = ["scripts/pip_install.sh", ".venv-docs", "--require-hashes", "-r", "requirements-docs.txt"]
    subprocess.run(["sh", "scripts/retry.sh", "sh", *words], cwd=root, stdout=sys.stderr, check=True)
    shutil.copy(_requirements(root), root / ".venv-docs")


def _requirements(root: Path) -> Path:
    return root / "requirements-docs.txt"


def _part(name: str) -> ModuleType:
    """Load a file beside this one by its path: a build frontend may have another module of that name."""
    spec = importlib.util.spec_from_file_location(f"guide_{name}", Path(__file__).parent / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def _sources(root: Path) -> Iterator[Path]:
    for name in SOURCES:
        place = root / name
        files = place.rglob("*") if place.is_dir() else [place]
        yield from (path for path in files if path.suffix in READ)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
