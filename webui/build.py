"""Builds the web page into webui/dist: `python webui/build.py [--if-needed]`. Tests and the build hook call it too.

Standard library only: it runs where nothing of ours is installed. node.sh finds Node, or fetches it from PyPI.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HOME = Path(__file__).parent
SOURCES = ("index.html", "package-lock.json", "package.json", "public", "scripts/finish.mjs", "src", "vite.config.ts")


def main(words: list[str]) -> int:
    """`--if-needed`: not when no source has changed."""
    try:
        ensure(if_needed="--if-needed" in words)
    except (OSError, subprocess.CalledProcessError) as e:
        sys.stderr.write(f"the web page was not built: {e}\n")
        return 1
    return 0


def is_built(home: Path = HOME) -> bool:
    return (home / "dist" / "index.html").is_file()


def is_current(home: Path = HOME) -> bool:
    """Whether there is a page that no source is newer than."""
    if not is_built(home):
        return False
    made = (home / "dist" / "index.html").stat().st_mtime
    return all(path.stat().st_mtime <= made for path in _sources(home))


def ensure(home: Path = HOME, *, if_needed: bool = True) -> None:
    """Build unless that has been done; several processes may ask at once.

    Raises: OSError, subprocess.CalledProcessError; what Node and npm say goes to our standard error.
    """
    if if_needed and is_current(home):
        return
    with (home / ".build-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (if_needed and is_current(home)):
            _build(home)


def _build(home: Path) -> None:
    """Aside, and put in place when it is whole: a master may serve the old page meanwhile."""
    sys.stderr.write("building the web page (a minute or more, once)\n")
    if not _is_installed(home):
        _install(home)
    _npm(home, "run", "build", "--silent")
    old = home / "dist.old"
    shutil.rmtree(old, ignore_errors=True)
    if (home / "dist").exists():
        (home / "dist").rename(old)
    (home / "dist.new").rename(home / "dist")
    shutil.rmtree(old, ignore_errors=True)


def _install(home: Path) -> None:
    """Install what the lockfile names and nothing else.

    Not by `npm ci`: npm 11 refuses a lockfile that lists the native parts of other platforms. `npm install` checks the
    hashes too, but may install more than the file names, which is then an error. It may also rewrite the file (some
    releases of npm add the native parts of platforms that others leave out), which is undone.
    """
    lock = home / "package-lock.json"
    before, times = lock.read_bytes(), lock.stat()
    try:
        _npm(home, "install", "--no-audit", "--no-fund", "--silent")
    finally:
        if lock.read_bytes() != before:
            lock.write_bytes(before)
            # A lockfile that looks newer than what was installed from it would be installed again.
            os.utime(lock, ns=(times.st_atime_ns, times.st_mtime_ns))
    unnamed = _packages(_installed(home).read_bytes()) - _packages(before)
    if unnamed:
        shutil.rmtree(home / "node_modules")
        words = ", ".join(sorted(f"{name} {version}" for name, version, _ in unnamed))
        raise OSError(f"npm installed what webui/package-lock.json does not name: {words}; update that file first")


def _packages(lockfile: bytes) -> set[tuple[str, str, str]]:
    """Return path, version and hash of each package of a lockfile, without the project itself."""
    packages = json.loads(lockfile)["packages"].items()
    return {(path, one.get("version", ""), one.get("integrity", "")) for path, one in packages if path}


def _installed(home: Path) -> Path:
    """Return npm's own list of what it has put into node_modules."""
    return home / "node_modules" / ".package-lock.json"


def _is_installed(home: Path) -> bool:
    done = _installed(home)
    return done.is_file() and done.stat().st_mtime >= (home / "package-lock.json").stat().st_mtime


def _npm(home: Path, *words: str) -> None:
    subprocess.run(["sh", "node.sh", "npm", *words], cwd=home, stdout=sys.stderr, check=True)


def _sources(home: Path) -> Iterator[Path]:
    for name in SOURCES:
        place = home / name
        yield from (path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
