"""Files of a model version through the master: listed with the manifest's hashes, sent whole or in part."""

import hashlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import FailedPrecondition
from determined.master.context import MasterContext
from determined.master.db.queries.checkpoint_list import CheckpointDetail
from determined.master.services.byte_range import wanted_part
from determined.master.services.checkpoint_download import USABLE, in_threads, locate, read_exactly
from determined.master.services.experiment_files import open_storage
from determined.master.services.model_name import existing_model
from determined.master.services.model_version import existing_version
from determined.master.services.storage_reading import in_thread
from determined.storage import StorageManager
from determined.storage.manifest import Entry
from determined.wire.model_version import ModelFile, ModelFilesResponse


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version, its checkpoint and the storage that it is in."""

    model_name: str
    version: int
    checkpoint: CheckpointDetail
    storage: JsonObject | None


@dataclass(frozen=True, slots=True)
class FilePart:
    """Bytes `start` to `end` (not included) of a file of `size`; `tag` changes with its content."""

    size: int
    start: int
    end: int
    tag: str
    chunks: AsyncIterator[bytes]


async def list_files(ctx: MasterContext, name: str, version: str) -> ModelFilesResponse:
    stored = await find(ctx, name, version)
    manager = await _open(ctx, stored)
    entries = await in_thread(manager.entries, stored.checkpoint.uuid)
    files = [ModelFile(path=e.path, size=e.size, hash=e.hash) for e in entries if not e.is_directory]
    return ModelFilesResponse(
        model_name=stored.model_name,
        version=stored.version,
        checkpoint_uuid=stored.checkpoint.uuid,
        files=sorted(files, key=lambda file: file.path),
    )


async def read_file(
    ctx: MasterContext, name: str, version: str, path: str, byte_range: str | None, if_range: str | None
) -> FilePart:
    """Start to send a file. `byte_range` and `if_range` are the headers of these names.

    Raises:
        NotFound: no such model, version or file. CheckpointDamaged: not the file that was stored.
        RangeNotSatisfiable: the part begins past its end.
    """
    stored = await find(ctx, name, version)
    uuid = stored.checkpoint.uuid
    manager = await _open(ctx, stored)
    entry = await in_thread(manager.file_entry, uuid, path)
    tag = _tag(uuid, entry)
    same = if_range is None or if_range == tag
    start, end = (wanted_part(byte_range, entry.size) if same else None) or (0, entry.size)
    chunks = _chunks(manager, uuid, path, start, end)
    first = await in_thread(next, chunks)
    return FilePart(entry.size, start, end, tag, in_threads(first, chunks))


async def find(ctx: MasterContext, name: str, version: str) -> StoredVersion:
    """Find a version. Raises NotFound, and FailedPrecondition where its files are not all there."""

    def read(conn: Connection) -> StoredVersion:
        model = existing_model(conn, name)
        row = existing_version(conn, model, version)
        checkpoint, storage = locate(conn, row.checkpoint_uuid)
        return StoredVersion(model.name, row.version, checkpoint, storage)

    stored = await ctx.db.read(read)
    if stored.checkpoint.state not in USABLE:
        raise FailedPrecondition(
            f"checkpoint {stored.checkpoint.uuid} is {stored.checkpoint.state}; its files are gone"
        )
    return stored


async def _open(ctx: MasterContext, stored: StoredVersion) -> StorageManager:
    if stored.checkpoint.experiment_id is None:
        raise FailedPrecondition(f"checkpoint {stored.checkpoint.uuid} has no experiment, so its storage is not known")
    return await open_storage(ctx, stored.checkpoint.experiment_id, stored.storage)


def _chunks(manager: StorageManager, uuid: str, path: str, start: int, end: int) -> Iterator[bytes]:
    """Yield the part of a file, first an empty chunk, once it is open."""
    with manager.opened_file(uuid, path) as (file, _):
        yield b""
        file.seek(start)
        yield from read_exactly(file, end - start, f"{path} of checkpoint {uuid}")


def _tag(uuid: str, entry: Entry) -> str:
    """Make an ETag of what the manifest says; its author could write anything there, so it is hashed."""
    return f'"{hashlib.sha256(f"{uuid}/{entry.path}/{entry.size}/{entry.hash}".encode()).hexdigest()[:32]}"'
