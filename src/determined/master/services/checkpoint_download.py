"""A checkpoint through the master: its files as one archive, made while it is sent, never whole in memory."""

import asyncio
import gzip
import io
import tarfile
import zipfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from determined.errors import FailedPrecondition, NotFound
from determined.master.context import MasterContext
from determined.master.db.queries import checkpoint_list
from determined.master.db.queries.batching import AnyRow
from determined.master.services.experiment_files import open_storage
from determined.storage import StorageManager

_CHUNK = 1024 * 1024
_BLOCK = 512
_USABLE = ("COMPLETED", "PARTIALLY_DELETED")


class Archive(StrEnum):
    TGZ = "application/gzip"
    TAR = "application/x-tar"
    ZIP = "application/zip"


@dataclass(frozen=True, slots=True)
class Download:
    uuid: str
    kind: Archive
    chunks: AsyncIterator[bytes]


async def download(ctx: MasterContext, uuid: str, kind: Archive) -> Download:
    """Raises NotFound where row or files are missing, before the first byte is sent."""
    row, config = await ctx.db.read(lambda conn: _locate(conn, uuid))
    if row.state not in _USABLE:
        raise FailedPrecondition(f"checkpoint {uuid} is {row.state}; only complete ones can be downloaded")
    manager = await asyncio.to_thread(open_storage, config)
    await asyncio.to_thread(manager.entries, uuid)
    return Download(uuid, kind, _in_threads(_archive(manager, uuid, kind)))


def _locate(conn: Connection, uuid: str) -> tuple[AnyRow, dict[str, Any] | None]:
    """The row and the storage its files are in."""
    found = checkpoint_list.load(conn, [uuid])
    if not found:
        raise NotFound(f"checkpoint {uuid} not found")
    row = found[0]
    config = checkpoint_list.experiment_configs(conn, found).get(row.experiment_id) or {}
    return row, row.storage or config.get("checkpoint_storage")


async def _in_threads(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Reading and compressing block, so each chunk is made in a thread; closing it early releases the files."""
    try:
        while True:
            chunk = await asyncio.to_thread(next, chunks, None)
            if chunk is None:
                return
            yield chunk
    finally:
        close = getattr(chunks, "close", None)
        if close is not None:
            await asyncio.to_thread(close)


def _archive(manager: StorageManager, uuid: str, kind: Archive) -> Iterator[bytes]:
    names = [entry.path for entry in manager.entries(uuid)]
    with manager.restore_path(uuid) as root:
        yield from _zip(root, names) if kind is Archive.ZIP else _tar(root, names, gz=kind is Archive.TGZ)


class _Sink(io.RawIOBase):
    """Takes what a compressor writes until the next chunk is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        return data


def _tar(root: Path, names: list[str], *, gz: bool) -> Iterator[bytes]:
    sink = _Sink()
    out: Any = gzip.GzipFile(fileobj=sink, mode="wb", compresslevel=1) if gz else sink
    for name in names:
        path = root / name
        member = tarfile.TarInfo(name.rstrip("/"))
        status = path.stat()
        member.mtime, member.mode = int(status.st_mtime), status.st_mode & 0o777
        if path.is_dir():
            member.type = tarfile.DIRTYPE
            out.write(member.tobuf(tarfile.GNU_FORMAT))
            continue
        member.size = status.st_size
        out.write(member.tobuf(tarfile.GNU_FORMAT))
        for data in _read(path):
            out.write(data)
            yield sink.take()
        out.write(bytes(-member.size % _BLOCK))
    out.write(bytes(2 * _BLOCK))
    if gz:
        out.close()
    yield sink.take()


def _zip(root: Path, names: list[str]) -> Iterator[bytes]:
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in names:
            for _ in _zip_member(archive, root / name, name):
                yield sink.take()
    yield sink.take()


def _zip_member(archive: zipfile.ZipFile, path: Path, name: str) -> Iterator[None]:
    """Adds one file, stopping after each chunk so that what was written can be sent."""
    if path.is_dir():
        archive.writestr(zipfile.ZipInfo(name.rstrip("/") + "/"), b"")
        return
    member = zipfile.ZipInfo.from_file(path, name)
    member.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(member, "w") as out:
        for data in _read(path):
            out.write(data)
            yield


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while data := file.read(_CHUNK):
            yield data
