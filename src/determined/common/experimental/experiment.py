"""Upstream's `determined.common.experimental.experiment`."""

from determined.experimental.client import (
    Experiment,
    ExperimentOrderBy,
    ExperimentReference,
    ExperimentSortBy,
    ExperimentState,
    OrderBy,
)

__all__ = ["Experiment", "ExperimentOrderBy", "ExperimentReference", "ExperimentSortBy", "ExperimentState", "OrderBy"]
