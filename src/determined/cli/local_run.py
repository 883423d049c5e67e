"""`det e create --local`: the entrypoint on this machine, off cluster, with no master at all."""

import re
import subprocess
import sys
from pathlib import Path

from determined import config as configuration
from determined.cli import environment, render
from determined.errors import InvalidConfig

_TRIAL_CLASS = re.compile(r"^[a-zA-Z0-9_.]+:[a-zA-Z0-9_]+$")


def run(text: str, directory: Path, *, test_mode: bool) -> int:
    """Run it in `directory` and return its exit status."""
    raw = configuration.canonicalize(configuration.parse_yaml(text))
    configuration.check_sane(raw)
    entrypoint = raw.get("entrypoint")
    if not entrypoint:
        raise InvalidConfig("invalid experiment configuration", ["<config>: managed experiments require entrypoint"])
    python = environment.active_python() or sys.executable
    render.line(f"Running locally in {directory.resolve()}: {entrypoint}", file=sys.stderr)
    status = subprocess.run(_argv(entrypoint, python), cwd=directory, check=False).returncode
    if test_mode:
        render.line("Local test succeeded" if status == 0 else f"Local test failed with status {status}")
    return status if status >= 0 else 128 - status


def _argv(entrypoint: str | list[str], python: str) -> list[str]:
    if isinstance(entrypoint, list):
        return entrypoint
    if _TRIAL_CLASS.match(entrypoint):
        return [python, "-m", "determined.exec.harness", entrypoint]
    return ["sh", "-c", entrypoint]
