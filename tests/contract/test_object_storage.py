"""Test what object stores alone do, on fsspec's in-memory file system."""

from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from storage_contract import UUID, make_files

from determined.errors import CheckpointDamaged, CheckpointNotFound, NoDirectStorageAccess
from determined.storage import CloudStorageManager


@pytest.fixture
def bucket(tmp_path: Path) -> Iterator[str]:
    filesystem = fsspec.filesystem("memory")
    yield "bucket/prefix"
    filesystem.store.clear()
    filesystem.pseudo_dirs[:] = [""]


def test_a_half_uploaded_checkpoint_is_not_offered(bucket: str, tmp_path: Path) -> None:
    manager = CloudStorageManager(fsspec.filesystem("memory"), bucket)
    manager.stage(make_files(tmp_path / "s", {"metadata.json": "{}", "model": "1"}), UUID)
    with pytest.raises(CheckpointNotFound, match="never completed"):
        manager.entries(UUID)


def test_a_checkpoint_of_an_older_release_is_accepted(bucket: str, tmp_path: Path) -> None:
    filesystem = fsspec.filesystem("memory")
    for name in ("metadata.json", "model"):
        filesystem.pipe_file(f"{bucket}/{UUID}/{name}", b"{}")
    CloudStorageManager(filesystem, bucket).download(UUID, tmp_path / "back")
    assert (tmp_path / "back" / "model").read_bytes() == b"{}"


def test_a_changed_object_is_found_and_named(bucket: str, tmp_path: Path) -> None:
    filesystem = fsspec.filesystem("memory")
    manager = CloudStorageManager(filesystem, bucket)
    manager.upload(make_files(tmp_path / "s", {"metadata.json": "{}", "model": "1"}), UUID)
    filesystem.pipe_file(f"{bucket}/{UUID}/model", b"2")
    with pytest.raises(CheckpointDamaged, match="'model'"):
        manager.download(UUID, tmp_path / "back")
    filesystem.rm(f"{bucket}/{UUID}/model")
    with pytest.raises(CheckpointDamaged, match="missing"):
        manager.download(UUID, tmp_path / "back")


def test_a_store_that_refuses_us_is_named(bucket: str, tmp_path: Path) -> None:
    class Refusing(type(fsspec.filesystem("memory"))):  # type: ignore[misc]
        cachable = False

        def cat_file(self, *args: object, **how: object) -> bytes:
            raise PermissionError("no key")

    with pytest.raises(NoDirectStorageAccess, match=r"bucket/prefix.*no key"):
        CloudStorageManager(Refusing(), bucket).entries(UUID)


def test_temporary_directories_are_removed(bucket: str, tmp_path: Path) -> None:
    manager = CloudStorageManager(fsspec.filesystem("memory"), bucket, str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    with manager.store_path(UUID) as path:
        make_files(path, {"metadata.json": "{}"})
    with manager.restore_path(UUID) as path:
        assert path.is_dir()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_look_finds_an_object_that_is_gone_or_cut_short(bucket: str, tmp_path: Path) -> None:
    filesystem = fsspec.filesystem("memory")
    manager = CloudStorageManager(filesystem, bucket)
    manager.upload(make_files(tmp_path / "s", {"metadata.json": "{}", "model": "123"}), UUID)
    manager.check(UUID, {"model": 3})
    filesystem.pipe_file(f"{bucket}/{UUID}/model", b"1")
    with pytest.raises(CheckpointDamaged, match="it has 1 bytes"):
        manager.check(UUID, {})
    filesystem.rm(f"{bucket}/{UUID}/model")
    with pytest.raises(CheckpointDamaged, match="it is missing"):
        manager.check(UUID, {})
