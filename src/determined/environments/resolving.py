"""From requirements to a lock: every package with its version and hashes, as uv resolves them for this machine.

The same requirements are resolved once a day on a machine; a change of theirs, of the files they name, or of where
packages come from resolves them anew.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from determined.config.python_environment import PythonEnvironment
from determined.config.requirement_lines import (
    editable_entries,
    find_links,
    included_files,
    index_options,
    local_paths,
    unpinned_entries,
)
from determined.environments.cache import Hold
from determined.environments.place import Place, base_python, platform_tag
from determined.environments.uv import find_uv, translated
from determined.errors import EnvironmentUnusable

_FRESH_SECONDS = 86400.0
_POLL_SECONDS = 0.05
_UV_LOCK = "uv.lock"
_COMPILE = ("--no-header", "--no-annotate", "--generate-hashes", "--quiet")
_WHERE_FROM = (
    "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_INDEX_STRATEGY",
    "UV_PRERELEASE", "UV_RESOLUTION", "UV_CONSTRAINT", "UV_OVERRIDE", "UV_EXCLUDE_NEWER", "PIP_NO_INDEX",
)  # fmt: skip


def resolve(wanted: PythonEnvironment, directory: Path, place: Place) -> str:
    """The lock's text. `directory` is the context directory.

    Raises:
        EnvironmentUnusable: nothing can meet it, in uv's own words; or a file is missing or no lock.
        FailedPrecondition: uv failed for a reason that may pass.
    """
    if wanted.lock is not None:
        return _given_lock(wanted.lock, directory, place)
    text = requirements_text(wanted, directory)
    _refuse_editable(text)
    base = base_of(wanted, directory)
    digest = _digest(wanted, text, base, place)
    place.resolutions.mkdir(mode=0o700, parents=True, exist_ok=True)
    file, hold = place.resolutions / f"{digest}.txt", Hold(place.resolutions / f"{digest}.lock")
    try:
        while not hold.take():
            time.sleep(_POLL_SECONDS)
        return _remembered(file) or _resolve(wanted, text, base, place, file, hold)
    finally:
        hold.close()


def base_of(wanted: PythonEnvironment, directory: Path) -> Path:
    """To what the paths in its file are relative."""
    return (directory / wanted.file).parent if wanted.file else directory


def requirements_text(wanted: PythonEnvironment, directory: Path) -> str:
    if isinstance(wanted.requirements, str):
        return read_file(directory, wanted.requirements, "requirements")
    return "".join(f"{line}\n" for line in wanted.requirements or ())


def read_file(directory: Path, name: str, key: str) -> str:
    try:
        return (directory / name).read_text()
    except (OSError, UnicodeDecodeError) as e:
        reason = e.strerror if isinstance(e, OSError) else "it is not UTF-8 text"
        raise EnvironmentUnusable(f"environment.python.{key}: {name} cannot be read: {reason}") from e


def _resolve(wanted: PythonEnvironment, text: str, base: Path, place: Place, file: Path, hold: Hold) -> str:
    doing = "environment.python: resolving the requirements"
    place.say(doing)
    uv, project = find_uv(place), _project_file(wanted)
    words = ["compile", "--python", base_python(wanted.version), *_COMPILE]
    if project is not None:
        lock = uv.run("pip", *words, project, doing=doing, cwd=base, held=hold.descriptor)
    else:
        options = "".join(f"{line}\n" for line in index_options(text))
        lock = options + uv.pip(*words, text=text, doing=doing, cwd=base, held=hold.descriptor)
    fresh = file.with_suffix(".new")
    fresh.write_text(lock)
    fresh.rename(file)
    return lock


def _project_file(wanted: PythonEnvironment) -> str | None:
    """`pyproject.toml`: requirements in a format that uv reads by its name."""
    named = wanted.requirements if isinstance(wanted.requirements, str) else ""
    return Path(named).name if named.endswith(".toml") else None


def _given_lock(name: str, directory: Path, place: Place) -> str:
    text = read_file(directory, name, "lock")
    if Path(name).name == _UV_LOCK:
        words = ["export", "--frozen", "--no-emit-project", "--no-header", "--no-annotate", "--quiet"]
        doing = f"environment.python.lock: reading {name}"
        return find_uv(place).run(*words, doing=doing, cwd=(directory / name).parent)
    if name.endswith(".toml"):
        return text
    _refuse_editable(text)
    loose = unpinned_entries(text)
    if loose:
        raise EnvironmentUnusable(
            f"environment.python.lock: {name} is no lock: `{loose[0]}` names no exact version; pin it with ==, or give"
            " the file as `requirements` to have it resolved"
        )
    return text


def _refuse_editable(text: str) -> None:
    found = editable_entries(text)
    if found:
        raise EnvironmentUnusable(
            f"environment.python: `{found[0]}` is editable, and an environment is shared by tasks with other copies of"
            " it; leave -e out, or import the code from the context directory"
        )


def _remembered(file: Path) -> str | None:
    try:
        if time.time() - file.stat().st_mtime > _FRESH_SECONDS:
            return None
        return file.read_text()
    except OSError:
        return None


def _digest(wanted: PythonEnvironment, text: str, base: Path, place: Place) -> str:
    """Of everything that a resolution depends on, as far as this machine can see it."""
    variables = translated(place.variables)
    sources = {name: variables.get(name) for name in _WHERE_FROM}
    files = dict(_contents(text, base, set()))
    listed = [*(variables.get("UV_FIND_LINKS") or "").split(","), *find_links(text)]
    seen = [platform_tag(wanted.version), base_python(wanted.version), text, sources, files, _listings(listed, base)]
    return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:24]


def _contents(text: str, directory: Path, read: set[str]) -> Iterator[tuple[str, str]]:
    """Files that requirements include, and packages of the context that they name, with digests of what they hold."""
    for name in included_files(text):
        path = directory / name
        if name in read or not path.is_file():
            continue
        read.add(name)
        inner = path.read_text(errors="replace")
        yield name, inner
        yield from _contents(inner, path.parent, read)
    for name, digest in local_digests(text, directory).items():
        yield name, digest


def local_digests(text: str, directory: Path) -> dict[str, str]:
    """Of the wheels and source trees that lie in the context directory: their names alone say too little."""
    digests = {}
    for name in local_paths(text):
        path = directory / name.removeprefix("file://").removeprefix("file:")
        if path.exists():
            digests[name] = _tree_digest(path)
    return digests


def _tree_digest(path: Path) -> str:
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        digest.update(f"{file.relative_to(path)}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _listings(places: list[str], directory: Path) -> Mapping[str, list[tuple[str, int, int]]]:
    """Local directories of wheels: a new one there counts at once."""
    found = {}
    for place in filter(None, places):
        path = directory / place.removeprefix("file://")
        if path.is_dir():
            stats = [(entry.name, entry.stat()) for entry in os.scandir(path)]
            found[place] = sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)
    return found
