"""Python SDK: `from determined.experimental import client`, or the classes themselves."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

# Loaded when it is first asked for: with it come an HTTP client and TLS.
_HOMES = {
    "Mode": "experimental._native",
    "Session": "api.session",
    "create": "experimental._native",
    "create_trial_instance": "experimental._trial_instance",
    "test_one_batch": "experimental._one_batch",
}
# What upstream's package has as attributes, and the modules beside them.
_OLDER_MODULES = frozenset(
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
_MODULES = frozenset({"client", "estimator", "keras"})


def __getattr__(name: str) -> Any:
    if name in _OLDER_MODULES:
        return import_module(f"determined.common.experimental.{name}")
    if name in _MODULES:
        return import_module(f"determined.experimental.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"determined.{_HOMES.get(name, 'experimental.client')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_OLDER_MODULES})
