"""Preload list of an experiment: packages that its trials import, and the variables they were imported with.

The first trial that a fork has run notes them in its run directory. Its engine starts a fork server that imports them.
Only what lies among the interpreter's packages counts, never a file of the user's.
"""

import contextlib
import os
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from types import ModuleType

import msgspec

from determined.exec.runner import environment
from determined.exec.runner.forked.entrypoint import NotForkable
from determined.exec.runner.forked.standby import Start
from determined.exec.runner.private_tmp import TMP
from determined.rundir.preload import MAX_MODULES, PreloadList

_HERE = "{run directory}"
# Each task has other values of these; what reads them does so when it is used.
_OF_EACH_TASK = frozenset({"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"})
_OURS = "DET_"
_MAY_NAME_RUN_DIR = frozenset({"PATH", "PIP_PREFIX", "PWD", "PYTHONPATH", "PYTHONUSERBASE"})


def comparable(variables: Mapping[str, str], run_dir: str, ports: Iterable[str] = ()) -> dict[str, str]:
    """Return the variables that modules may read while they are imported, equal for trials that set the same.

    Raises NotForkable for one that is other for each trial.
    """
    if variables.get("TMPDIR") != TMP:
        raise NotForkable("its directory for temporary files is another one in each trial")
    ignored = _OF_EACH_TASK | set(ports)
    result = {}
    for name, value in variables.items():
        if name in ignored or name.startswith(_OURS):
            continue
        if run_dir in value and name not in _MAY_NAME_RUN_DIR:
            raise NotForkable(f"{name} is another one in each trial")
        result[name] = value.replace(run_dir, _HERE)
    return result


def write(start: Start, imported_before: int, variables: Mapping[str, str]) -> None:
    """Note what this program has imported since there were so many modules. A program without such leaves no note.

    It looks at the newest modules alone: to look at all would copy the memory of the fork server.
    """
    if start.note is None:
        return
    newest = list(islice(reversed(sys.modules.items()), max(0, len(sys.modules) - imported_before)))
    modules = [name for name, module in reversed(newest) if _counts(name, module)]
    if not modules:
        return
    now = environment.own()
    changed = sorted(name for name in {*now, *variables} if now.get(name) != variables.get(name))
    with contextlib.suppress(OSError, NotForkable):
        note = PreloadList(modules[:MAX_MODULES], comparable(variables, start.run_dir, start.ports), changed)
        Path(start.note).write_bytes(msgspec.json.encode(note))


def is_package_of_interpreter(origin: str | None) -> bool:
    """Check whether a module's file lies among the packages that were installed for this interpreter."""
    if origin is None:
        return False
    places = {os.path.realpath(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}
    return any(os.path.realpath(origin).startswith(place + os.sep) for place in places)


def _counts(name: str, module: ModuleType) -> bool:
    spec = getattr(module, "__spec__", None)
    if name.startswith("determined."):
        return True
    return spec is not None and spec.name == name and is_package_of_interpreter(spec.origin)
