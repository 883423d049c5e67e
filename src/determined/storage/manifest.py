"""The manifest: path, size and hash of each file of a checkpoint, written last. No manifest, no checkpoint.

Ours alone: it is never listed among a checkpoint's resources. Checkpoints of older releases have none; they are
accepted when they have a `metadata.json` and no staging mark.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from determined.errors import CheckpointDamaged

MANIFEST_NAME = ".det-manifest.json"
STAGING_MARK = ".det-staging"
METADATA_NAME = "metadata.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One file (`hash` as in copying.py) or directory (path ends with `/`, size 0, no hash)."""

    path: str
    size: int
    hash: str | None = None

    @property
    def is_directory(self) -> bool:
        return self.path.endswith("/")


def encode(entries: Iterable[Entry]) -> bytes:
    """Later entries of one path win; order is by path."""
    unique = {entry.path: entry for entry in entries}
    files = [asdict(unique[path]) for path in sorted(unique)]
    return json.dumps({"version": VERSION, "files": files}, indent=1).encode()


def decode(raw: bytes, name: str) -> list[Entry]:
    """Entries of a manifest; `name` says whose, for the error."""
    try:
        return [Entry(f["path"], f["size"], f.get("hash")) for f in json.loads(raw)["files"]]
    except (ValueError, KeyError, TypeError) as err:
        raise CheckpointDamaged(
            f"the manifest of checkpoint {name} cannot be read ({err}); use another checkpoint"
        ) from err


def resources(entries: Iterable[Entry]) -> dict[str, int]:
    """Relative path -> size, as reported to the master."""
    return {entry.path: entry.size for entry in sorted(entries, key=lambda e: e.path)}


def write_file(path: Path, raw: bytes) -> None:
    """Replace `path` by `raw`, on disk when this returns: a crash leaves the old content or the new, never half."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as out:
        out.write(raw)
        out.flush()
        os.fsync(out.fileno())
    part.replace(path)


def damaged(checkpoint: str, entry: Entry, found: str) -> CheckpointDamaged:
    return CheckpointDamaged(
        f"checkpoint {checkpoint}: file {entry.path!r} is damaged: {found}, the manifest says "
        f"{entry.size} bytes, hash {entry.hash}; use another checkpoint",
        checkpoint=checkpoint,
        path=entry.path,
    )
