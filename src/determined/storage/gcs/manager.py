"""`type: gcs`: `<bucket>[/<prefix>]` on Google Cloud Storage. Extra: `gcs`."""

from determined._imports import load_optional
from determined._json import JsonObject
from determined.storage.fields import normalize_prefix
from determined.storage.object_store import CloudStorageManager


class GCSStorageManager(CloudStorageManager):
    """Store in a bucket. Credentials come from the environment, as for every Google tool."""

    def __init__(self, bucket: str, prefix: str | None = None, temp_dir: str | None = None) -> None:
        driver = load_optional("gcsfs", extra="gcs")
        filesystem = driver.GCSFileSystem(use_listings_cache=False)
        super().__init__(filesystem, "/".join(filter(None, (bucket, normalize_prefix(prefix)))), temp_dir)

    @classmethod
    def from_config(cls, config: JsonObject, container_path: str | None) -> "GCSStorageManager":
        return cls(**config)

    def access_errors(self) -> tuple[type[BaseException], ...]:
        google: type[BaseException] = load_optional("google.auth.exceptions", extra="gcs").GoogleAuthError
        return (*super().access_errors(), google)
