"""`determined.common.api.errors` under its first name."""

from determined.common.api.errors import *  # noqa: F403
