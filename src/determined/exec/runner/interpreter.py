"""Which Python runs the task, and how `python`, `pip install` and `import determined` find it.

Packages that a hook installs go into the run directory and nowhere else: by PYTHONUSERBASE where the interpreter has
user packages, by PIP_PREFIX in a virtual environment (there pip refuses --user; PIP_TARGET would reach the pip that pip
starts to build a source package, and break it).
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from determined.rundir.layout import RunDir

# What user code may reach through `import determined`; lent to an interpreter that lacks it.
LENT = ("determined", "msgspec", "urllib3", "fsspec", "pathspec", "psutil", "yaml")
_PREFIX = "/PREFIX"  # stands for any directory
_QUESTION = f"""
import importlib.util, json, site, sys, sysconfig
names = sys.argv[1:]
there = dict.fromkeys(("base", "platbase", "installed_base", "installed_platbase"), "{_PREFIX}")
print(json.dumps({{
    "version": list(sys.version_info[:2]),
    "venv": sys.prefix != sys.base_prefix,
    "user_site": site.getusersitepackages(),
    "missing": [n for n in names if importlib.util.find_spec(n) is None],
    "packages": sorted({{sysconfig.get_path(kind, vars=there) for kind in ("purelib", "platlib")}}),
}}))
"""
_ANSWER_SECONDS = 60
_PIP = """#!/bin/sh
if ! {python} -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("pip") is None)'; then
    echo "ERROR: the Python of this task, "{python}", has no pip; add it there (uv pip install pip, or ensurepip)" >&2
    exit 1
fi
exec {python} -m pip "$@"
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    path: str
    venv: bool
    user_site: str
    packages: tuple[str, ...]  # where `pip --prefix /PREFIX` puts them
    missing: tuple[str, ...]  # of LENT
    same_version: bool  # as the runner's own: compiled packages of ours load in it


def choose(asked: str | None, submitter: str | None, warn: Callable[[str], None]) -> Interpreter:
    """DET_PYTHON_EXECUTABLE, else the submitter's, else the runner's own."""
    own = sys.executable
    for candidate, origin in ((asked, "DET_PYTHON_EXECUTABLE"), (submitter, "the submitter's Python")):
        if not candidate:
            continue
        if not os.access(candidate, os.X_OK) or Path(candidate).is_dir():
            warn(f"{origin} {candidate} is not on this node; trying the next choice")
            continue
        if not _is_own(candidate):
            found = _inspect(candidate, warn)
            if found is not None:
                return found
            continue
        break
    return Interpreter(own, sys.prefix != sys.base_prefix, _own_user_site(), _own_packages(), (), True)


def install(interpreter: Interpreter, run_dir: RunDir, warn: Callable[[str], None]) -> dict[str, str]:
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
        search += [str(prefix) + place.removeprefix(_PREFIX) for place in interpreter.packages]
        # Ignored, not replaced: what the environment has is shared with other tasks.
        variables |= {"PIP_PREFIX": str(prefix), "PIP_IGNORE_INSTALLED": "1", "VIRTUAL_ENV": str(home.parent)}
    else:
        # Moving the user base hides what the user has in ~/.local, which belongs to the chosen environment.
        search.append(interpreter.user_site)
        variables |= {"PIP_USER": "1", "PIP_BREAK_SYSTEM_PACKAGES": "1"}
    if interpreter.missing:
        search.append(_lend(interpreter, run_dir, warn))
    variables["PYTHONPATH"] = os.pathsep.join(search)
    scripts = prefix / "bin" if interpreter.venv else run_dir.userbase / "bin"
    _write_wrappers(interpreter.path, run_dir)
    variables["PATH"] = os.pathsep.join([str(scripts), str(run_dir.bin), str(home)])
    return variables


def _is_own(candidate: str) -> bool:
    mine, other = Path(sys.executable), Path(candidate)
    return mine.parent == other.parent and mine.samefile(other)


def _own_user_site() -> str:
    import site

    return site.getusersitepackages()


def _own_packages() -> tuple[str, ...]:
    import sysconfig

    there = dict.fromkeys(("base", "platbase", "installed_base", "installed_platbase"), _PREFIX)
    return tuple(sorted({sysconfig.get_path(kind, vars=there) for kind in ("purelib", "platlib")}))


def _inspect(path: str, warn: Callable[[str], None]) -> Interpreter | None:
    try:
        done = subprocess.run(
            [path, "-c", _QUESTION, *LENT],
            capture_output=True, check=True, timeout=_ANSWER_SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        answer = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as e:
        warn(f"{path} does not work as a Python interpreter ({e}); trying the next choice")
        return None
    return Interpreter(
        path,
        bool(answer["venv"]),
        str(answer["user_site"]),
        tuple(answer["packages"]),
        tuple(answer["missing"]),
        tuple(answer["version"]) == sys.version_info[:2],
    )


def _lend(interpreter: Interpreter, run_dir: RunDir, warn: Callable[[str], None]) -> str:
    """A directory with links to just the packages it lacks: our whole site directory would hide its own versions."""
    import importlib.util

    run_dir.lent.mkdir(mode=0o700, exist_ok=True)
    for name in interpreter.missing:
        spec = importlib.util.find_spec(name)
        link = run_dir.lent / name
        if spec is not None and spec.submodule_search_locations and not link.is_symlink():
            link.symlink_to(next(iter(spec.submodule_search_locations)))
    advice = f"install it there: {shlex.quote(interpreter.path)} -m pip install determined"
    if "determined" in interpreter.missing:
        warn(f"{interpreter.path} cannot import determined; lending it ours ({advice})")
    elif not interpreter.same_version:
        warn(f"{interpreter.path} lacks {', '.join(interpreter.missing)} and has another version than ours ({advice})")
    return str(run_dir.lent)


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
