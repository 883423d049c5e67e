"""`det e create --local`: the entrypoint on this machine, off cluster, with no master at all."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from determined import config as configuration
from determined.cli import local_packages, render
from determined.cli.local_packages import Surroundings
from determined.errors import InvalidArgument, InvalidConfig

_TRIAL_CLASS = re.compile(r"^[a-zA-Z0-9_.]+:[a-zA-Z0-9_]+$")
_LAUNCHED_CLASS = re.compile(r"\bdetermined\.launch\.\w+\s.*--trial[\s=]+([a-zA-Z0-9_.]+:[a-zA-Z0-9_]+)\s*$")


def run(text: str, directory: Path, *, test_mode: bool) -> int:
    """Run it in `directory` and return its exit status. A trial class is tried on one batch, a script is run."""
    raw = configuration.canonicalize(configuration.parse_yaml(text))
    configuration.check_sane(raw, whole=True)
    entrypoint = raw.get("entrypoint")
    if not entrypoint:
        raise InvalidConfig("invalid experiment configuration", ["<config>: managed experiments require entrypoint"])
    trial_class = trial_class_of(entrypoint)
    if trial_class is not None and not test_mode:
        raise InvalidArgument(
            f"entrypoint {trial_class} is a trial class, and its training is driven by a master; try it on one batch "
            "with --local --test, or leave out --local: a master starts by itself"
        )
    render.line(f"Running locally in {directory.resolve()}: {entrypoint}", file=sys.stderr)
    with local_packages.prepared(raw, directory) as around:
        if trial_class is not None:
            status = _try(trial_class, raw, directory, around)
        else:
            status = _run(_argv(entrypoint), directory, around)
    if test_mode:
        render.line("Local test succeeded" if status == 0 else f"Local test failed with status {status}")
    return status if status >= 0 else 128 - status


def trial_class_of(entrypoint: str | list[str]) -> str | None:
    """`model_def:MyTrial` if the entrypoint is one, or a launcher that starts one; None for a script."""
    words = " ".join(entrypoint) if isinstance(entrypoint, list) else entrypoint.strip()
    if _TRIAL_CLASS.match(words):
        return words
    launched = _LAUNCHED_CLASS.search(words)
    return launched[1] if launched else None


def _try(trial_class: str, raw: dict[str, Any], directory: Path, around: Surroundings) -> int:
    """Try the trial in a process of its own: `det` may be installed in another environment than the framework."""
    with tempfile.NamedTemporaryFile("w", prefix="determined-", suffix=".json") as config:
        json.dump(raw, config)
        config.flush()
        return _run([around.python, "-m", "determined.exec.one_batch", trial_class, config.name], directory, around)


def _run(argv: list[str], directory: Path, around: Surroundings) -> int:
    return subprocess.run(argv, cwd=directory, check=False, env=around.variables).returncode


def _argv(entrypoint: str | list[str]) -> list[str]:
    return entrypoint if isinstance(entrypoint, list) else ["sh", "-c", entrypoint]
