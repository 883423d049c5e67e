"""Python SDK: `from determined.experimental import client`, or the classes themselves."""

from determined.experimental import client
from determined.experimental._one_batch import test_one_batch
from determined.experimental._trial_instance import create_trial_instance
from determined.experimental.client import (
    Checkpoint,
    Determined,
    Experiment,
    ExperimentReference,
    OrderBy,
    Project,
    Trial,
    TrialOrderBy,
    TrialReference,
    TrialSortBy,
)

__all__ = [
    "Checkpoint",
    "Determined",
    "Experiment",
    "ExperimentReference",
    "OrderBy",
    "Project",
    "Trial",
    "TrialOrderBy",
    "TrialReference",
    "TrialSortBy",
    "client",
    "create_trial_instance",
    "test_one_batch",
]
