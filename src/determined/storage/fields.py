"""Checks of the values of `checkpoint_storage` sections."""

import posixpath
from enum import StrEnum

from determined.schema.paths import path_problem


class Deduplicate(StrEnum):
    """Part of checkpoints that a store on a file system stores once."""

    NONE = "none"
    FILES = "files"
    BLOCKS = "blocks"  # a large file is no file on the disk then: only readers of the manifest find it


def absolute(name: str, path: str) -> str:
    """Return the path itself.

    Raises ValueError for a relative path: it names another directory wherever a process runs.
    """
    reason = path_problem(path)
    if reason is not None:
        raise ValueError(f"{name} {reason}")
    return path


def normalize_prefix(prefix: str | None) -> str:
    """Normalize `/pre/.//fix` to `pre/fix`; a prefix must not climb out of its bucket."""
    if not prefix:
        return ""
    if ".." in prefix.split("/"):
        raise ValueError(f"prefix={prefix!r} must not contain '..'; name a place inside the bucket")
    return normal_prefix(prefix)


def normal_prefix(prefix: str) -> str:
    """Drop superfluous slashes and dots."""
    cleaned = posixpath.normpath(prefix.lstrip("/")) if prefix.strip("/") else ""
    return "" if cleaned == "." else cleaned


def prefix_problem(prefix: str) -> str | None:
    escapes = prefix == ".." or prefix.startswith("../") or prefix.endswith("/..") or "/../" in prefix
    return "prefix must not be `..`, start with `../`, end with `/..` or contain `/../`" if escapes else None
