"""The directories of this node that a task needs wherever they lie, under a /tmp of its own as well."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

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
    return [*paths, *_storage(spec)]


def _prefixes(python: str) -> list[str]:
    """Return the prefixes of a virtual environment and of the Python it was made from."""
    return [str(Path(path).parent.parent) for path in (python, os.path.realpath(python))]


def _storage(spec: TaskSpec) -> list[str]:
    """Return the storage's path, created if it is missing: created later, inside, it would be deleted with the task."""
    section = (spec.config or {}).get("checkpoint_storage") or {}
    if not any(str(value).startswith((TMP, os.path.realpath(TMP))) for value in section.values()):
        return []
    from determined.storage.local import make_base

    try:
        directory = CheckpointDirectory.of(spec.config)
        if directory is None:
            return []
        make_base(Path(directory.place))
    except (OSError, ValueError):
        return []  # the storage probe, which comes next, says why
    return [directory.place]
