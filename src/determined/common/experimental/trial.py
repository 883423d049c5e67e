"""Upstream's `determined.common.experimental.trial`."""

from determined.experimental.client import (
    LogLevel,
    OrderBy,
    Trial,
    TrialOrderBy,
    TrialReference,
    TrialSortBy,
    TrialState,
)

__all__ = ["LogLevel", "OrderBy", "Trial", "TrialOrderBy", "TrialReference", "TrialSortBy", "TrialState"]
