"""Checks of `checkpoint_storage` sections that every backend shares."""

from collections.abc import Collection
from posixpath import normpath
from typing import Any

from determined.schema.paths import path_problem


def known(kind: str, config: dict[str, Any], fields: Collection[str], *, required: Collection[str]) -> None:
    """Refuse keys that backend `kind` does not have, and a section without the ones it needs."""
    unknown = sorted(set(config) - set(fields))
    if unknown:
        raise ValueError(f"checkpoint_storage of type {kind} has no field {unknown[0]!r}; it has {sorted(fields)}")
    missing = sorted(name for name in required if not config.get(name))
    if missing:
        raise ValueError(f"checkpoint_storage of type {kind} needs {missing[0]!r}; add it")


def absolute(name: str, path: str) -> str:
    """The path itself. Raises ValueError for one that names another directory wherever a process runs."""
    reason = path_problem(path)
    if reason is not None:
        raise ValueError(f"{name} {reason}")
    return path


def normalize_prefix(prefix: str | None) -> str:
    """`/pre/.//fix` -> `pre/fix`; a prefix must not climb out of its bucket."""
    if not prefix:
        return ""
    if ".." in prefix.split("/"):
        raise ValueError(f"prefix={prefix!r} must not contain '..'; name a place inside the bucket")
    normal = normpath(prefix).lstrip("/")
    return "" if normal == "." else normal
