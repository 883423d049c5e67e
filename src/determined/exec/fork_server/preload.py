"""Imports of a fork server: what runners and `determined.core` need, and the preload list of an experiment."""

import contextlib
import importlib
import importlib.util
import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterable

import msgspec

from determined.exec.fork_server import process_state
from determined.exec.fork_server.process_state import ProcessState
from determined.exec.runner import environment
from determined.exec.runner.forked import preload_list
from determined.rundir.preload import PreloadList
from determined.wire.context import GetTaskContextDirectoryResponse
from determined.wire.report import LaunchFile, ReportAnswer, RunnerSignals, TaskSpec

# What the runner imports when it comes to need it, and what `core.init()` does.
_BASE = (
    "determined.core",
    "determined.config.experiment_schema",
    "determined.exec.harness",
    "determined.exec.master_link",
    "determined.exec.runner.event_file_upload",
    "determined.exec.runner.forked.plan",
    "determined.exec.runner.forked.script",
    "determined.exec.runner.journal_upload",
    "determined.exec.runner.recovery",
    "determined.exec.runner.signals",
    "determined.exec.runner.storage_check",
    "determined.exec.runner.task_supervisor",
    "determined.exec.runner.unsaved_files",
    "determined.storage.directory.manager",
    "determined.storage.shared_fs.manager",
    "encodings.idna",
)


class Unshareable(Exception):
    """Importing a module changed something that all forks would share."""

    def __init__(self, module: str, why: str) -> None:
        super().__init__(module, why)
        self.module = module
        self.why = why


def import_base() -> None:
    """Import what every runner and trial needs. None of it is the user's."""
    for name in _BASE:
        importlib.import_module(name)
    # What is worked out once in a process, and needed by each runner.
    sysconfig.get_config_vars()
    for kind in (LaunchFile, TaskSpec, GetTaskContextDirectoryResponse, ReportAnswer, RunnerSignals):
        msgspec.json.Decoder(kind)


def import_list(preload: PreloadList) -> dict[str, str]:
    """Import the packages of an experiment with its variables; return the variables that they set.

    Raises:
        Unshareable: one of them must be left out.
    """
    environment.replace(preload.variables)
    vars(tempfile).update(tempdir=None, _name_sequence=None)
    given = environment.own()
    state = process_state.read()
    for name in _parents_first(preload.modules):
        state = _import(name, state)
    if process_state.uses_accelerator():
        raise Unshareable("", "an accelerator is in use after the imports")
    now = environment.own()
    changed = {name for name in {*given, *now} if given.get(name) != now.get(name)}
    unexplained = set(preload.changed) - changed
    if unexplained:
        # Packages may have read it: trials import them after that change, which comes too late for what is here.
        raise Unshareable("", f"the script changes {', '.join(sorted(unexplained))} itself")
    return {name: now[name] for name in changed if name in now}


def _parents_first(names: Iterable[str]) -> list[str]:
    """Return the names, with packages before what lies in them: it is they who import it."""
    parts = (name.split(".") for name in names)
    return list(dict.fromkeys(".".join(words[: end + 1]) for words in parts for end in range(len(words))))


def _import(name: str, before: ProcessState) -> ProcessState:
    """Import one module, unless it is not a package's. One that cannot be imported is the trials' own problem."""
    loaded = len(sys.modules)
    if name in sys.modules or not _is_shared(name):
        return before
    with contextlib.suppress(Exception):
        importlib.import_module(name)
    if len(sys.modules) == loaded:
        return before
    after = process_state.read()
    if after.threads > before.threads:
        process_state.end_idle_threads()
        after = process_state.read()
    why = process_state.difference(before, after)
    if why is not None:
        raise Unshareable(name, why)
    return after


def _is_shared(name: str) -> bool:
    """Check whether a module is ours or lies among the interpreter's packages."""
    if name.partition(".")[0] == "determined":
        return True
    try:
        spec = importlib.util.find_spec(name)
    except Exception:  # noqa: BLE001 (importing its parent failed, for a reason of its own)
        return False
    return spec is not None and preload_list.is_package_of_interpreter(spec.origin)


def file_stamps() -> dict[str, tuple[int, int, int]]:
    """Return size, time and number of the files of all imported modules, and of the directories of packages."""
    paths = {spec.origin for module in list(sys.modules.values()) if (spec := getattr(module, "__spec__", None))}
    places = {path for path in sys.path if path}
    return {path: stamp for path in paths | places if path and (stamp := stamp_of(path)) is not None}


def stamp_of(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 (a thousand of them at once)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino
