"""Upstream's `determined.common.experimental.determined`."""

from determined.experimental.client import Determined

__all__ = ["Determined"]
