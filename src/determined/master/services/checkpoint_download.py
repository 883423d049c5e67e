"""A checkpoint through the master: its files as one archive, made while it is sent, never whole in memory."""

import asyncio
import gzip
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, BinaryIO

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import FailedPrecondition, NotFound
from determined.master.context import MasterContext
from determined.master.db.queries import checkpoint_list
from determined.master.db.queries.checkpoint_list import CheckpointDetail
from determined.master.services.experiment_files import open_storage
from determined.master.services.storage_reading import in_thread
from determined.storage import StorageManager, tree

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

CHUNK = 1024 * 1024
_BLOCK = 512
USABLE = ("COMPLETED", "PARTIALLY_DELETED")


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
    """Start a download.

    Raises:
        NotFound: no row, no files. CheckpointDamaged, FailedPrecondition: they cannot be read. No byte is sent by then.
    """
    row, config = await ctx.db.read(lambda conn: locate(conn, uuid))
    if row.state not in USABLE or row.experiment_id is None:
        raise FailedPrecondition(f"checkpoint {uuid} is {row.state}; only complete ones can be downloaded")
    manager = await open_storage(ctx, row.experiment_id, config)
    chunks = _archive(manager, uuid, kind)
    first = await in_thread(next, chunks)
    return Download(uuid, kind, in_threads(first, chunks))


def locate(conn: Connection, uuid: str) -> tuple[CheckpointDetail, JsonObject | None]:
    """Find a checkpoint and the storage its files are in."""
    rows = checkpoint_list.load(conn, [uuid])
    if not rows:
        raise NotFound(f"checkpoint {uuid} not found")
    row = rows[0]
    config = checkpoint_list.experiment_configs(conn, rows).get(row.experiment_id or 0) or {}
    return row, row.storage or config.get("checkpoint_storage")


async def in_threads(first: bytes, chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Reading and compressing block, so each chunk is made in a thread; closing it early releases the files."""
    try:
        yield first
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
    """Yield the archive, first an empty chunk, once everything is found to be there."""
    with manager.opened(uuid) as (root, entries):
        yield b""
        names = [entry.path for entry in entries]
        yield from _zip(root, names) if kind is Archive.ZIP else _tar(root, names, gz=kind is Archive.TGZ)


class _Sink(io.RawIOBase):
    """Takes what a compressor writes until the next chunk is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer") -> int:
        part = bytes(data)
        self._parts.append(part)
        return len(part)

    def take(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        return data


def _tar(root: int, names: list[str], *, gz: bool) -> Iterator[bytes]:
    sink = _Sink()
    out: gzip.GzipFile | _Sink = gzip.GzipFile(fileobj=sink, mode="wb", compresslevel=1) if gz else sink
    for name in names:
        for data in _tar_member(root, name):
            out.write(data)
            yield sink.take()
    out.write(bytes(2 * _BLOCK))
    if gz:
        out.close()
    yield sink.take()


def _tar_member(root: int, name: str) -> Iterator[bytes]:
    member = tarfile.TarInfo(name.rstrip("/"))
    if name.endswith("/"):
        status = tree.status(root, name)
        member.type, member.mtime, member.mode = tarfile.DIRTYPE, int(status.st_mtime), status.st_mode & 0o777
        yield member.tobuf(tarfile.GNU_FORMAT)
        return
    with os.fdopen(tree.open_file(root, name), "rb") as file:
        status = os.fstat(file.fileno())
        member.mtime, member.mode, member.size = int(status.st_mtime), _mode(status), status.st_size
        yield member.tobuf(tarfile.GNU_FORMAT)
        yield from read_exactly(file, member.size)
    yield bytes(-member.size % _BLOCK)


def _zip(root: int, names: list[str]) -> Iterator[bytes]:
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in names:
            for _ in _zip_member(archive, root, name):
                yield sink.take()
    yield sink.take()


def _zip_member(archive: zipfile.ZipFile, root: int, name: str) -> Iterator[None]:
    """Add one file, stopping after each chunk so that what was written can be sent."""
    if name.endswith("/"):
        archive.writestr(zipfile.ZipInfo(name), b"")
        return
    with os.fdopen(tree.open_file(root, name), "rb") as file:
        status = os.fstat(file.fileno())
        member = zipfile.ZipInfo(name, _zip_time(status.st_mtime))
        member.compress_type, member.file_size = zipfile.ZIP_DEFLATED, status.st_size
        member.external_attr = (stat.S_IFREG | _mode(status)) << 16
        with archive.open(member, "w") as out:
            for data in read_exactly(file, status.st_size):
                out.write(data)
                yield


def _mode(status: os.stat_result) -> int:
    """Return the mode of a copy: its owner may write to it, also where checkpoints share the file."""
    return status.st_mode & 0o777 | stat.S_IWUSR


def _zip_time(seconds: float) -> tuple[int, int, int, int, int, int]:
    """Return a time for the format, which knows 1980 to 2107 and no time zone."""
    moment = datetime.fromtimestamp(min(max(seconds, 315_619_200), 4_354_732_800), UTC)
    return (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)


def read_exactly(file: BinaryIO, size: int, what: str = "a file") -> Iterator[bytes]:
    """Yield `size` bytes, as the archive or the headers have promised. Raises OSError that names `what` for fewer."""
    while size > 0:
        data = file.read(min(CHUNK, size))
        if not data:
            raise OSError(f"{what} became {size} bytes shorter while it was sent; a stored checkpoint must not change")
        size -= len(data)
        yield data
