"""Upstream's `determined.common.experimental.workspace`."""

from determined.experimental.client import ResourcePool, Workspace

__all__ = ["ResourcePool", "Workspace"]
