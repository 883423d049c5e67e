"""Upstream's `determined.common.experimental.project`."""

from determined.experimental.client import Project

__all__ = ["Project"]
