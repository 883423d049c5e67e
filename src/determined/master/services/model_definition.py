"""The code an experiment was submitted with: the whole archive, its tree, one file."""

import asyncio
import base64
import io
import mimetypes
import tarfile
from datetime import UTC, datetime
from pathlib import PurePosixPath

from determined.errors import NotFound
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import model_definition
from determined.wire.codec import rfc3339
from determined.wire.model_definition import FileNode


async def archive(ctx: MasterContext, experiment_id: int) -> str:
    """Return the .tgz in base64."""
    tgz = await _get(ctx, experiment_id)
    return await asyncio.to_thread(lambda: base64.b64encode(tgz).decode())


async def tree(ctx: MasterContext, experiment_id: int) -> list[FileNode]:
    tgz = await _get(ctx, experiment_id)
    return await asyncio.to_thread(_read_tree, tgz)


async def file(ctx: MasterContext, experiment_id: int, path: str) -> str:
    """Return the content of one file in base64. Raises NotFound."""
    tgz = await _get(ctx, experiment_id)
    content = await asyncio.to_thread(read_member, tgz, path)
    if content is None:
        raise NotFound(f"experiment {experiment_id} has no file {path!r} in its model definition")
    return base64.b64encode(content).decode()


def read_member(tgz: bytes, path: str) -> bytes | None:
    """Return the content of one file of an archive; None when it has none of that name. Blocking."""
    with tarfile.open(fileobj=io.BytesIO(tgz), mode="r:gz") as archive:
        for member in archive:
            if member.isfile() and PurePosixPath(member.name) == PurePosixPath(path):
                file = archive.extractfile(member)
                return file.read() if file else None
    return None


async def _get(ctx: MasterContext, experiment_id: int) -> bytes:
    content = await ctx.db.read(lambda conn: model_definition.get(conn, experiment_id))
    if content is None:
        await ctx.db.read(lambda conn: experiments.get(conn, experiment_id))
        return await asyncio.to_thread(_empty)
    return content


def _empty() -> bytes:
    buffer = io.BytesIO()
    tarfile.open(fileobj=buffer, mode="w:gz").close()
    return buffer.getvalue()


def _read_tree(tgz: bytes) -> list[FileNode]:
    root = FileNode(files=[], is_dir=True, path="", name="")
    nodes: dict[str, FileNode] = {"": root}
    with tarfile.open(fileobj=io.BytesIO(tgz), mode="r:gz") as archive:
        for member in sorted(archive.getmembers(), key=lambda m: m.name):
            _place(nodes, member)
    return root.files or []


def _place(nodes: dict[str, FileNode], member: tarfile.TarInfo) -> None:
    path = PurePosixPath(member.name)
    parent = _directory(nodes, path.parent)
    if member.isdir():
        node = _directory(nodes, path)
    else:
        node = FileNode(
            name=path.name,
            path=str(path),
            is_dir=False,
            content_length=member.size,
            content_type=mimetypes.guess_type(path.name)[0] or "text/plain",
        )
        _add(parent, node)
    node.modified_time = rfc3339(datetime.fromtimestamp(member.mtime, UTC))


def _directory(nodes: dict[str, FileNode], path: PurePosixPath) -> FileNode:
    key = "" if str(path) == "." else str(path)
    if key not in nodes:
        parent = _directory(nodes, path.parent)
        nodes[key] = FileNode(name=path.name, path=key, is_dir=True, files=[], content_length=0)
        _add(parent, nodes[key])
    return nodes[key]


def _add(parent: FileNode, node: FileNode) -> None:
    """Add a node in place: with a new list for each file, a directory of 60,000 would take half a minute."""
    if parent.files is None:
        parent.files = []
    parent.files.append(node)
