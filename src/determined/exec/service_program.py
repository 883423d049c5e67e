"""Programs that serve a task's users (notebook, TensorBoard): what the runner tells them, and what they say.

The one file of these programs that reads os.environ.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from determined import constants as c
from determined.environments.cache_directory import Place, place_of
from determined.errors import FailedPrecondition
from determined.rundir.layout import RunDir
from determined.wire.codec import from_json

T = TypeVar("T")

_NAMES = (c.ENV_SERVICE_SOCKET, c.ENV_SERVICE_PREFIX, c.ENV_SERVICE_SETTINGS)
# Set for the task's own Python; an installer of another environment must not follow them.
_OF_TASK_PYTHON = ("PYTHON", "VIRTUAL_ENV", "CONDA_", "PIP_PREFIX", "PIP_USER", "PIP_IGNORE_INSTALLED", "PIP_TARGET")


@dataclass(frozen=True, slots=True)
class ServiceProgram:
    """Settings that the program was started with. `prefix` begins and ends with a slash."""

    socket: Path
    prefix: str
    settings_file: Path
    variables: Mapping[str, str]

    @property
    def task_id(self) -> str:
        return self.variables.get(c.ENV_TASK_ID, "")

    @property
    def run_dir(self) -> RunDir:
        return RunDir(Path(self.variables.get(c.ENV_RUN_DIR) or c.DEFAULT_RUN_DIR))

    def settings(self, kind: type[T]) -> T:
        """Read the settings. Raises FailedPrecondition."""
        try:
            return from_json(self.settings_file.read_bytes(), kind)
        except (OSError, msgspec.MsgspecError) as err:
            raise FailedPrecondition(f"cannot read the settings of this task in {self.settings_file}: {err}") from err

    def environments(self) -> Place:
        """Return where environments are built on this node, and how."""
        return place_of(self._installer_variables(), lambda text: say("INFO", text))

    def _installer_variables(self) -> dict[str, str]:
        """Return what the runner has written: the task itself has none of the node's indexes and certificates."""
        try:
            given: dict[str, str] = json.loads(self.run_dir.installer.read_text())
        except (OSError, ValueError):
            given = {name: value for name, value in self.variables.items() if not name.startswith(_OF_TASK_PYTHON)}
        return given


def read() -> ServiceProgram:
    """Read what the runner has set.

    Raises:
        FailedPrecondition: this is no task with a service.
    """
    missing = [name for name in _NAMES if not os.environ.get(name)]
    if missing:
        raise FailedPrecondition(f"{', '.join(missing)} not set; this program is started by the runner of a task")
    socket, prefix, settings = (os.environ[name] for name in _NAMES)
    return ServiceProgram(Path(socket), f"/{prefix.strip('/')}/", Path(settings), dict(os.environ))


def say(level: str, text: str) -> None:
    """Write to the task's log."""
    announce(f"{level}: {text}")


def announce(line: str) -> None:
    """Write a line that clients look for, as it is."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
