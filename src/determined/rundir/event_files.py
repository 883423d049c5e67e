"""Ledger of a task's TensorBoard files that are in the store, kept beside them: the runner copies the rest at the end.

Imports nothing but the standard library: a runner looks here at the end of every task that wrote such files.
"""

import json
import stat
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Stamp = tuple[int, int]  # size, and the moment of the last change


@dataclass(frozen=True, slots=True)
class Destination:
    """Destination of copied files, with what another process needs to copy to the same place."""

    storage: dict[str, Any]  # a `checkpoint_storage` section
    container_path: str | None  # where a container has shared_fs mounted
    prefix: str
    python: str
    workdir: str | None  # where a relative path in the section begins


@dataclass(frozen=True, slots=True)
class Ledger:
    """Ledger of one directory. `sent`: size and time of each file, by its path in there, when it was copied."""

    directory: Path
    to: Destination
    sent: dict[str, Stamp] = field(default_factory=dict)

    def keep(self) -> None:
        """Write it down, for the user of the task alone: a storage section has secrets."""
        path = _noted(self.directory)
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        fresh.touch(mode=0o600, exist_ok=False)
        fresh.write_text(json.dumps({"to": asdict(self.to), "sent": self.sent}, default=str))
        fresh.replace(path)


def read_ledger(directory: Path) -> Ledger | None:
    """Read the ledger; None where no process writes one for these files, or the file is not a ledger."""
    try:
        content = json.loads(_noted(directory).read_text())
        sent = {str(path): (int(size), int(changed)) for path, (size, changed) in content["sent"].items()}
        return Ledger(directory, Destination(**content["to"]), sent)
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None


def changed_files(directory: Path, sent: dict[str, Stamp]) -> Iterator[Path]:
    """Yield files that were not sent, or have changed since."""
    for path in sorted(directory.rglob("*")):
        now = stamp(path)
        if now is not None and sent.get(path.relative_to(directory).as_posix()) != now:
            yield path


def stamp(path: Path) -> Stamp | None:
    """Return size and time of a file; None when it is gone, is no regular file, or may not be read.

    Frameworks move their temporary files away.
    """
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def _noted(directory: Path) -> Path:
    return directory.with_suffix(".json")
