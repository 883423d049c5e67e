"""`determined.common.api` under its first name."""

from determined.common.api import *  # noqa: F403
