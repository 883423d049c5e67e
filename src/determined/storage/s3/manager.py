"""`type: s3`: `<bucket>[/<prefix>]` on Amazon S3 or anything that speaks it (`endpoint_url`). Extra: `s3`."""

from determined._imports import load_optional
from determined._json import JsonObject
from determined.storage.fields import normalize_prefix
from determined.storage.object_store import CloudStorageManager


class S3StorageManager(CloudStorageManager):
    """Store in a bucket. Credentials left out come from the environment, as for every AWS tool."""

    def __init__(
        self,
        bucket: str,
        access_key: str | None = None,
        secret_key: str | None = None,
        endpoint_url: str | None = None,
        prefix: str | None = None,
        temp_dir: str | None = None,
    ) -> None:
        driver = load_optional("s3fs", extra="s3")
        filesystem = driver.S3FileSystem(
            key=access_key, secret=secret_key, endpoint_url=endpoint_url, use_listings_cache=False
        )
        super().__init__(filesystem, "/".join(filter(None, (bucket, normalize_prefix(prefix)))), temp_dir)

    @classmethod
    def from_config(cls, config: JsonObject, container_path: str | None) -> "S3StorageManager":
        return cls(**config)

    def access_errors(self) -> tuple[type[BaseException], ...]:
        botocore: type[BaseException] = load_optional("botocore.exceptions", extra="s3").BotoCoreError
        return (*super().access_errors(), botocore)
