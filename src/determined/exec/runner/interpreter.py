"""Interpreter of the task, and how `python`, `pip install` and `import determined` find it.

Packages that a hook installs go into the run directory and nowhere else: by PYTHONUSERBASE where the interpreter has
user packages, by PIP_PREFIX in a virtual environment (there pip refuses --user; PIP_TARGET would reach the pip that pip
starts to build a source package, and break it; task_site.py makes that pip respect what is installed).
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from determined._version import __version__
from determined.environments.interpreter import PREFIX, Interpreter, ask, link_packages, own
from determined.rundir.layout import RunDir

_PACKAGES = {"yaml": "pyyaml"}  # distributions that have another name than what is imported
_PIP = """#!/bin/sh
if ! {python} -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("pip") is None)'; then
    echo "ERROR: the Python of this task, "{python}", has no pip, nor has the node; uv pip install pip adds it" >&2
    exit 1
fi
exec {python} -m pip "$@"
"""


Say = Callable[[str, str], None]  # level, text
NODES_OWN = "the node's own"


def choose(candidates: Iterable[tuple[str | None, str]], say: Say) -> Interpreter:
    """Return the first of (path, where that comes from) that works here, else the runner's own. The log names it."""
    problems: list[str] = []
    for path, origin in candidates:
        if not path:
            continue
        interpreter = own() if is_own(path) else _inspect(path)
        if isinstance(interpreter, Interpreter):
            return _announce(interpreter, origin, problems, say)
        problems.append(f"{path} ({origin}) {interpreter}")
    return _announce(own(), NODES_OWN, problems, say)


def describe(interpreter: Interpreter, origin: str) -> str:
    return f"Python {interpreter.release}, {interpreter.path}: {origin}"


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
        overlay = [str(prefix) + place.removeprefix(PREFIX) for place in interpreter.packages]
        search += [_write_site(run_dir, interpreter, overlay), *overlay]
        # Taken back by task_site.py, which makes pip keep what the environment has: other tasks use that too. A Python
        # that is started without it (-I) at least replaces nothing.
        variables |= {"PIP_PREFIX": str(prefix), "PIP_IGNORE_INSTALLED": "1", "VIRTUAL_ENV": str(home.parent)}
    else:
        # Moving the user base hides what the user has in ~/.local, which belongs to the chosen environment.
        search += [_write_site(run_dir, interpreter, []), interpreter.user_site]
        variables |= {"PIP_USER": "1", "PIP_BREAK_SYSTEM_PACKAGES": "1"}
    if interpreter.missing:
        link_packages(interpreter.missing, run_dir.linked_packages)
        search.append(str(run_dir.linked_packages))
    if interpreter.support is not None:
        search.append(interpreter.support)
    if not interpreter.has_pip:
        search += _find_pip(interpreter, run_dir)
    variables["PYTHONPATH"] = os.pathsep.join(search)
    scripts = prefix / "bin" if interpreter.venv else run_dir.userbase / "bin"
    _write_wrappers(interpreter.path, run_dir)
    variables["PATH"] = os.pathsep.join([str(scripts), str(run_dir.bin), str(home)])
    return variables


def _write_site(run_dir: RunDir, interpreter: Interpreter, overlay: list[str]) -> str:
    """Lay out what runs first in every Python of the task (task_site.py)."""
    run_dir.site.mkdir(mode=0o700, exist_ok=True)
    (run_dir.site / "places").write_text("\n".join([interpreter.prefix, *overlay]), errors="surrogateescape")
    shutil.copyfile(Path(__file__).with_name("task_site.py"), run_dir.site / "sitecustomize.py")
    return str(run_dir.site)


def _find_pip(interpreter: Interpreter, run_dir: RunDir) -> list[str]:
    """Return a pip for an environment that was made without one, as uv makes them: its Python's own, else ours."""
    if bundled := sorted(map(str, Path(interpreter.wheels).glob("pip-*.whl"))):
        return bundled[-1:]
    if interpreter.same_version:
        link_packages(["pip"], run_dir.linked_packages)
        return [] if str(run_dir.linked_packages) in interpreter.search else [str(run_dir.linked_packages)]
    return []


def is_own(candidate: str) -> bool:
    """Check whether a path is the interpreter that runs this."""
    mine, other = Path(sys.executable), Path(candidate)
    return mine.parent == other.parent and other.exists() and mine.samefile(other)


def _inspect(path: str) -> Interpreter | str:
    """Return the interpreter, or what is wrong with it."""
    if not os.access(path, os.X_OK) or Path(path).is_dir():
        return "is not on this node"
    try:
        return Interpreter.answered(path, ask(path))
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError) as e:
        return f"does not work as a Python interpreter ({_reason(e)})"


def _reason(error: Exception) -> str:
    """Describe the error in one line. Errors of subprocess quote the whole program that the interpreter was given."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer within {error.timeout:g} s"
    if isinstance(error, subprocess.CalledProcessError):
        words = [line.strip() for line in error.stderr.decode(errors="replace").splitlines() if line.strip()]
        return ": ".join([f"status {error.returncode}", *words[-1:]])
    return error.strerror or str(error) if isinstance(error, OSError) else "it does not answer as Python does"


def _announce(interpreter: Interpreter, origin: str, problems: list[str], say: Say) -> Interpreter:
    if problems:
        say("WARNING", f"{'; '.join(problems)}. Using instead: {describe(interpreter, origin)}")
    else:
        say("INFO", describe(interpreter, origin))
    _report_missing_packages(interpreter, say)
    return interpreter


def _report_missing_packages(interpreter: Interpreter, say: Say) -> None:
    others = [name for name in interpreter.missing if name != "determined"]
    if interpreter.upstream is not None:
        what = f"has determined {interpreter.upstream} installed, upstream's, which does not work with this master"
        say("WARNING", f"{interpreter.path} {what}; using the node's own determined {__version__} instead")
    elif "determined" in interpreter.missing:
        say("INFO", f"{interpreter.path} has no determined; using the node's own {__version__} instead")
    if others and not interpreter.same_version:
        lacks = f"lacks {', '.join(others)}, which determined needs, and those of the node are for another Python"
        advice = f"{shlex.quote(interpreter.path)} -m pip install {' '.join(_PACKAGES.get(n, n) for n in others)}"
        say("WARNING", f"{interpreter.path} {lacks}; install them there: {advice}")


def _write_wrappers(path: str, run_dir: RunDir) -> None:
    """Write wrappers named `python` and `pip` for this interpreter, and `det` for the runner's own.

    `pip` always: the next one on PATH may be another Python's. Wrappers, not links: a virtual environment is found by
    the place its executable was started from. `det` runs apart from the task's packages, which may lack what it needs.
    """
    home, python = Path(path).parent, shlex.quote(path)
    run_dir.bin.mkdir(mode=0o700, exist_ok=True)
    texts = dict.fromkeys(("pip", "pip3"), _PIP.format(python=python))
    texts["det"] = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -m determined.cli "$@"\n'
    for name in ("python", "python3"):
        if not (home / name).exists() or not (home / name).samefile(path):
            texts[name] = f'#!/bin/sh\nexec {python} "$@"\n'
    for name, text in texts.items():
        wrapper = run_dir.bin / name
        wrapper.write_text(text)
        wrapper.chmod(0o700)
