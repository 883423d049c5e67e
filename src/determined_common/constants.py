"""`determined.common.constants` under its first name."""

from determined.common.constants import *  # noqa: F403
