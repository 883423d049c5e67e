"""Command of a task: the entrypoint as argv, and the shell script that sources hooks before it."""

import math
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from determined.constants import ENV_LOG_WAIT_TIME
from determined.errors import FailedPrecondition
from determined.rundir.layout import RunDir

_TRIAL_CLASS = re.compile(r"[a-zA-Z0-9_.]+:[a-zA-Z0-9_]+")
STARTUP_HOOK = "startup-hook.sh"
_LOG_WAIT_SECONDS = 30.0


def entrypoint_argv(entrypoint: str | list[str], slots: int = 1) -> list[str]:
    """Return the argv of an entrypoint.

    A list is argv, `package.module:Class` a trial class (one process per slot), any other string a shell command.
    """
    if not entrypoint or (isinstance(entrypoint, str) and not entrypoint.strip()):
        raise FailedPrecondition("the config names no entrypoint; set `entrypoint:` to what should run")
    if isinstance(entrypoint, list):
        return entrypoint
    if _TRIAL_CLASS.fullmatch(entrypoint):
        if slots > 1:
            return ["python3", "-m", "determined.launch.torch_distributed", "--trial", entrypoint]
        return ["python3", "-m", "determined.exec.harness", entrypoint]
    # The program below may know these signals (core prints stacks on USR1); the shell itself would die of them.
    return ["sh", "-c", f"trap : USR1 USR2; {entrypoint}"]


def log_wait_seconds(variables: Mapping[str, str]) -> float:
    """Return for how long programs that a task has left behind may write on after its exit."""
    try:
        seconds = float(variables[ENV_LOG_WAIT_TIME])
    except (KeyError, ValueError):
        return _LOG_WAIT_SECONDS
    return seconds if 0 <= seconds < math.inf else _LOG_WAIT_SECONDS


def hooks(run_dir: RunDir, workdir: Path, text: str | None) -> list[Path]:
    """Return the hooks to source, in order; the cluster's own is written to a file first."""
    paths = []
    if text:
        cluster_hook = run_dir.path / "dynamic-tcd-startup-hook.sh"
        cluster_hook.write_text(text + "\n")
        paths.append(cluster_hook)
    if (workdir / STARTUP_HOOK).is_file():
        paths.append(workdir / STARTUP_HOOK)
    return paths


def write_script(run_dir: RunDir, hook_files: list[Path], argv: list[str]) -> list[str]:
    """Write the script that runs hooks and entrypoint in one shell, and return its argv.

    The entrypoint gets what a hook exports, and its directory, limits and umask. Between hooks and entrypoint the shell
    reports to the runner and waits for rendezvous.
    """
    q = shlex.quote
    lines = [
        "set -e",
        *(f". {q(str(hook))}" for hook in hook_files),
        "set +e",
        f"env -0 > {q(str(_exported(run_dir)))} 2> /dev/null",
        f"echo done > {q(str(run_dir.hooks_done))}",
        f"read -r _ < {q(str(run_dir.hooks_go))}",
        f". {q(str(rendezvous_script(run_dir)))}",
        f"exec {shlex.join(argv)}",
    ]
    run_dir.entrypoint.parent.mkdir(mode=0o700, exist_ok=True)
    _exported(run_dir).touch(mode=0o600)
    run_dir.entrypoint.write_text("\n".join(lines) + "\n")
    shell = shutil.which("bash") or "/bin/sh"
    return [shell, str(run_dir.entrypoint)]


def keep_exported(run_dir: RunDir, variables: dict[str, str]) -> None:
    """Store the variables of a task without hooks, as `env -0` does with hooks, for programs that start later."""
    text = "".join(f"{name}={value}\0" for name, value in variables.items())
    _exported(run_dir).touch(mode=0o600)  # there are tokens among them
    _exported(run_dir).write_text(text, errors="surrogateescape")


def exported(run_dir: RunDir) -> dict[str, str]:
    """Return the variables of the entrypoint as the hooks have left them; before the hooks end, as they were given."""
    try:
        entries = _exported(run_dir).read_text(errors="surrogateescape").split("\0")
    except OSError:
        return {}
    return {name: value for name, given, value in (entry.partition("=") for entry in entries) if given}


def write_rendezvous(run_dir: RunDir, variables: dict[str, str]) -> None:
    """Write the variables known only after rendezvous, for the shell that waits for it."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    rendezvous_script(run_dir).write_text("\n".join(lines) + "\n")


def rendezvous_script(run_dir: RunDir) -> Path:
    return run_dir.path / "train" / "rendezvous.sh"


def _exported(run_dir: RunDir) -> Path:
    return run_dir.path / "train" / "exported"
