"""The manifest: path, size and hash of each file of a checkpoint, written last. No manifest, no checkpoint.

Ours alone: it is never listed among a checkpoint's resources. Checkpoints of older releases have none; they are
accepted when they have a `metadata.json` and no staging mark.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from determined.errors import CheckpointDamaged, CheckpointNotFound

MANIFEST_NAME = ".det-manifest.json"
STAGING_MARK = ".det-staging"
METADATA_NAME = "metadata.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """File (`hash` as in copying.py) or directory (path ends with `/`, size 0, no hash)."""

    path: str
    size: int
    hash: str | None = None

    @property
    def is_directory(self) -> bool:
        return self.path.endswith("/")


def encode(entries: Iterable[Entry]) -> bytes:
    """Encode the entries by path; later entries of one path win."""
    unique = {entry.path: entry for entry in entries}
    files = [asdict(unique[path]) for path in sorted(unique)]
    return json.dumps({"version": VERSION, "files": files}, indent=1).encode()


def decode(raw: bytes, name: str) -> list[Entry]:
    """Decode the entries of a manifest; `name` is for the error.

    One entry that reaches outside makes it all invalid.
    """
    try:
        return [Entry(check_path(f["path"]), int(f["size"]), f.get("hash")) for f in json.loads(raw)["files"]]
    except (ValueError, KeyError, TypeError) as err:
        raise CheckpointDamaged(
            f"the manifest of checkpoint {name} cannot be read ({err}); use another checkpoint"
        ) from err


def check_path(path: object) -> str:
    """Return a relative path that stays below where it starts. Raises ValueError."""
    text = path.removesuffix("/") if isinstance(path, str) else ""
    if "\0" in text or any(part in ("", ".", "..") for part in text.split("/")):
        raise ValueError(f"path {path!r} does not name a file inside the checkpoint")
    return str(path)


def resources(entries: Iterable[Entry]) -> dict[str, int]:
    """Return relative path -> size, as reported to the master."""
    return {entry.path: entry.size for entry in sorted(entries, key=lambda e: e.path)}


def foreign(checkpoint: str, place: str) -> CheckpointNotFound:
    """Return the error for a directory that is to be deleted and is no checkpoint."""
    return CheckpointNotFound(
        f"{place} has neither a manifest nor a {METADATA_NAME}: it is not checkpoint {checkpoint} and stays; "
        "remove it by hand if it should go"
    )


def damaged(checkpoint: str, entry: Entry, difference: str) -> CheckpointDamaged:
    return CheckpointDamaged(
        f"checkpoint {checkpoint}: file {entry.path!r} is damaged: {difference}, the manifest says "
        f"{entry.size} bytes, hash {entry.hash}; use another checkpoint",
        checkpoint=checkpoint,
        path=entry.path,
    )
