"""`determined.experimental.client` and its aliases: the same names from release to release."""

import importlib
import warnings

import pytest

import determined.experimental as experimental
from determined.experimental import client

CLIENT_NAMES = [
    "Checkpoint", "CheckpointOrderBy", "CheckpointSortBy", "CheckpointState", "Determined", "DownloadMode",
    "Experiment", "ExperimentOrderBy", "ExperimentReference", "ExperimentSortBy", "ExperimentState", "LogLevel",
    "Model", "ModelAlias", "ModelAliasChange", "ModelOrderBy", "ModelSortBy", "ModelVersion", "Oauth2ScimClient",
    "OrderBy", "Project",
    "ResourcePool", "TrainingMetrics", "Trial", "TrialMetrics", "TrialOrderBy", "TrialReference", "TrialSortBy",
    "TrialState", "User", "ValidationMetrics", "Webhook", "Workspace", "add_oauth_client", "create_experiment",
    "create_model", "create_user", "create_webhook", "create_workspace", "delete_workspace", "get_checkpoint",
    "get_experiment", "get_model",
    "get_model_by_id", "get_model_labels", "get_models", "get_session_username", "get_trial", "get_user_by_id",
    "get_user_by_name", "get_workspace", "iter_trials_metrics", "list_experiments", "list_models",
    "list_oauth_clients", "list_users", "list_webhooks", "list_workspaces", "login", "logout", "remove_oauth_client",
    "stream_trials_metrics", "stream_trials_training_metrics", "stream_trials_validation_metrics", "whoami",
]  # fmt: skip
ERROR_NAMES = [
    "APIException", "BadRequestException", "BadResponseException", "CorruptCertificateCacheException",
    "CorruptTokenCacheException", "DeleteFailedException", "EmptyResultException",
    "ForbiddenException", "InvalidCredentialsException", "MasterNotFoundException", "NotFoundException",
    "UnauthenticatedException",
]  # fmt: skip


def test_the_public_names_of_the_client_are_these() -> None:
    assert sorted(client.__all__) == CLIENT_NAMES
    assert all(getattr(client, name) is not None for name in client.__all__)


def test_the_classes_are_importable_from_experimental() -> None:
    others = {"Mode", "Session", "create", "create_trial_instance", "estimator", "keras", "test_one_batch"}
    for name in sorted({*experimental.__all__} - others):
        assert getattr(experimental, name) is getattr(client, name, client)


def test_the_older_path_warns_and_gives_the_same_class() -> None:
    older = importlib.import_module("determined.common.experimental")
    with pytest.warns(FutureWarning, match=r"determined\.experimental\.client"):
        assert older.Checkpoint is client.Checkpoint
    assert "Experiment" in dir(older)
    with pytest.raises(AttributeError, match="nonsense"):
        older.nonsense  # noqa: B018


def test_upstreams_error_names_catch_what_we_raise() -> None:
    from determined import errors as ours
    from determined.common.api import errors

    assert sorted(errors.__all__) == ERROR_NAMES
    with pytest.raises(errors.NotFoundException) as e:
        raise ours.NotFound("experiment 7 not found")
    assert (e.value.status_code, e.value.message) == (404, "experiment 7 not found")
    assert issubclass(ours.Forbidden, errors.APIException)
    assert issubclass(ours.MasterNotFound, errors.BadRequestException)


@pytest.mark.parametrize("twin", ["CheckpointOrderBy", "ExperimentOrderBy", "ModelOrderBy", "TrialOrderBy"])
def test_the_old_orders_warn_and_are_order_by(twin: str) -> None:
    cls = getattr(client, twin)
    for name, member in (("ASC", client.OrderBy.ASCENDING), ("DESCENDING", client.OrderBy.DESC)):
        with pytest.warns(FutureWarning, match=twin):
            assert getattr(cls, name) is member
    with pytest.warns(FutureWarning):
        assert cls("ORDER_BY_ASC") is client.OrderBy.ASC
    with pytest.warns(FutureWarning):
        assert cls["DESC"] is client.OrderBy.DESC
    with pytest.warns(FutureWarning):
        assert list(cls) == [client.OrderBy.ASC, client.OrderBy.DESC]
    with pytest.raises(AttributeError, match="SIDEWAYS"):
        cls.SIDEWAYS  # noqa: B018


def test_enum_values_are_wire_strings() -> None:
    assert client.ExperimentState.STOPPING_KILLED.value == "STATE_STOPPING_KILLED"
    assert client.TrialSortBy.LATEST_VALIDATION_METRIC.value == "SORT_BY_LATEST_VALIDATION_METRIC"
    assert str(client.DownloadMode.AUTO) == "auto"
    assert client.OrderBy.ASC is client.OrderBy.ASCENDING


def test_logging_out_without_a_session_only_warns() -> None:
    with pytest.warns(UserWarning, match="without a session"):
        client.logout()


def test_importing_the_client_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.reload(importlib.import_module("determined.experimental"))
