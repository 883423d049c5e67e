"""Registry of checkpoint stores. Each is a folder, named by its kind, with the modules `config` (its section, with its
traits) and `manager`. To know of a store, only its `config` is imported: nobody needs the driver of another. Training
processes import this module at their start, and the schema of sections only where they read one."""

import functools
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from determined.storage.section import CheckpointStorage


@functools.cache
def kinds() -> tuple[str, ...]:
    """Return all stores, sorted."""
    return tuple(sorted(file.parent.name for file in Path(__file__).parent.glob("*/config.py")))


@functools.cache
def sections() -> "Mapping[str, type[CheckpointStorage]]":
    """Return the sections by kind, the usual ones first."""
    sections_by_kind = {kind: _section(kind) for kind in kinds()}
    return dict(sorted(sections_by_kind.items(), key=lambda item: (item[1].order, item[0])))


def section(kind: object) -> "type[CheckpointStorage]":
    """Return the section of one kind; for an unknown one, the section that all share."""
    from determined.storage.section import CheckpointStorage

    return _section(kind) if isinstance(kind, str) and kind in kinds() else CheckpointStorage


def remote_kinds() -> list[str]:
    """List the stores that are reached through a driver, not through a file system of the node."""
    return [kind for kind, declared in sections().items() if declared.driver]


def classes(kind: str, name: str) -> list[type]:
    """Import a module of a store's folder; list the classes that it defines."""
    module = importlib.import_module(f"{__package__}.{kind}.{name}")
    return [item for item in vars(module).values() if isinstance(item, type) and item.__module__ == module.__name__]


@functools.cache
def _section(kind: str) -> "type[CheckpointStorage]":
    from determined.storage.section import CheckpointStorage

    (declared,) = [item for item in classes(kind, "config") if issubclass(item, CheckpointStorage)]
    return declared
