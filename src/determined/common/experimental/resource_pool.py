"""Upstream's `determined.common.experimental.resource_pool`."""

from determined.experimental.client import ResourcePool

__all__ = ["ResourcePool"]
