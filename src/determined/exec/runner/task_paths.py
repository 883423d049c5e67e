"""The directories of this node that a task needs wherever they lie, under a /tmp of its own as well."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from determined._json import JsonObject
from determined.environments.interpreter import Interpreter
from determined.exec.runner.preflight.directory import CheckpointDirectory
from determined.exec.runner.private_tmp import TMP
from determined.rundir.layout import RunDir
from determined.wire.report import LaunchFile, TaskSpec


def needed_paths(
    launch: LaunchFile, spec: TaskSpec, run_dir: RunDir, interpreter: Interpreter, variables: Mapping[str, str]
) -> list[str]:
    """Return the task's run directory, home, Python and packages, certificate, mounted directories and checkpoints."""
    paths = [str(run_dir.path), variables.get("HOME", ""), variables["DET_WORKDIR"], launch.master_cert_file or ""]
    paths += [mount.host_path for mount in spec.bind_mounts]
    paths += variables.get("PYTHONPATH", "").split(os.pathsep)
    paths += [*_prefixes(interpreter.path), *interpreter.search]
    # Ours as well: an interpreter without determined imports it from there, and what we start in the task is there.
    paths += [*_prefixes(sys.executable), *sys.path]
    return [*paths, *(place for section in _sections(spec) if (place := _storage(section)) is not None)]


def _prefixes(python: str) -> list[str]:
    """Return the prefixes of a virtual environment and of the Python it was made from."""
    return [str(Path(path).parent.parent) for path in (python, os.path.realpath(python))]


def _sections(spec: TaskSpec) -> Iterator[JsonObject]:
    """Yield the storage sections of a task: of a trial's config, a notebook's saved files, a TensorBoard's sources."""
    settings = spec.settings or {}
    yield (spec.config or {}).get("checkpoint_storage") or {}
    for place in [settings.get("savedFiles") or {}, *(settings.get("sources") or [])]:
        yield place.get("storage") or {}


def _storage(section: JsonObject) -> str | None:
    """Return the storage's path, created if it is missing: created later, inside, it would be deleted with the task."""
    if not any(str(value).startswith((TMP, os.path.realpath(TMP))) for value in section.values()):
        return None
    from determined.storage.local_base import make_base

    try:
        directory = CheckpointDirectory.of({"checkpoint_storage": section})
        if directory is None:
            return None
        make_base(Path(directory.place))
    except (OSError, ValueError):
        return None  # the storage probe, which comes next, or the program of the task says why
    return directory.place
