"""`determined.common.check` under its first name."""

from determined.common.check import *  # noqa: F403
