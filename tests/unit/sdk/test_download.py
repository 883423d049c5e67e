"""A checkpoint on its way to a directory: what is complete, what broke off, and what the next try makes of it."""

import io
import json
import socket
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from determined import storage
from determined.api.session import Session
from determined.errors import (
    CheckpointDamaged,
    CheckpointStateException,
    MultipleDownloadsFailed,
    NoDirectStorageAccess,
    NotFound,
    ProxiedDownloadFailed,
)
from determined.sdk.download import download
from determined.sdk.enums import DownloadMode
from determined.wire.checkpoint import Checkpoint
from determined.wire.codec import convert

UUID = "3f1d2a8e-0000-4000-8000-000000000009"
FILES = {"metadata.json": b'{"steps_completed": 3}', "sub/state": b"s" * 300, "weights.bin": bytes(range(256)) * 800}
NO_MASTER = Session("http://127.0.0.1:1", retries=0)


def _found(config: dict[str, Any] | None = None, state: str = "STATE_COMPLETED") -> Checkpoint:
    body = {
        "uuid": UUID,
        "state": state,
        "metadata": {"steps_completed": 3, "note": "of the database"},
        "resources": {},
        "training": {"experimentConfig": {"checkpoint_storage": config} if config else {}},
    }
    return convert(body, Checkpoint)


@pytest.fixture
def stored(tmp_path: Path) -> dict[str, Any]:
    """The config of a storage that holds FILES."""
    config = {"type": "directory", "container_path": str(tmp_path / "store")}
    with storage.build(config).store_path(UUID) as path:
        for name, content in FILES.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)
    return config


def _archive(files: dict[str, bytes] = FILES) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=0) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


@contextmanager
def _master(*answers: bytes) -> Iterator[str]:
    """The address of a server that answers one connection after the other with these bytes and hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(60)  # only ends a hang

    def serve() -> None:
        for raw in answers:
            peer, _ = listener.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(raw)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        thread.join()
        listener.close()


def _answer(body: bytes, *, length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    return f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n".encode() + body


def _through_master(target: Path, *answers: bytes) -> Path:
    with _master(*answers) as url, Session(url, retries=0) as session:
        return download(session, _found(), target, DownloadMode.MASTER)


def _content(target: Path) -> dict[str, bytes]:
    return {p.relative_to(target).as_posix(): p.read_bytes() for p in target.rglob("*") if p.is_file()}


@pytest.mark.parametrize("mode", [DownloadMode.DIRECT, DownloadMode.AUTO])
def test_files_are_copied_from_the_storage_without_a_master(
    stored: dict[str, Any], tmp_path: Path, mode: DownloadMode
) -> None:
    target = download(NO_MASTER, _found(stored), tmp_path / "new" / "target", mode)
    assert _content(target) == FILES


def test_files_come_through_the_master_and_are_counted(tmp_path: Path) -> None:
    counted: list[int] = []
    with _master(_answer(_archive())) as url, Session(url, retries=0) as session:
        download(session, _found(), tmp_path / "t", DownloadMode.MASTER, advance=counted.append)
    assert _content(tmp_path / "t") == FILES
    assert sum(counted) == sum(map(len, FILES.values()))


def test_a_checkpoint_without_a_metadata_file_gets_that_of_the_database(tmp_path: Path) -> None:
    _through_master(tmp_path / "t", _answer(_archive({"weights.bin": b"w"})))
    assert json.loads((tmp_path / "t" / "metadata.json").read_text()) == {
        "steps_completed": 3,
        "note": "of the database",
    }


@pytest.mark.parametrize("mark", ["metadata.json", "MLmodel"])
def test_nothing_is_fetched_twice(tmp_path: Path, mark: str) -> None:
    (tmp_path / mark).write_text("here already")
    assert download(NO_MASTER, _found(), tmp_path, DownloadMode.MASTER) == tmp_path
    assert [p.name for p in tmp_path.iterdir()] == [mark]


def _cut_connection() -> bytes:
    whole = _archive()
    return _answer(whole[: len(whole) // 2], length=len(whole))


def _cut_archive() -> bytes:
    whole = _archive()
    return _answer(whole[: len(whole) // 2])


@pytest.mark.parametrize("broken", [_cut_connection, _cut_archive, lambda: _answer(b"<html>")])
def test_a_download_that_breaks_off_is_told_and_fetched_again(tmp_path: Path, broken: Callable[[], bytes]) -> None:
    target = tmp_path / "t"
    with pytest.raises(ProxiedDownloadFailed, match=f"{UUID}.*try again"):
        _through_master(target, broken())
    assert not (target / "metadata.json").exists(), "the next try would take it for complete"
    _through_master(target, _answer(_archive()))
    assert _content(target) == FILES


def test_an_archive_cannot_write_outside_of_the_directory(tmp_path: Path) -> None:
    with pytest.raises(ProxiedDownloadFailed):
        _through_master(tmp_path / "t", _answer(_archive({"../escaped": b"x", "metadata.json": b"{}"})))
    assert not (tmp_path / "escaped").exists()
    assert not (tmp_path / "t" / "metadata.json").exists()


def test_damage_in_the_storage_is_told_every_time(stored: dict[str, Any], tmp_path: Path) -> None:
    damaged = Path(stored["container_path"]) / UUID / "weights.bin"
    damaged.write_bytes(b"\0" * len(FILES["weights.bin"]))
    for _ in range(2):
        with pytest.raises(CheckpointDamaged, match=r"weights\.bin"):
            download(NO_MASTER, _found(stored), tmp_path / "t", DownloadMode.DIRECT)
    assert not (tmp_path / "t" / "metadata.json").exists()


def test_a_storage_that_is_not_here_is_replaced_by_the_master(stored: dict[str, Any], tmp_path: Path) -> None:
    elsewhere = {"type": "directory", "container_path": str(tmp_path / "not mounted here")}
    with _master(_answer(_archive())) as url, Session(url, retries=0) as session:
        download(session, _found(elsewhere), tmp_path / "t", DownloadMode.AUTO)
    assert _content(tmp_path / "t") == FILES


def test_when_neither_way_works_both_reasons_are_told(tmp_path: Path) -> None:
    error = json.dumps({"error": {"code": 5, "reason": "not_found", "error": "no such files"}}).encode()
    refused = f"HTTP/1.1 404 Not Found\r\nContent-Length: {len(error)}\r\n\r\n".encode() + error
    ways: list[tuple[DownloadMode, type[Exception], str]] = [
        (DownloadMode.AUTO, MultipleDownloadsFailed, "does not say where it is stored.*no such files"),
        (DownloadMode.MASTER, NotFound, "^no such files$"),
    ]
    for mode, kind, said in ways:
        with _master(refused) as url, Session(url, retries=0) as session, pytest.raises(kind, match=said):
            download(session, _found(), tmp_path / "t", mode)


def test_direct_access_needs_a_storage_in_the_config(tmp_path: Path) -> None:
    with pytest.raises(NoDirectStorageAccess, match=f"{UUID} does not say where it is stored"):
        download(NO_MASTER, _found(), tmp_path / "t", DownloadMode.DIRECT)
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize("state", ["STATE_ACTIVE", "STATE_ERROR", "STATE_DELETED"])
def test_only_complete_checkpoints_are_downloaded(stored: dict[str, Any], tmp_path: Path, state: str) -> None:
    with pytest.raises(CheckpointStateException, match=f"is {state.removeprefix('STATE_')}; only COMPLETED"):
        download(NO_MASTER, _found(stored, state), tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_a_partly_deleted_checkpoint_is_downloaded_with_what_is_left(stored: dict[str, Any], tmp_path: Path) -> None:
    storage.build(stored).delete(UUID, ["weights.bin"])
    download(NO_MASTER, _found(stored, "STATE_PARTIALLY_DELETED"), tmp_path / "t", DownloadMode.DIRECT)
    assert set(_content(tmp_path / "t")) == {"metadata.json", "sub/state"}
