"""Upstream's `determined.common.experimental.trial`."""

from determined.experimental.client import LogLevel, Trial, TrialOrderBy, TrialReference, TrialSortBy, TrialState

__all__ = ["LogLevel", "Trial", "TrialOrderBy", "TrialReference", "TrialSortBy", "TrialState"]
