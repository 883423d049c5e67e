"""Python SDK: `from determined.experimental import client`, or the classes themselves."""

from importlib import import_module
from types import ModuleType

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

# What upstream's package has as attributes, and the modules beside them.
_MODULES = frozenset(
    {
        "checkpoint",
        "determined",
        "experiment",
        "metrics",
        "model",
        "oauth2_scim_client",
        "project",
        "resource_pool",
        "session",
        "trial",
        "user",
        "workspace",
    }
)


def __getattr__(name: str) -> ModuleType:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"determined.common.experimental.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
