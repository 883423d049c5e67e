"""Upstream's `determined.common.experimental.determined`."""

from determined.experimental.client import Determined, OrderBy

__all__ = ["Determined", "OrderBy"]
