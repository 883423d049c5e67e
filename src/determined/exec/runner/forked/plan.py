"""Decision whether the entrypoint of a task starts by a fork, and the order for it."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from determined.config import ExperimentConfig
from determined.exec.runner import interpreter
from determined.exec.runner.forked import entrypoint, preload_list
from determined.exec.runner.forked.entrypoint import NotForkable, Program
from determined.exec.runner.forked.standby import Origin, Start
from determined.exec.runner.namespace import Mount
from determined.exec.runner.preparation import Prepared
from determined.rundir.layout import RunDir
from determined.wire.report import TaskSpec


def is_wanted(spec: TaskSpec) -> bool:
    """Check whether a task may start warm: a trial whose config does not refuse it."""
    return spec.is_trial and ExperimentConfig.load(spec.config or {}).resources.warm


def plan(
    prepared: Prepared,
    argv: list[str],
    variables: dict[str, str],
    mounts: Sequence[Mount],
    run_dir: RunDir,
    origin: Origin,
) -> Start:
    """Return the order for the standby. Raises NotForkable with the rule that is against it."""
    if argv[-1] == str(run_dir.entrypoint):
        raise NotForkable("startup hooks and the entrypoint share a shell")
    if argv[0] == "sh":
        variables = {**variables, "PWD": str(prepared.workdir)}  # a shell would set it
    program = entrypoint.program_of(prepared.spec.entrypoint, argv)
    executable = _executable(program, variables, run_dir, prepared.python)
    entrypoint.check_variables(variables, origin.started_with, run_dir)
    entrypoint.check_names(_places(program, prepared.workdir, variables, run_dir), origin.imported)
    ports = tuple(prepared.spec.ports)
    if origin.preloaded_with is not None:
        _check_preloaded(origin.preloaded_with, preload_list.comparable(variables, str(run_dir.path), ports))
    return Start(
        program,
        executable,
        variables,
        str(prepared.workdir),
        tuple(mounts),
        str(run_dir.path),
        str(run_dir.site),
        str(run_dir.preload_list) if origin.preloaded_with is None else None,
        ports,
    )


def _executable(program: Program, variables: Mapping[str, str], run_dir: RunDir, python: str | None) -> str:
    """Return the interpreter that the command line would start."""
    found = shutil.which(program.words[0], path=variables.get("PATH"))
    if found is not None and Path(found).parent == run_dir.bin:
        found = python  # a wrapper
    if found is None or not interpreter.is_own(found):
        raise NotForkable(f"{program.words[0]} is not the interpreter of the fork server ({sys.executable})")
    return found


def _places(program: Program, workdir: Path, variables: Mapping[str, str], run_dir: RunDir) -> list[Path]:
    """Return the directories from which the program imports before all packages."""
    if program.file is None:
        first = workdir
    elif (workdir / program.file).is_file():
        first = (workdir / program.file).resolve().parent
    else:
        raise NotForkable(f"{program.file} is no file of the working directory")
    added = [Path(path) for path in variables["PYTHONPATH"].split(":") if path and path != str(run_dir.site)]
    return [first, *added]


def _check_preloaded(preloaded_with: Mapping[str, str], variables: Mapping[str, str]) -> None:
    for name in sorted({*preloaded_with, *variables}):
        if preloaded_with.get(name) != variables.get(name):
            raise NotForkable(f"{name} is not what it was when the packages of this experiment were imported")
