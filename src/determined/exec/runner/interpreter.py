"""Which Python runs the task, and how `python`, `pip install` and `import determined` find it.

Packages that a hook installs go into the run directory and nowhere else: by PYTHONUSERBASE where the interpreter has
user packages, by PIP_PREFIX in a virtual environment (there pip refuses --user; PIP_TARGET would reach the pip that pip
starts to build a source package, and break it).
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from determined.environments.interpreter import PREFIX, Interpreter, ask, lend, own
from determined.rundir.layout import RunDir

_PIP = """#!/bin/sh
if ! {python} -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("pip") is None)'; then
    echo "ERROR: the Python of this task, "{python}", has no pip; add it there (uv pip install pip, or ensurepip)" >&2
    exit 1
fi
exec {python} -m pip "$@"
"""


def choose(asked: str | None, submitter: str | None, warn: Callable[[str], None]) -> Interpreter:
    """DET_PYTHON_EXECUTABLE, else the submitter's, else the runner's own."""
    for candidate, origin in ((asked, "DET_PYTHON_EXECUTABLE"), (submitter, "the submitter's Python")):
        if not candidate:
            continue
        if not os.access(candidate, os.X_OK) or Path(candidate).is_dir():
            warn(f"{origin} {candidate} is not on this node; trying the next choice")
            continue
        if not _is_own(candidate):
            found = _inspect(candidate, warn)
            if found is not None:
                _tell_lent(found, warn)
                return found
            continue
        break
    return own()


def install(interpreter: Interpreter, run_dir: RunDir) -> dict[str, str]:
    """Lay out the run directory for this interpreter and return the variables that make the task use it."""
    home = Path(interpreter.path).parent
    prefix = run_dir.userbase / "packages"
    variables = {
        "PYTHONUSERBASE": str(run_dir.userbase),
        "PYTHONUNBUFFERED": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    search: list[str] = []
    if interpreter.venv:
        search += [str(prefix) + place.removeprefix(PREFIX) for place in interpreter.packages]
        # Ignored, not replaced: what the environment has is shared with other tasks.
        variables |= {"PIP_PREFIX": str(prefix), "PIP_IGNORE_INSTALLED": "1", "VIRTUAL_ENV": str(home.parent)}
    else:
        # Moving the user base hides what the user has in ~/.local, which belongs to the chosen environment.
        search.append(interpreter.user_site)
        variables |= {"PIP_USER": "1", "PIP_BREAK_SYSTEM_PACKAGES": "1"}
    if interpreter.missing:
        lend(interpreter.missing, run_dir.lent)
        search.append(str(run_dir.lent))
    if interpreter.support is not None:
        search.append(interpreter.support)
    variables["PYTHONPATH"] = os.pathsep.join(search)
    scripts = prefix / "bin" if interpreter.venv else run_dir.userbase / "bin"
    _write_wrappers(interpreter.path, run_dir)
    variables["PATH"] = os.pathsep.join([str(scripts), str(run_dir.bin), str(home)])
    return variables


def _is_own(candidate: str) -> bool:
    mine, other = Path(sys.executable), Path(candidate)
    return mine.parent == other.parent and mine.samefile(other)


def _inspect(path: str, warn: Callable[[str], None]) -> Interpreter | None:
    try:
        return Interpreter.answered(path, ask(path))
    except (OSError, subprocess.SubprocessError, ValueError) as e:
        warn(f"{path} does not work as a Python interpreter ({e}); trying the next choice")
        return None


def _tell_lent(interpreter: Interpreter, warn: Callable[[str], None]) -> None:
    advice = f"install it there: {shlex.quote(interpreter.path)} -m pip install determined"
    if "determined" in interpreter.missing:
        warn(f"{interpreter.path} cannot import determined; lending it ours ({advice})")
    elif interpreter.missing and not interpreter.same_version:
        warn(f"{interpreter.path} lacks {', '.join(interpreter.missing)} and has another version than ours ({advice})")


def _write_wrappers(path: str, run_dir: RunDir) -> None:
    """Names that must mean this interpreter: `pip` always (the next one on PATH may be another Python's).

    Wrappers, not links: a virtual environment is found by the place its executable was started from.
    """
    home, python = Path(path).parent, shlex.quote(path)
    run_dir.bin.mkdir(mode=0o700, exist_ok=True)
    texts = dict.fromkeys(("pip", "pip3"), _PIP.format(python=python))
    for name in ("python", "python3"):
        if not (home / name).exists() or not (home / name).samefile(path):
            texts[name] = f'#!/bin/sh\nexec {python} "$@"\n'
    for name, text in texts.items():
        wrapper = run_dir.bin / name
        wrapper.write_text(text)
        wrapper.chmod(0o700)
