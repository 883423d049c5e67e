"""Checkpoint files to and from a store: staged, hashed, published by a manifest written last.

Names are loaded on first use: configs know the sections of stores and need nothing else of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from determined.storage.azure.manager import AzureStorageManager
    from determined.storage.base import Paths, Selector, StorageManager
    from determined.storage.directory.manager import DirectoryStorageManager
    from determined.storage.factory import as_config, build, from_string, probe, validate_config, validate_manager
    from determined.storage.fields import normalize_prefix
    from determined.storage.gcs.manager import GCSStorageManager
    from determined.storage.object_store import CloudStorageManager
    from determined.storage.s3.manager import S3StorageManager
    from determined.storage.shared_fs.manager import SharedFSStorageManager

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

_HOMES = {
    "azure.manager": "AzureStorageManager",
    "base": "Paths Selector StorageManager",
    "directory.manager": "DirectoryStorageManager",
    "factory": "as_config build from_string probe validate_config validate_manager",
    "fields": "normalize_prefix",
    "gcs.manager": "GCSStorageManager",
    "object_store": "CloudStorageManager",
    "s3.manager": "S3StorageManager",
    "shared_fs.manager": "SharedFSStorageManager",
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
