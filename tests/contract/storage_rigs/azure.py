"""Azure Blob Storage, with fsspec's in-memory file system in place of the driver's."""

from pathlib import Path
from types import SimpleNamespace

import fsspec

from determined._json import JsonObject


def section(place: Path) -> JsonObject:
    return {"type": "azure", "container": "bucket", "account_url": "https://a.example", "temp_dir": str(place)}


def _file_system(**options: object) -> fsspec.AbstractFileSystem:
    return fsspec.filesystem("memory")


DRIVERS = {
    "adlfs": SimpleNamespace(AzureBlobFileSystem=_file_system),
    "azure.core.exceptions": SimpleNamespace(AzureError=ConnectionError),
}
