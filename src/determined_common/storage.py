"""`determined.common.storage` under its first name."""

from determined.common.storage import *  # noqa: F403
