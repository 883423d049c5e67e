"""A manifest that a task has written for whoever reads it: refused by name, with bounded memory and time."""

import asyncio
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.asyn import AsyncFileSystem

from determined.errors import CheckpointDamaged
from determined.storage import CloudStorageManager, manifest, object_store
from determined.storage.manifest import MANIFEST_NAME, Entry, decode, encode
from determined.storage.shared_fs.manager import SharedFSStorageManager

C = "5b9d1f9e-8f0e-4f0e-9d6a-000000000002"
GOOD_HASH = "crc32-16m:" + "0a" * 16


def files(*entries: str) -> bytes:
    return f'{{"version": 1, "files": [{", ".join(entries)}]}}'.encode()


HOSTILE = {
    "nested brackets": b"[" * 200_000,
    "nested brackets in the files": b'{"files": ' + b"[" * 200_000,
    "nested brackets in a field that nobody reads": b'{"x": ' + b"[" * 200_000,
    "an endless size": files('{"path": "a", "size": 1e999}'),
    "a negative size": files('{"path": "a", "size": -1}'),
    "a size of 400 digits": files('{"path": "a", "size": 1' + "0" * 400 + "}"),
    "half a surrogate pair in a hash": files(r'{"path": "a", "size": 1, "hash": "\ud800"}'),
    "half a surrogate pair in a path": files(r'{"path": "\ud800", "size": 1}'),
    "a hash of 5 MB": files('{"path": "a", "size": 1, "hash": "' + "0" * 5_000_000 + '"}'),
    "a hash that is a number": files('{"path": "a", "size": 1, "hash": 5}'),
    "a hash with a line behind it": files(f'{{"path": "a", "size": 1, "hash": "{GOOD_HASH}\\n"}}'),
    "a path of 5 MB": files('{"path": "' + "a" * 5_000_000 + '", "size": 1}'),
    "a path that is a number": files('{"path": 5, "size": 1}'),
    "a path that is a list": files('{"path": ["a"], "size": 1}'),
    "bytes that are no text": files('{"path": "').replace(b'"]}', b'\xff", "size": 1}]}'),
    "a file twice": files('{"path": "a", "size": 1}', '{"path": "a", "size": 1}'),
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_manifest_is_refused_by_its_checkpoint_in_few_words(raw: bytes) -> None:
    with pytest.raises(CheckpointDamaged, match=f"the manifest of checkpoint {C} cannot be read") as refused:
        decode(raw, C)
    assert len(str(refused.value)) < 500
    refused.value.message.encode()


def test_what_is_written_is_read_back() -> None:
    entries = [Entry("a", 2**62, GOOD_HASH), Entry("b/", 0), Entry("b/größe\n", 0, GOOD_HASH), Entry("c", 1)]
    assert decode(encode(entries), C) == entries
    assert manifest.hashes(entries) == {"a": GOOD_HASH, "b/größe\n": GOOD_HASH}


def test_a_manifest_that_nobody_could_read_back_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="not UTF-8"):
        encode([Entry("caf\udce9.pt", 1)])
    monkeypatch.setattr(manifest, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="of 50 files has a manifest of over 1000 bytes"):
        encode(Entry(str(n), 1) for n in range(50))


@pytest.fixture
def local(tmp_path: Path) -> SharedFSStorageManager:
    """Store with a checkpoint whose manifest has 1 GiB, none of it on the disk."""
    (tmp_path / C).mkdir()
    (tmp_path / C / MANIFEST_NAME).touch()
    os.truncate(tmp_path / C / MANIFEST_NAME, 2**30)
    return SharedFSStorageManager(str(tmp_path))


def test_of_a_sparse_manifest_only_the_beginning_is_read(local: SharedFSStorageManager) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointDamaged, match="it has more than 67108864 bytes"):
            local.entries(C)
        assert tracemalloc.get_traced_memory()[1] < 2.5 * manifest.MOST_BYTES
    finally:
        tracemalloc.stop()


def test_of_a_long_manifest_in_an_object_store_only_the_beginning_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    filesystem = fsspec.filesystem("memory")
    fetched: list[int] = []
    cat_file = type(filesystem).cat_file

    def recorded(self: Any, path: str, *args: Any, **kwargs: Any) -> bytes:
        raw: bytes = cat_file(self, path, *args, **kwargs)
        fetched.append(len(raw))
        return raw

    monkeypatch.setattr(type(filesystem), "cat_file", recorded)
    monkeypatch.setattr(manifest, "MOST_BYTES", 1000)
    filesystem.pipe_file(f"hostile/{C}/{MANIFEST_NAME}", b" " * 100_000)
    try:
        with pytest.raises(CheckpointDamaged, match="it has more than 1000 bytes"):
            CloudStorageManager(filesystem, "hostile").hashes(C)
    finally:
        filesystem.rm("hostile", recursive=True)
    assert fetched == [1001]


class Trickling(AsyncFileSystem):  # type: ignore[misc]
    """Object store that never ends to send."""

    cachable = False
    ended = False

    async def _cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True
        raise AssertionError("nobody sets the event")


def test_a_store_that_never_ends_to_send_a_manifest_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "_MANIFEST_SECONDS", 0.1)
    filesystem = Trickling()
    with pytest.raises(TimeoutError):
        CloudStorageManager(filesystem, "bucket").hashes(C)
    assert filesystem.ended


def test_hashes_come_from_the_manifest_alone(tmp_path: Path) -> None:
    manager = SharedFSStorageManager(str(tmp_path / "base"))
    with manager.store_path(C) as path:
        (path / "d").mkdir()
        (path / "d" / "file").write_text("mine!!")
    written = {
        file["path"]: file.get("hash") for file in json.loads((manager.base / C / MANIFEST_NAME).read_text())["files"]
    }
    assert manager.hashes(C) == {"d/file": written["d/file"]}
