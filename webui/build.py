"""Builds the web page into webui/dist: `python webui/build.py [--if-needed]`. Tests and the build hook call it too.

Standard library only: it runs where nothing of ours is installed. node.sh finds Node, or fetches it from PyPI.
"""

import fcntl
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
    if not _is_installed(home):
        _install(home)
    _npm(home, "run", "build")
    old = home / "dist.old"
    shutil.rmtree(old, ignore_errors=True)
    if (home / "dist").exists():
        (home / "dist").rename(old)
    (home / "dist.new").rename(home / "dist")
    shutil.rmtree(old, ignore_errors=True)


def _install(home: Path) -> None:
    """Install what the lockfile names and nothing else.

    Not by `npm ci`: npm 11 refuses a lockfile that lists the native parts of other platforms. `npm install` checks the
    hashes too, but may rewrite the file, which is then an error.
    """
    lock = home / "package-lock.json"
    before = lock.read_bytes()
    _npm(home, "install", "--no-audit", "--no-fund")
    if lock.read_bytes() != before:
        lock.write_bytes(before)
        raise OSError("npm wanted other packages than webui/package-lock.json names; update that file first")


def _is_installed(home: Path) -> bool:
    done = home / "node_modules" / ".package-lock.json"
    return done.is_file() and done.stat().st_mtime >= (home / "package-lock.json").stat().st_mtime


def _npm(home: Path, *words: str) -> None:
    subprocess.run(["sh", "node.sh", "npm", *words], cwd=home, stdout=sys.stderr, check=True)


def _sources(home: Path) -> Iterator[Path]:
    for name in SOURCES:
        place = home / name
        yield from (path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
