"""Check that checkpoints can be stored: done here for a directory, and as the task for a store with a driver and keys.

The driver may be in the task's Python alone, and the keys in its variables.
"""

import json
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from determined.constants import DEFAULT_RUN_DIR, ENV_RUN_DIR
from determined.exec.probe_storage import NO_DRIVER, UNUSABLE
from determined.exec.runner.preflight.directory import is_on_a_file_system

_PROBE_SECONDS = 120.0  # drivers give up sooner, with better messages


class Lack(StrEnum):
    """Things that a probe can lack."""

    STORE = "store"  # that works
    DRIVER = "driver"  # in the `python3` of the task
    PYTHON = "python"  # that can run it: the task's may be too old for us, or have another release of ours


@dataclass(frozen=True, slots=True)
class Trouble:
    lack: Lack
    reason: str
    advice: str = "correct checkpoint_storage"

    @property
    def remedy(self) -> str:
        """Advice to the user; empty if the reason already has it."""
        return "" if "checkpoint_storage" in self.reason else f"; {self.advice}"

    def is_certain_for(self, entrypoint: str | list[str], *, is_hooked: bool) -> bool:
        """Check whether this task could not save either.

        It may have another Python than `python3`, or a driver that its hooks have put where only it looks.
        """
        if self.lack is Lack.DRIVER:
            from determined.exec.runner.preflight.facts import calls_python

            return not is_hooked and calls_python(entrypoint)
        return self.lack is Lack.STORE


def find_trouble(section: dict[str, Any], variables: dict[str, str], workdir: Path) -> Trouble | None:
    """Return what is wrong with a `checkpoint_storage` for a task with these variables; None when it can be used."""
    if is_on_a_file_system(section):
        return _here(section, (variables.get(ENV_RUN_DIR), DEFAULT_RUN_DIR))
    python = shutil.which("python3", path=variables.get("PATH")) or "python3"
    try:
        done = _probe(python, section, variables, workdir)
    except subprocess.TimeoutExpired:
        return Trouble(Lack.STORE, f"{section['type']} has not answered within {_PROBE_SECONDS:g} s")
    except OSError as e:
        return Trouble(Lack.PYTHON, f"{python} cannot be started ({e.strerror})")
    return _judged(done, python)


def _here(section: dict[str, Any], run_dirs: Iterable[str | None]) -> Trouble | None:
    from determined.storage import probe

    try:
        probe(section, outside=[place for place in run_dirs if place])
    except Exception as e:  # noqa: BLE001  edge to the store: whatever it raises is the reason, in the task's log
        return Trouble(Lack.STORE, str(e))
    return None


def _probe(
    python: str, section: dict[str, Any], variables: dict[str, str], workdir: Path
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        # -P: what lies in the working directory is the user's, and must not take the place of our modules.
        [python, "-P", "-m", "determined.exec.probe_storage"],
        env=variables,
        cwd=workdir,
        input=json.dumps(section),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=_PROBE_SECONDS,
        check=False,
    )


def _judged(done: "subprocess.CompletedProcess[str]", python: str) -> Trouble | None:
    if done.returncode == 0:
        return None
    if done.returncode == UNUSABLE:
        return Trouble(Lack.STORE, _last_line(done.stdout))
    if done.returncode == NO_DRIVER:
        return Trouble(Lack.DRIVER, _last_line(done.stdout), f"that is for {python}, which runs this task")
    said = _last_line(done.stderr) or f"status {done.returncode}"
    return Trouble(Lack.PYTHON, f"{python} cannot run the probe ({said})")


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
