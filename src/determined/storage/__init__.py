"""Checkpoint files to and from a store: staged, hashed, published by a manifest written last."""

from typing import Any

from determined.storage.base import Paths, Selector, StorageManager
from determined.storage.factory import (
    as_config,
    build,
    from_string,
    manager_class,
    probe,
    validate_config,
    validate_manager,
)
from determined.storage.fields import normalize_prefix

__all__ = [
    "AzureStorageManager",
    "CloudStorageManager",
    "DirectoryStorageManager",
    "GCSStorageManager",
    "Paths",
    "S3StorageManager",
    "Selector",
    "SharedFSStorageManager",
    "StorageManager",
    "as_config",
    "build",
    "from_string",
    "normalize_prefix",
    "probe",
    "validate_config",
    "validate_manager",
]

_KINDS = {
    "AzureStorageManager": "azure",
    "DirectoryStorageManager": "directory",
    "GCSStorageManager": "gcs",
    "S3StorageManager": "s3",
    "SharedFSStorageManager": "shared_fs",
}


def __getattr__(name: str) -> Any:
    if name == "CloudStorageManager":
        from determined.storage.object_store import CloudStorageManager

        return CloudStorageManager
    if name in _KINDS:
        return manager_class(_KINDS[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
