"""The one file of the launchers that reads os.environ."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from determined.constants import ENV_PYTHON_EXECUTABLE, ENV_RUN_DIR, ENV_SERVED_RUN_DIR


def variables() -> Mapping[str, str]:
    return os.environ


def become(variables: Mapping[str, str]) -> None:
    """Make these, and no others, the variables of this process."""
    os.environ.clear()
    os.environ.update(variables)


def python() -> str:
    """The interpreter of inner processes."""
    return os.environ.get(ENV_PYTHON_EXECUTABLE) or sys.executable


def run_dir() -> Path | None:
    """The private directory of the task on this node; None outside of one."""
    named = os.environ.get(ENV_SERVED_RUN_DIR) or os.environ.get(ENV_RUN_DIR)
    return Path(named) if named and Path(named).is_dir() else None


def rendezvous_port() -> int:
    return int(os.environ.get("C10D_PORT") or 29400)


def ssh_port() -> int:
    return int(os.environ.get("DTRAIN_SSH_PORT") or 12350)
