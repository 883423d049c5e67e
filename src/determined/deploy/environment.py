"""The process environment as starting a master reads it; the only file of this room that does."""

import os

from determined.constants import ENV_ENVIRONMENT_CACHE


def for_master() -> dict[str, str]:
    """Return a master's environment: this one without variables of tasks and of other masters."""
    return {k: v for k, v in os.environ.items() if not k.startswith("DET_") or k.startswith(ENV_ENVIRONMENT_CACHE)}
