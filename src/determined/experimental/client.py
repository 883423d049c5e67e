"""Functions of one lazily made `Determined`: `from determined.experimental import client`.

Example:
    >>> from determined.experimental import client
    >>> client.login("localhost:8080", "determined", "password")
    >>> experiment = client.create_experiment("config.yaml", ".")
    >>> print(experiment.wait())
"""

import functools
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from determined.sdk.checkpoint import Checkpoint
    from determined.sdk.deprecation import CheckpointOrderBy, ExperimentOrderBy, ModelOrderBy, TrialOrderBy
    from determined.sdk.determined import Determined
    from determined.sdk.enums import (
        CheckpointSortBy,
        CheckpointState,
        DownloadMode,
        ExperimentSortBy,
        ExperimentState,
        LogLevel,
        ModelSortBy,
        OrderBy,
        TrialSortBy,
        TrialState,
    )
    from determined.sdk.experiment import Experiment, ExperimentReference
    from determined.sdk.metrics import TrainingMetrics, TrialMetrics, ValidationMetrics
    from determined.sdk.model import Model
    from determined.sdk.model_alias import ModelAlias, ModelAliasChange
    from determined.sdk.model_version import ModelVersion
    from determined.sdk.oauth_client import Oauth2ScimClient
    from determined.sdk.project import Project
    from determined.sdk.trial import Trial, TrialReference
    from determined.sdk.user import User
    from determined.sdk.webhook import Webhook
    from determined.sdk.workspace import ResourcePool, Workspace

__all__ = [
    "Checkpoint",
    "CheckpointOrderBy",
    "CheckpointSortBy",
    "CheckpointState",
    "Determined",
    "DownloadMode",
    "Experiment",
    "ExperimentOrderBy",
    "ExperimentReference",
    "ExperimentSortBy",
    "ExperimentState",
    "LogLevel",
    "Model",
    "ModelAlias",
    "ModelAliasChange",
    "ModelOrderBy",
    "ModelSortBy",
    "ModelVersion",
    "Oauth2ScimClient",
    "OrderBy",
    "Project",
    "ResourcePool",
    "TrainingMetrics",
    "Trial",
    "TrialMetrics",
    "TrialOrderBy",
    "TrialReference",
    "TrialSortBy",
    "TrialState",
    "User",
    "ValidationMetrics",
    "Webhook",
    "Workspace",
    "add_oauth_client",
    "create_experiment",
    "create_model",
    "create_user",
    "create_webhook",
    "create_workspace",
    "delete_workspace",
    "get_checkpoint",
    "get_experiment",
    "get_model",
    "get_model_by_id",
    "get_model_labels",
    "get_models",
    "get_session_username",
    "get_trial",
    "get_user_by_id",
    "get_user_by_name",
    "get_workspace",
    "iter_trials_metrics",
    "list_experiments",
    "list_models",
    "list_oauth_clients",
    "list_users",
    "list_webhooks",
    "list_workspaces",
    "login",
    "logout",
    "remove_oauth_client",
    "stream_trials_metrics",
    "stream_trials_training_metrics",
    "stream_trials_validation_metrics",
    "whoami",
]

R = TypeVar("R")

# name -> module of determined.sdk. All is loaded when it is first asked for: with it come an HTTP client and TLS.
_HOMES = {
    "Checkpoint": "checkpoint",
    "CheckpointOrderBy": "deprecation",
    "CheckpointSortBy": "enums",
    "CheckpointState": "enums",
    "Determined": "determined",
    "DownloadMode": "enums",
    "Experiment": "experiment",
    "ExperimentOrderBy": "deprecation",
    "ExperimentReference": "experiment",
    "ExperimentSortBy": "enums",
    "ExperimentState": "enums",
    "LogLevel": "enums",
    "Model": "model",
    "ModelAlias": "model_alias",
    "ModelAliasChange": "model_alias",
    "ModelOrderBy": "deprecation",
    "ModelSortBy": "enums",
    "ModelVersion": "model_version",
    "Oauth2ScimClient": "oauth_client",
    "OrderBy": "enums",
    "Project": "project",
    "ResourcePool": "workspace",
    "TrainingMetrics": "metrics",
    "Trial": "trial",
    "TrialMetrics": "metrics",
    "TrialOrderBy": "deprecation",
    "TrialReference": "trial",
    "TrialSortBy": "enums",
    "TrialState": "enums",
    "User": "user",
    "ValidationMetrics": "metrics",
    "Webhook": "webhook",
    "Workspace": "workspace",
}

_determined: "Determined | None" = None


def login(
    master: str | None = None,
    user: str | None = None,
    password: str | None = None,
    cert_path: str | None = None,
    cert_name: str | None = None,
    noverify: bool = False,
) -> None:
    """Log in once, before anything else in this module. Raises ValueError the second time."""
    global _determined
    if _determined is not None:
        raise ValueError("client.login() was called twice, or after another function of this module had logged in")
    _determined = _class()(master, user, password, cert_path, cert_name, noverify)


def logout() -> None:
    """Log out; without a session there is nothing to do."""
    global _determined
    if _determined is None:
        warnings.warn("client.logout() was called without a session", stacklevel=2)
        return
    _determined.logout()
    _determined = None


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES.get(name)
    value = _of_determined(getattr(_class(), name)) if home is None else _from_sdk(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _class() -> "type[Determined]":
    found: type[Determined] = _from_sdk("determined", "Determined")
    return found


def _from_sdk(module: str, name: str) -> Any:
    return getattr(import_module(f"determined.sdk.{module}"), name)


def _session() -> "Determined":
    global _determined
    if _determined is None:
        _determined = _class()()
    return _determined


def _of_determined(method: Callable[..., R]) -> Callable[..., R]:
    """The function of this module that calls `method` on the one Determined."""

    import inspect

    @functools.wraps(method)
    def call(*args: object, **kwargs: object) -> R:
        return method(_session(), *args, **kwargs)

    shown = inspect.signature(method)
    without_self = shown.replace(parameters=list(shown.parameters.values())[1:])
    call.__signature__ = without_self  # type: ignore[attr-defined]  # what help() and editors show
    return call


if TYPE_CHECKING:
    create_experiment = _of_determined(Determined.create_experiment)
    get_experiment = _of_determined(Determined.get_experiment)
    list_experiments = _of_determined(Determined.list_experiments)
    get_trial = _of_determined(Determined.get_trial)
    get_checkpoint = _of_determined(Determined.get_checkpoint)
    create_user = _of_determined(Determined.create_user)
    get_user_by_id = _of_determined(Determined.get_user_by_id)
    get_user_by_name = _of_determined(Determined.get_user_by_name)
    whoami = _of_determined(Determined.whoami)
    get_session_username = _of_determined(Determined.get_session_username)
    list_users = _of_determined(Determined.list_users)
    get_workspace = _of_determined(Determined.get_workspace)
    list_workspaces = _of_determined(Determined.list_workspaces)
    create_workspace = _of_determined(Determined.create_workspace)
    delete_workspace = _of_determined(Determined.delete_workspace)
    create_webhook = _of_determined(Determined.create_webhook)
    list_webhooks = _of_determined(Determined.list_webhooks)
    iter_trials_metrics = _of_determined(Determined.iter_trials_metrics)
    stream_trials_metrics = _of_determined(Determined.stream_trials_metrics)
    stream_trials_training_metrics = _of_determined(Determined.stream_trials_training_metrics)
    stream_trials_validation_metrics = _of_determined(Determined.stream_trials_validation_metrics)
    create_model = _of_determined(Determined.create_model)
    get_model = _of_determined(Determined.get_model)
    get_model_by_id = _of_determined(Determined.get_model_by_id)
    get_model_labels = _of_determined(Determined.get_model_labels)
    get_models = _of_determined(Determined.get_models)
    list_models = _of_determined(Determined.list_models)
    add_oauth_client = _of_determined(Determined.add_oauth_client)
    list_oauth_clients = _of_determined(Determined.list_oauth_clients)
    remove_oauth_client = _of_determined(Determined.remove_oauth_client)
