"""`determined.common.util` under its first name."""

from determined.common.util import *  # noqa: F403
