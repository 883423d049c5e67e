"""`type: azure`: a container on Azure Blob Storage."""

from collections.abc import Iterator

from determined._json import JsonObject
from determined.schema.node import Text
from determined.schema.section import field
from determined.storage.section import CheckpointStorage


def _one_account(value: JsonObject) -> Iterator[tuple[str, str]]:
    if value.get("connection_string") is not None and value.get("account_url") is not None:
        yield "", "give exactly one of connection_string or account_url"
    if value.get("credential") is not None and value.get("account_url") is None:
        yield "", "credential goes with account_url only"


def _some_account(value: JsonObject) -> Iterator[tuple[str, str]]:
    if value.get("connection_string") is None and value.get("account_url") is None:
        yield "", "give exactly one of connection_string or account_url"


class Azure(CheckpointStorage, rules=(_one_account,), complete_rules=(_some_account,)):
    """A container of Azure Blob Storage."""

    kind = "azure"
    driver = "adlfs"
    code_keys = ("temp_dir",)
    order = 5
    place_key = "container"
    account_keys = ("connection_string", "account_url")
    credential_keys = ("credential",)

    container: str = field(Text(), "Name of the container.")
    connection_string: str | None = field(Text(), "This, or `account_url`.", default=None, secret=True)
    account_url: str | None = field(Text(), "This, or `connection_string`.", default=None)
    credential: str | None = field(Text(), "Goes with `account_url`.", default=None, secret=True)
