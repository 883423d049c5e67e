"""Upstream's `determined.common.experimental.session`."""

from determined.api.session import Session

__all__ = ["Session"]
