"""Check that checkpoints go to the same directory on all nodes: the chief writes a mark, the others look for it."""

import logging
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from determined.storage import StorageManager

logger = logging.getLogger(__name__)

_NAME = "MARK.txt"
_MARK = ".preflight-"
_STALE_SECONDS = 3600.0  # a check takes seconds, but the clock that dates the files may be another host's
_LOOK_SECONDS = 0.1


def is_on_a_file_system(section: dict[str, Any]) -> bool:
    from determined.storage import registry

    return registry.section(section.get("type")).path_key != ""


class CheckpointDirectory:
    """Directory of a storage section; `of` returns None for a section that names none."""

    def __init__(self, manager: "StorageManager") -> None:
        self._manager = manager
        self.place: str = manager._base_path

    @classmethod
    def of(cls, config: dict[str, Any] | None) -> "CheckpointDirectory | None":
        section = (config or {}).get("checkpoint_storage") or {}
        if not is_on_a_file_system(section):
            return None
        from determined.storage import build

        try:
            return cls(build(section))
        except ValueError as e:  # the storage probe, which comes next, says so
            logger.warning("no mark is left: %s", e)
            return None

    def leave_mark(self) -> str | None:
        """Write a mark and return its name.

        None: nothing can be written; the storage probe, which comes next, says why.
        """
        name = f"{_MARK}{uuid4()}"
        try:
            with tempfile.TemporaryDirectory(prefix="determined-preflight-") as scratch:
                source = Path(scratch) / _NAME
                source.write_text(name)
                self._manager.put(source, f"{name}/{_NAME}")
        except OSError as e:
            logger.warning("cannot leave a mark in %s: %s", self.place, e)
            return None
        return name

    def remove_mark(self, name: str) -> None:
        try:
            self._manager.remove(name)
        except OSError as e:
            logger.warning("cannot remove the mark %s/%s: %s", self.place, name, e)

    def sweep(self, now: float) -> None:
        """Remove marks of checks that were killed before they could."""
        try:
            stale = [path for path in Path(self.place).glob(f"{_MARK}*") if _is_stale(path, now)]
        except OSError as e:
            logger.info("%s is not swept: %s", self.place, e)
            return
        for path in stale:
            self.remove_mark(path.name)

    def look_for(self, name: str, deadline: float) -> str | None:
        """Wait for the mark until the (monotonic) deadline: return None when it is there, else why it is not.

        A network file system may be slow.
        """
        while (reason := self._miss(name)) is not None and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
        return reason

    def _miss(self, name: str) -> str | None:
        try:
            seen = self._manager.read(f"{name}/{_NAME}")
        except FileNotFoundError:
            return "what the chief wrote there is not to be seen"
        except OSError as e:
            return e.strerror or str(e)
        return None if seen == name.encode() else "what the chief wrote there reads differently"


def _is_stale(mark: Path, now: float) -> bool:
    try:
        return now - mark.stat().st_mtime > _STALE_SECONDS
    except FileNotFoundError:
        return False  # a check that has ended has removed its own
