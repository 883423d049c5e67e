"""Upstream's `determined.common.context`: files of a context directory as a submit carries them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from determined.common.api import bindings
from determined.constants import MAX_CONTEXT_BYTES
from determined.errors import DeterminedError
from determined.rundir.context import content_size, read_directory
from determined.wire.experiment import File

__all__ = ["LegacyContext", "read_legacy_context", "read_v1_context"]

LegacyContext = list[dict[str, Any]]


def read_v1_context(
    context_root: Path | None, includes: Iterable[Path] = (), limit: int = MAX_CONTEXT_BYTES
) -> list[bindings.v1File]:
    """Read the files of a directory and of its includes, less those that `.detignore` names.

    Raises:
        ValueError: a path is missing, two have one name, or there is more than `limit` bytes.
    """
    return [bindings.v1File(**_fields(file)) for file in _read(context_root, includes, limit)]


def read_legacy_context(
    context_root: Path | None, includes: Iterable[Path] = (), limit: int = MAX_CONTEXT_BYTES
) -> LegacyContext:
    """Read the same as plain dictionaries."""
    return [_fields(file) for file in _read(context_root, includes, limit)]


def _read(root: Path | None, includes: Iterable[Path], limit: int) -> list[File]:
    try:
        files = read_directory(Path(root) if root is not None else None, [Path(path) for path in includes])
    except DeterminedError as err:
        raise ValueError(err.message) from err
    size = sum(content_size(file) for file in files)
    if size > limit:
        raise ValueError(f"the files have {size} bytes, more than {limit}; name what to leave out in .detignore")
    return files


def _fields(file: File) -> dict[str, Any]:
    return {name: getattr(file, name) for name in file.__struct_fields__}
