"""Loose file of a store: one that belongs to no checkpoint, such as an event file of TensorBoard."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Under these names drivers say which version of an object they have listed; the first that is there counts.
_VERSION_KEYS = ("ETag", "etag", "generation", "updated", "LastModified", "last_modified", "mtime", "created")


@dataclass(frozen=True, slots=True)
class LooseFile:
    """Size of a loose file, and a text that is another one after each change."""

    size: int
    version: str


def from_driver(info: Mapping[str, Any]) -> LooseFile:
    """Build it from what a driver of fsspec says of an object."""
    version = next((str(info[key]) for key in _VERSION_KEYS if info.get(key) is not None), "")
    return LooseFile(int(info["size"]), version)
