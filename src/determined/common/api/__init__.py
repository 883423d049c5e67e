"""Upstream's `determined.common.api`: the errors users' code catches."""

from determined.api.session import Session
from determined.common.api import errors

__all__ = ["Session", "errors"]
