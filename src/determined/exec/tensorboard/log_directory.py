"""Log directory of a TensorBoard: one entry per source, and whether anything is in it."""

import os
from collections.abc import Iterable
from pathlib import Path

from determined import storage
from determined.storage import registry
from determined.storage.local import LocalStorageManager
from determined.wire.tensorboard_settings import TensorboardSource

_EVENT_FILE = ".tfevents."
_DEEPEST = 12  # a link of a user's may lead back up


def link_local(sources: Iterable[TensorboardSource], root: Path) -> None:
    """Link the directories of mounted stores, which may not be there yet. Containers have them at the same paths.

    Raises:
        ValueError: a storage section is wrong.
    """
    for source in sources:
        manager = storage.build(source.storage)
        assert isinstance(manager, LocalStorageManager)
        path = root / source.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(manager.base / source.prefix)


def is_local(source: TensorboardSource) -> bool:
    return not registry.section(source.storage["type"]).driver


def has_event_files(root: Path) -> bool:
    """Return whether TensorBoard has something to show."""
    for place, directories, names in os.walk(root, followlinks=True):
        if any(_EVENT_FILE in name for name in names):
            return True
        if len(Path(place).relative_to(root).parts) >= _DEEPEST:
            directories.clear()
    return False
