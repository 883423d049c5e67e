"""The manifest: path, size and hash of each file of a checkpoint, written last. No manifest, no checkpoint.

Ours alone: it is never listed among a checkpoint's resources. Checkpoints of older releases have none; they are
accepted when they have a `metadata.json` and no staging mark.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Annotated

import msgspec

from determined.errors import CheckpointDamaged, CheckpointNotFound
from determined.storage import block_names

MANIFEST_NAME = ".det-manifest.json"
STAGING_MARK = ".det-staging"
METADATA_NAME = "metadata.json"
VERSION = 1
MOST_BYTES = 64 * 1024 * 1024
"""A manifest is read whole into memory, also by the master; this is one of some 400,000 files."""
_LONGEST_PATH = 4096  # characters; no file system takes more


@dataclass(frozen=True, slots=True)
class Entry:
    """File (`hash` as in copying.py) or directory (path ends with `/`, size 0, no hash).

    `blocks`: names of the blocks (block_names.py) that are stored in place of the file, in their order.
    """

    path: str
    size: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
    hash: Annotated[str, msgspec.Meta(pattern=r"\Acrc32-16m:[0-9a-f]{32}\Z")] | None = None
    blocks: tuple[Annotated[str, msgspec.Meta(pattern=block_names.PATTERN)], ...] = ()

    @property
    def is_directory(self) -> bool:
        return self.path.endswith("/")


class _Manifest(msgspec.Struct):
    files: list[Entry]


def encode(entries: Iterable[Entry]) -> bytes:
    """Encode the entries by path; later entries of one path win. Raises ValueError where `decode` would refuse them."""
    unique = {entry.path: entry for entry in entries}
    files = [_plain(unique[path]) for path in sorted(unique)]
    for path in unique:
        _require_text(path)
    raw = json.dumps({"version": VERSION, "files": files}, indent=1).encode()
    if len(raw) > MOST_BYTES:
        raise ValueError(f"a checkpoint of {len(files)} files has a manifest of over {MOST_BYTES} bytes; pack them")
    return raw


def decode(raw: bytes, name: str) -> list[Entry]:
    """Decode the entries of a manifest; `name` is for the error.

    One entry that reaches outside makes it all invalid. A task may have written anything there.
    """
    try:
        return _checked(raw)
    except RecursionError:  # from a field that is ignored
        problem = "it is nested too deeply"
    except ValueError as err:
        problem = str(err)
    raise CheckpointDamaged(f"the manifest of checkpoint {name} cannot be read ({problem}); use another checkpoint")


def _checked(raw: bytes) -> list[Entry]:
    if len(raw) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES} bytes")
    entries = msgspec.json.decode(raw, type=_Manifest).files
    seen: set[str] = set()
    for entry in entries:
        if check_path(entry.path) in seen:
            raise ValueError(f"path {entry.path!r} is there twice")
        seen.add(entry.path)
        if entry.blocks and sum(map(block_names.size_of, entry.blocks)) != entry.size:
            raise ValueError(f"the blocks of {entry.path!r} do not make {entry.size} bytes")
    return entries


def _plain(entry: Entry) -> dict[str, object]:
    values = asdict(entry)
    if not entry.blocks:
        del values["blocks"]
    return values


def _require_text(path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise ValueError(f"the name of file {path!r} is not UTF-8; give it another") from None


def check_path(path: object) -> str:
    """Return a relative path that stays below where it starts. Raises ValueError."""
    text = path.removesuffix("/") if isinstance(path, str) else ""
    if len(text) > _LONGEST_PATH:
        raise ValueError(f"path {text[:100]!r}... has more than {_LONGEST_PATH} characters")
    if "\0" in text or any(part in ("", ".", "..") for part in text.split("/")):
        raise ValueError(f"path {path!r} does not name a file inside the checkpoint")
    return str(path)


def resources(entries: Iterable[Entry]) -> dict[str, int]:
    """Return relative path -> size, as reported to the master."""
    return {entry.path: entry.size for entry in sorted(entries, key=lambda e: e.path)}


def hashes(entries: Iterable[Entry]) -> dict[str, str]:
    """Return relative path -> hash of those that have one."""
    return {entry.path: entry.hash for entry in entries if entry.hash is not None}


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
