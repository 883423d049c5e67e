"""Secrets out of configs that are shown."""

from determined.config import mask_secrets
from determined.constants import MASKED


def test_known_secrets_are_masked_and_the_rest_stays() -> None:
    raw = {
        "checkpoint_storage": {"type": "s3", "bucket": "b", "access_key": "1", "secret_key": "2", "prefix": None},
        "environment": {"registry_auth": {"username": "u", "password": "3"}},
        "data": {"secrets": {"a": "4", "b": {"c": [5, 6]}}, "url": "x"},
        "integrations": {"pachyderm": {"dataset": {"token": "7", "repo": "r"}}},
        "hyperparameters": {"registry_auth": {"password": {"type": "const", "val": 1}}},
        "name": "n",
    }
    masked = mask_secrets(raw)
    assert masked["checkpoint_storage"] == {
        "type": "s3", "bucket": "b", "access_key": MASKED, "secret_key": MASKED, "prefix": None,
    }  # fmt: skip
    assert masked["environment"]["registry_auth"] == {"username": "u", "password": MASKED}
    assert masked["data"] == {"secrets": {"a": MASKED, "b": {"c": [MASKED, MASKED]}}, "url": "x"}
    assert masked["integrations"]["pachyderm"]["dataset"] == {"token": MASKED, "repo": "r"}
    assert masked["hyperparameters"] == raw["hyperparameters"]
    assert raw["data"]["secrets"]["a"] == "4"  # type: ignore[index]


def test_azure_and_master_secrets_are_masked() -> None:
    raw = {
        "checkpoint_storage": {"type": "azure", "connection_string": "s", "account_url": "u", "credential": "c"},
        "db": {"user": "postgres", "password": "p"},
        "security": {"initial_user_password": "i"},
        "telemetry": {"segment_master_key": "k", "enabled": True},
        "webhooks": {"signing_key": "w", "base_url": "b"},
        "task_container_defaults": {"registry_auth": {"password": "r"}},
        "resource_pools": [{"task_container_defaults": {"registry_auth": {"password": "q"}}}],
    }
    masked = mask_secrets(raw)
    assert masked["checkpoint_storage"]["connection_string"] == masked["checkpoint_storage"]["credential"] == MASKED
    assert masked["checkpoint_storage"]["account_url"] == "u"
    assert masked["db"] == {"user": "postgres", "password": MASKED}
    assert masked["security"]["initial_user_password"] == MASKED
    assert masked["telemetry"] == {"segment_master_key": MASKED, "enabled": True}
    assert masked["webhooks"] == {"signing_key": MASKED, "base_url": "b"}
    assert masked["task_container_defaults"]["registry_auth"]["password"] == MASKED
    assert masked["resource_pools"][0]["task_container_defaults"]["registry_auth"]["password"] == MASKED


def test_a_config_of_wrong_shapes_is_masked_without_failing() -> None:
    assert mask_secrets({"data": {"secrets": "x"}, "db": "url", "checkpoint_storage": [1]}) == {
        "data": {"secrets": MASKED},
        "db": "url",
        "checkpoint_storage": [1],
    }


def test_the_login_of_an_index_is_masked_where_requirements_stand_in_the_config() -> None:
    lines = ["numpy", "--extra-index-url https://me:pass@h/simple", "-i https://h/simple"]
    masked = mask_secrets({"environment": {"python": {"requirements": lines}}})
    assert masked["environment"]["python"]["requirements"] == ["numpy", MASKED, "-i https://h/simple"]
    by_file = {"environment": {"python": {"requirements": "requirements.txt"}}}
    assert mask_secrets(by_file) == by_file
