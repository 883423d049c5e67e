"""The process environment as the command line reads it; the only file of this room that does."""

import os
import sys
from collections.abc import Callable

from determined import constants

Action = Callable[[], int | None]


def debug() -> bool:
    return os.environ.get(constants.ENV_DEBUG, "").lower() in {"1", "true", "yes"}


def colorize_json() -> bool:
    return os.environ.get(constants.ENV_CLI_COLORIZE, "").lower() in {"1", "true"}


def has_screen() -> bool:
    """Whether a browser that is started here would be seen; over SSH it would be one in the terminal, or none."""
    if "SSH_CONNECTION" in os.environ:
        return False
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def active_python() -> str | None:
    """The interpreter of the virtual or conda environment the user has active, if any."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = os.environ.get(name)
        if prefix and os.access(f"{prefix}/bin/python", os.X_OK):
            return f"{prefix}/bin/python"
    return None
