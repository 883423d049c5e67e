"""Secrets out of configs that are shown."""

import pytest

from determined.config import mask_secrets
from determined.constants import MASKED
from determined.master.config.file import MasterFile


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
        "resource_pools": [
            {
                "task_container_defaults": {
                    "registry_auth": {"password": "q"},
                    "environment_variables": {"cpu": ["HF_TOKEN=t"]},
                }
            }
        ],
    }
    masked = mask_secrets(raw, MasterFile)
    assert masked["checkpoint_storage"]["connection_string"] == masked["checkpoint_storage"]["credential"] == MASKED
    assert masked["checkpoint_storage"]["account_url"] == "u"
    assert masked["db"] == {"user": "postgres", "password": MASKED}
    assert masked["security"]["initial_user_password"] == MASKED
    assert masked["telemetry"] == {"segment_master_key": MASKED, "enabled": True}
    assert masked["webhooks"] == {"signing_key": MASKED, "base_url": "b"}
    assert masked["task_container_defaults"]["registry_auth"]["password"] == MASKED
    of_pool = masked["resource_pools"][0]["task_container_defaults"]
    assert of_pool["registry_auth"]["password"] == MASKED
    assert of_pool["environment_variables"] == {"cpu": [f"HF_TOKEN={MASKED}"]}


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


SECRETS = """
WANDB_API_KEY AWS_SECRET_ACCESS_KEY HF_TOKEN DB_PASSWORD PGPASSWORD apiKey DB_PASS SSH_PASSPHRASE DB_PWD
GOOGLE_CREDENTIALS AZURE_STORAGE_CONNECTION_STRING SENTRY_DSN API_KEYS
"""
PLAIN = """
TOKENIZERS_PARALLELISM=false MAX_TOKENS=5 PWD=/x NCCL_DEBUG=INFO PATH=/a:/b AUTHOR=me NAME_ONLY
HTTP_PROXY=http://proxy:3128 MAIL=me@example.com URL=https://h/a@b REPO=ssh://git@github.com/x
"""


@pytest.mark.parametrize("name", SECRETS.split())
def test_variable_that_is_called_like_a_secret_is_masked(name: str) -> None:
    for entries in ([f"{name}=abc"], {"cpu": [f"{name}=abc"], "cuda": []}):
        masked = mask_secrets({"environment": {"environment_variables": entries}})
        assert "abc" not in str(masked) and f"{name}={MASKED}" in str(masked)


@pytest.mark.parametrize("entry", PLAIN.split())
def test_other_variables_are_shown(entry: str) -> None:
    raw = {"environment": {"environment_variables": [entry]}}
    assert mask_secrets(raw) == raw


def test_logins_in_urls_are_masked_wherever_they_stand_but_in_hyperparameters() -> None:
    raw = {
        "description": "see https://me:pa@ss@host/x and ftp://u:p@h",
        "entrypoint": ["python3", "train.py", "postgresql://u:p@h/db"],
        "environment": {"environment_variables": ["HTTPS_PROXY=http://u:p@proxy:3128", "INDEX=https://tok@h/simple"]},
        "data": {"url": "https://u:p@h/data", "api_key": "k", "nested": {"db_password": "p"}, "pad_token": "<pad>"},
        "hyperparameters": {"url": "https://u:p@h"},
    }
    masked = mask_secrets(raw)
    assert masked["description"] == f"see https://{MASKED}@host/x and ftp://{MASKED}@h"
    assert masked["entrypoint"][2] == f"postgresql://{MASKED}@h/db"
    assert masked["environment"]["environment_variables"] == [
        f"HTTPS_PROXY=http://{MASKED}@proxy:3128",
        f"INDEX=https://{MASKED}@h/simple",
    ]
    assert masked["data"] == {
        "url": f"https://{MASKED}@h/data", "api_key": MASKED, "nested": {"db_password": MASKED}, "pad_token": "<pad>",
    }  # fmt: skip
    assert masked["hyperparameters"] == raw["hyperparameters"]
