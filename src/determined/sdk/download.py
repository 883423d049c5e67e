"""A checkpoint on its way to a local directory: straight from its storage, or through the master."""

import copy
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

from urllib3.exceptions import HTTPError

from determined import storage
from determined.api.session import Session
from determined.errors import (
    CheckpointNotFound,
    CheckpointStateException,
    DeterminedError,
    MultipleDownloadsFailed,
    NoDirectStorageAccess,
    ProxiedDownloadFailed,
)
from determined.rundir import tar
from determined.sdk.enums import DownloadMode
from determined.wire.checkpoint import DOWNLOAD_CHECKPOINT, Checkpoint
from determined.wire.codec import to_json
from determined.wire.operation import Nothing

_DOWNLOADABLE = {"STATE_COMPLETED", "STATE_PARTIALLY_DELETED"}
# Where one of these is, the download may be complete. They come last: files of a broken one may have their size.
_MARKS = ("metadata.json", "MLmodel")
_UNFINISHED = {mark: f".{mark}.part" for mark in _MARKS}


def download(
    session: Session,
    checkpoint: Checkpoint,
    target: Path,
    mode: DownloadMode = DownloadMode.AUTO,
    *,
    advance: Callable[[int], None] = lambda _: None,
) -> Path:
    """Put the files in `target` unless they are there already. `advance` hears of bytes that came through the master.

    Raises:
        CheckpointStateException: the checkpoint is not one that can be downloaded.
        NoDirectStorageAccess: DIRECT, and its storage cannot be reached from here.
        ProxiedDownloadFailed: the answer of the master broke off.
        MultipleDownloadsFailed: AUTO, and neither way worked.
    """
    if str(checkpoint.state) not in _DOWNLOADABLE:
        name = str(checkpoint.state).removeprefix("STATE_")
        raise CheckpointStateException(f"checkpoint {checkpoint.uuid} is {name}; only COMPLETED ones can be downloaded")
    if any((target / mark).exists() for mark in _MARKS) and _is_complete(checkpoint, target):
        return target
    if mode is DownloadMode.MASTER:
        _through_master(session, checkpoint, target, advance)
    elif mode is DownloadMode.DIRECT:
        _direct(checkpoint, target)
    else:
        _either(session, checkpoint, target, advance)
    write_metadata(checkpoint, target / "metadata.json")
    return target


def write_metadata(checkpoint: Checkpoint, path: Path) -> None:
    if not path.exists():
        path.write_bytes(to_json(checkpoint.metadata or {}))


def _is_complete(checkpoint: Checkpoint, target: Path) -> bool:
    """Return whether every file is there in its size: a download that was interrupted leaves some of them.

    metadata.json may have been written anew since (`write_metadata_file`).
    """
    files = {target / path: int(size) for path, size in (checkpoint.resources or {}).items() if not path.endswith("/")}
    files.pop(target / "metadata.json", None)
    return all(file.is_file() and file.stat().st_size == size for file, size in files.items())


def _either(session: Session, checkpoint: Checkpoint, target: Path, advance: Callable[[int], None]) -> None:
    try:
        _direct(checkpoint, target)
    except (NoDirectStorageAccess, CheckpointNotFound, FileNotFoundError) as direct:
        try:
            _through_master(session, checkpoint, target, advance)
        except (DeterminedError, OSError) as e:
            raise MultipleDownloadsFailed(f"neither way worked; direct: {direct}; through the master: {e}") from e


def _direct(checkpoint: Checkpoint, target: Path) -> None:
    config = ((checkpoint.training.experiment_config if checkpoint.training else None) or {}).get("checkpoint_storage")
    if not config:
        raise NoDirectStorageAccess(f"checkpoint {checkpoint.uuid} does not say where it is stored")
    manager = storage.build(config)
    manager.download(checkpoint.uuid, target, lambda path: path not in _MARKS)
    manager.download(checkpoint.uuid, target, lambda path: path in _MARKS)


def _through_master(session: Session, checkpoint: Checkpoint, target: Path, advance: Callable[[int], None]) -> None:
    headers = {"Accept": "application/gzip"}
    where = {"checkpoint_uuid": checkpoint.uuid}
    response = session.download(DOWNLOAD_CHECKPOINT, Nothing(), headers=headers, stream=True, **where)
    target.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(fileobj=response, mode="r|gz") as archive:
            _extract(archive, target, advance)
    except (HTTPError, tarfile.TarError, EOFError, zlib.error) as e:
        raise ProxiedDownloadFailed(
            f"the master broke off sending checkpoint {checkpoint.uuid} ({e}); try again"
        ) from e


def _extract(archive: tarfile.TarFile, target: Path, advance: Callable[[int], None]) -> None:
    for member in archive:
        placed = copy.copy(member)
        placed.name = _UNFINISHED.get(member.name, member.name)
        tar.extract_member(archive, placed, target)
        advance(member.size)
    for mark, unfinished in _UNFINISHED.items():
        if (target / unfinished).exists():
            (target / unfinished).replace(target / mark)
