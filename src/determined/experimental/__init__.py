"""Python SDK: `from determined.experimental import client`, or the classes themselves."""

from determined.api.session import Session
from determined.experimental import client, estimator, keras
from determined.experimental._native import Mode, create
from determined.experimental._one_batch import test_one_batch
from determined.experimental._trial_instance import create_trial_instance
from determined.experimental.client import (
    Checkpoint,
    Determined,
    Experiment,
    ExperimentReference,
    Model,
    ModelOrderBy,
    ModelSortBy,
    ModelVersion,
    OrderBy,
    Project,
    TrainingMetrics,
    Trial,
    TrialMetrics,
    TrialOrderBy,
    TrialReference,
    TrialSortBy,
    ValidationMetrics,
)

__all__ = [
    "Checkpoint",
    "Determined",
    "Experiment",
    "ExperimentReference",
    "Mode",
    "Model",
    "ModelOrderBy",
    "ModelSortBy",
    "ModelVersion",
    "OrderBy",
    "Project",
    "Session",
    "TrainingMetrics",
    "Trial",
    "TrialMetrics",
    "TrialOrderBy",
    "TrialReference",
    "TrialSortBy",
    "ValidationMetrics",
    "client",
    "create",
    "create_trial_instance",
    "estimator",
    "keras",
    "test_one_batch",
]
