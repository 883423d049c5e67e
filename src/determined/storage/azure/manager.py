"""`type: azure`: a container on Azure Blob Storage. Extra: `azure`."""

from urllib.parse import urlparse

from determined._imports import load_optional
from determined._json import JsonObject
from determined.storage.object_store import CloudStorageManager


class AzureStorageManager(CloudStorageManager):
    """Store in a container, reached by one of `connection_string` and `account_url` (with or without `credential`)."""

    def __init__(
        self,
        container: str,
        connection_string: str | None = None,
        account_url: str | None = None,
        credential: str | None = None,
        temp_dir: str | None = None,
    ) -> None:
        if bool(connection_string) == bool(account_url):
            raise ValueError("azure storage needs exactly one of connection_string and account_url")
        if credential and not account_url:
            raise ValueError("credential goes with account_url; a connection_string carries its own")
        driver = load_optional("adlfs", extra="azure")
        where = {"connection_string": connection_string} if connection_string else _account(account_url)
        filesystem = driver.AzureBlobFileSystem(**where, credential=credential, use_listings_cache=False)
        super().__init__(filesystem, container, temp_dir)

    @classmethod
    def from_config(cls, config: JsonObject, container_path: str | None) -> "AzureStorageManager":
        return cls(**config)

    def access_errors(self) -> tuple[type[BaseException], ...]:
        azure: type[BaseException] = load_optional("azure.core.exceptions", extra="azure").AzureError
        return (*super().access_errors(), azure)


def _account(account_url: str | None) -> dict[str, str | None]:
    host = urlparse(account_url or "").hostname or ""
    return {"account_name": host.split(".")[0], "account_host": host}
