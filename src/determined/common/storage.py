"""Upstream's `determined.common.storage`."""

from determined.storage import *  # noqa: F403
