"""Resolver from requirements to a lock: every package with its version and hashes, as uv resolves them here.

The same requirements are resolved once a day on a machine. They are resolved anew when they, the files they name or the
package indexes change. A lock holds no logins of indexes: those stay in the files they were written in.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

from determined.config.pylock import editable_packages, package_paths
from determined.config.pyproject import explicit_indexes
from determined.config.python_environment import PythonEnvironment
from determined.config.requirement_lines import (
    editable_entries,
    find_links,
    included_files,
    index_options,
    local_paths,
    marked_places,
    unpinned_entries,
    without_logins,
)
from determined.environments.cache import Hold
from determined.environments.cache_directory import Place, base_python, platform_tag
from determined.environments.uv import find_uv, translated
from determined.errors import EnvironmentUnusable

PROJECT = "pyproject.toml"
_FRESH_SECONDS = 86400.0
_UV_LOCK = "uv.lock"
_QUIET = ("--no-header", "--no-annotate", "--quiet")
_SETTINGS = (PROJECT, "uv.toml")  # in which uv, started beside them, finds indexes and constraints
_LEFT_BY_BUILDS = ("__pycache__", ".egg-info")
_WHERE_FROM = (
    "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_INDEX_STRATEGY",
    "UV_PRERELEASE", "UV_RESOLUTION", "UV_CONSTRAINT", "UV_OVERRIDE", "UV_EXCLUDE_NEWER", "PIP_NO_INDEX",
)  # fmt: skip


def resolve(wanted: PythonEnvironment, directory: Path, place: Place) -> str:
    """Return the lock's text. `directory` is the context directory.

    Raises:
        EnvironmentUnusable: nothing can meet it, in uv's own words; or a file is missing or no lock.
        FailedPrecondition: uv failed for a reason that may pass.
    """
    lock = _given(wanted.lock, wanted, directory, place) if wanted.lock else _resolved(wanted, directory, place)
    bare = without_logins(lock)
    _refuse_editable(bare)
    return bare


def base_of(wanted: PythonEnvironment, directory: Path) -> Path:
    """Return the directory that the paths in its file are relative to."""
    return (directory / wanted.file).parent if wanted.file else directory


def sources_of(wanted: PythonEnvironment, directory: Path) -> str:
    """Return the text of all its files, logins included."""
    text, base = _text(wanted, directory), base_of(wanted, directory)
    return "\n".join([text, *_included(text, base).values(), *_settings(base).values()])


def local_digests(text: str, directory: Path) -> dict[str, str]:
    """Return digests of the wheels and source trees in the context directory: their names alone say too little."""
    digests = {}
    for name in package_paths(text) or local_paths(text):
        path = directory / name.removeprefix("file://").removeprefix("file:")
        if path.exists():
            digests[name] = _tree_digest(path)
    return digests


def _given(name: str, wanted: PythonEnvironment, directory: Path, place: Place) -> str:
    text = _read(directory, name, "lock")
    if Path(name).name == _UV_LOCK:
        return _exported(name, wanted, directory, place)
    loose = [] if name.endswith(".toml") else unpinned_entries(text)
    if loose:
        raise EnvironmentUnusable(
            f"environment.python.lock: {name} is no lock: `{without_logins(loose[0])}` names no exact version; pin it"
            " with ==, or give the file as `requirements` to have it resolved"
        )
    return text


def _exported(name: str, wanted: PythonEnvironment, directory: Path, place: Place) -> str:
    base = base_of(wanted, directory)
    if not (base / PROJECT).is_file():
        # uv would look for one in the directories above, which are not the experiment's.
        raise EnvironmentUnusable(f"environment.python.lock: there is no {PROJECT} beside {name}; add it")
    words = ["export", "--frozen", "--no-editable", "--no-emit-project", "--python", base_python(wanted.version)]
    doing = f"environment.python.lock: reading {name}"
    return _explicit(base) + find_uv(place).run(*words, *_QUIET, doing=doing, cwd=base)


def _resolved(wanted: PythonEnvironment, directory: Path, place: Place) -> str:
    text, base = _text(wanted, directory), base_of(wanted, directory)
    digest = _digest(wanted, text, base, place)
    place.resolutions.mkdir(mode=0o700, parents=True, exist_ok=True)
    file, hold = place.resolutions / f"{digest}.txt", Hold(place.resolutions / f"{digest}.lock")
    try:
        hold.await_turn()
        return _remembered(file) or _resolve(wanted, text, base, place, file, hold)
    finally:
        hold.close()


def _resolve(wanted: PythonEnvironment, text: str, base: Path, place: Place, file: Path, hold: Hold) -> str:
    doing = "environment.python: resolving the requirements"
    place.say(doing)
    uv, is_project = find_uv(place), _is_project(wanted)
    words = ["compile", "--python", base_python(wanted.version), "--generate-hashes", *_QUIET]
    if is_project:
        resolved = uv.pip(*words, PROJECT, doing=doing, cwd=base, held=hold.descriptor)
        lock = _explicit(base) + marked_places(resolved)
    else:
        lock = _options(text, base) + uv.pip(*words, text=text, doing=doing, cwd=base, held=hold.descriptor)
    if is_project and local_paths(lock):
        return lock  # packages beside it, whose own requirements may change: not to be remembered
    fresh = file.with_suffix(".new")
    fresh.write_text(without_logins(lock))
    fresh.rename(file)
    return lock


def _is_project(wanted: PythonEnvironment) -> bool:
    """Check whether the requirements are in a format that uv reads by its name."""
    return isinstance(wanted.requirements, str) and Path(wanted.requirements).name == PROJECT


def _text(wanted: PythonEnvironment, directory: Path) -> str:
    if wanted.lock is not None:
        return _read(directory, wanted.lock, "lock")
    if isinstance(wanted.requirements, str):
        return _read(directory, wanted.requirements, "requirements")
    return "".join(f"{line}\n" for line in wanted.requirements or ())


def _read(directory: Path, name: str, key: str) -> str:
    try:
        return (directory / name).read_text()
    except (OSError, UnicodeDecodeError) as e:
        reason = e.strerror if isinstance(e, OSError) else "it is not UTF-8 text"
        raise EnvironmentUnusable(f"environment.python.{key}: {name} cannot be read: {reason}") from e


def _included(text: str, directory: Path) -> dict[Path, str]:
    """Return the files that requirements read (`-r`, `-c`), and those that these read."""
    texts: dict[Path, str] = {}
    pending = [(text, directory)]
    while pending:
        outer, place = pending.pop()
        for name in included_files(outer):
            path = Path(os.path.normpath(place / name))
            if path not in texts and path.is_file():
                texts[path] = path.read_text(errors="replace")
                pending.append((texts[path], path.parent))
    return texts


def _settings(base: Path) -> dict[str, str]:
    return {name: (base / name).read_text(errors="replace") for name in _SETTINGS if (base / name).is_file()}


def _explicit(base: Path) -> str:
    """Return the explicit indexes.

    uv, started beside the project, finds its other indexes by itself when it installs the lock.
    """
    indexes = explicit_indexes(_settings(base).get(PROJECT, ""))
    return "".join(f"--extra-index-url {url}\n" for url in indexes)


def _options(text: str, base: Path) -> str:
    """Return the options that name package indexes, which uv leaves out of its lock."""
    lines = index_options(text)
    for path, inner in _included(text, base).items():
        lines += [_seen_from(base, path.parent, line) for line in index_options(inner)]
    return "".join(f"{line}\n" for line in lines)


def _seen_from(base: Path, place: Path, line: str) -> str:
    """Rewrite a path: a directory of wheels is relative to the file that names it, all else to where uv is started."""
    for name in find_links(line):
        if (place / name).is_dir():
            return f"--find-links {os.path.relpath(place / name, base)}"
    return line


def _refuse_editable(lock: str) -> None:
    editable = editable_packages(lock) or editable_entries(lock)
    if editable:
        raise EnvironmentUnusable(
            f"environment.python: `{editable[0]}` is editable, and an environment is shared by tasks with other copies"
            " of it; leave that out, or import the code from the context directory"
        )


def _remembered(file: Path) -> str | None:
    try:
        if time.time() - file.stat().st_mtime > _FRESH_SECONDS:
            return None
        return file.read_text()
    except OSError:
        return None


def _digest(wanted: PythonEnvironment, text: str, base: Path, place: Place) -> str:
    """Return a digest of everything that a resolution depends on, as far as this machine can see it."""
    variables = translated(place.variables)
    sources = {name: variables.get(name) for name in _WHERE_FROM}
    included = _included(text, base)
    files = {os.path.relpath(path, base): inner for path, inner in included.items()}
    files |= _settings(base)
    packages = [local_digests(part, base) for part in (text, *included.values())]
    listed = [*(variables.get("UV_FIND_LINKS") or "").split(","), *find_links(_options(text, base))]
    seen = [
        platform_tag(wanted.version),
        base_python(wanted.version),
        text,
        sources,
        files,
        packages,
        _listings(listed, base),
    ]
    return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:24]


def _tree_digest(path: Path) -> str:
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        name = file.relative_to(path)
        if not any(part.endswith(_LEFT_BY_BUILDS) for part in name.parts):
            digest.update(f"{name}\0".encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _listings(places: list[str], directory: Path) -> Mapping[str, list[tuple[str, int, int]]]:
    """List local directories of wheels: a new wheel there counts at once."""
    listings = {}
    for place in filter(None, places):
        path = directory / place.removeprefix("file://")
        if path.is_dir():
            stats = [(entry.name, entry.stat()) for entry in os.scandir(path)]
            listings[place] = sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)
    return listings
