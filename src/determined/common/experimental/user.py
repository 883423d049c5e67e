"""Upstream's `determined.common.experimental.user`."""

from determined.experimental.client import User

__all__ = ["User"]
