"""What is special about checkpoints on a file system."""

import errno
import json
import logging
import os
from pathlib import Path

import pytest

from determined.errors import CheckpointDamaged, CheckpointNotFound
from determined.storage import tree
from determined.storage.manifest import MANIFEST_NAME
from determined.storage.shared_fs.manager import SharedFSStorageManager

C = "5b9d1f9e-8f0e-4f0e-9d6a-000000000001"
OTHER = "5b9d1f9e-8f0e-4f0e-9d6a-000000000002"


@pytest.fixture
def manager(tmp_path: Path) -> SharedFSStorageManager:
    return SharedFSStorageManager(str(tmp_path / "base"))


def _save(manager: SharedFSStorageManager, text: str = "weights") -> Path:
    with manager.store_path(C) as path:
        (path / "model").write_text(text)
        (path / "metadata.json").write_text("{}")
    return manager.base / C


def test_store_path_writes_beside_the_final_place_and_renames(manager: SharedFSStorageManager) -> None:
    with manager.store_path(C) as path:
        assert path == manager.base / f".staging-{C}"
        (path / "model").write_text("1")
        inode = (path / "model").stat().st_ino
    assert (manager.base / C / "model").stat().st_ino == inode, "renamed, not copied"
    assert not path.exists()


def test_the_manifest_lists_every_file_with_size_and_hash(manager: SharedFSStorageManager) -> None:
    listed = json.loads((_save(manager) / MANIFEST_NAME).read_text())["files"]
    assert [(f["path"], f["size"]) for f in listed] == [("metadata.json", 2), ("model", 7)]
    assert all(f["hash"].startswith("crc32-16m:") for f in listed)


def test_a_flipped_bit_is_found_and_the_file_named(manager: SharedFSStorageManager, tmp_path: Path) -> None:
    (_save(manager) / "model").write_text("weightz")
    with pytest.raises(CheckpointDamaged, match=rf"checkpoint {C}: file 'model' is damaged"):
        manager.download(C, tmp_path / "back")


def test_a_truncated_file_is_found_by_restore_path(manager: SharedFSStorageManager) -> None:
    (_save(manager) / "model").write_text("w")
    with pytest.raises(CheckpointDamaged, match="'model'"), manager.restore_path(C):
        pass


def test_a_missing_file_is_named(manager: SharedFSStorageManager, tmp_path: Path) -> None:
    (_save(manager) / "model").unlink()
    with pytest.raises(CheckpointDamaged, match="missing"):
        manager.download(C, tmp_path / "back")


def test_an_unreadable_manifest_is_damage(manager: SharedFSStorageManager) -> None:
    (_save(manager) / MANIFEST_NAME).write_text("{")
    with pytest.raises(CheckpointDamaged, match=f"manifest of checkpoint {C}"):
        manager.entries(C)


def test_a_deleted_directory_is_named_by_its_path(manager: SharedFSStorageManager, tmp_path: Path) -> None:
    with pytest.raises(CheckpointNotFound, match=str(tmp_path / "base" / OTHER)):
        manager.download(OTHER, tmp_path / "back")


def test_a_directory_without_manifest_or_metadata_is_no_checkpoint(manager: SharedFSStorageManager) -> None:
    (manager.base / OTHER).mkdir(parents=True)
    (manager.base / OTHER / "model").write_text("1")
    with pytest.raises(CheckpointNotFound, match="never completed"):
        manager.entries(OTHER)


def test_a_checkpoint_of_an_older_release_is_accepted(manager: SharedFSStorageManager, tmp_path: Path) -> None:
    old = manager.base / OTHER
    old.mkdir(parents=True)
    (old / "metadata.json").write_text("{}")
    (old / "model").write_text("1")
    manager.download(OTHER, tmp_path / "back")
    assert (tmp_path / "back" / "model").read_text() == "1"


def test_the_base_is_for_every_user_and_none_removes_anothers_checkpoint(manager: SharedFSStorageManager) -> None:
    _save(manager)
    assert manager.base.stat().st_mode & 0o7777 == 0o1777


def test_restore_path_says_that_it_ignores_a_selector(
    manager: SharedFSStorageManager, caplog: pytest.LogCaptureFixture
) -> None:
    _save(manager)
    with caplog.at_level(logging.WARNING), manager.restore_path(C, lambda _path: False) as path:
        assert (path / "model").exists()
    assert "ignores its selector" in caplog.text


def test_a_crash_while_deleting_leaves_nothing_that_looks_whole(
    manager: SharedFSStorageManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    _save(manager)
    monkeypatch.setattr(tree, "remove", lambda _fd, _path: None)
    manager.delete(C, ["**/*"])
    monkeypatch.undo()
    with pytest.raises(CheckpointNotFound):
        manager.entries(C)
    assert manager.delete(C, ["**/*"]) == {}
    assert list(manager.base.iterdir()) == [], "the next delete clears what the crash left"


def test_a_link_back_to_its_own_directory_does_not_hang(manager: SharedFSStorageManager, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "metadata.json").write_text("{}")
    (source / "loop").symlink_to(source)
    manager.upload(source, C)
    assert "metadata.json" in {entry.path for entry in manager.entries(C)}


def test_a_full_disk_is_named_and_the_half_copy_removed(
    manager: SharedFSStorageManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "model").write_text("weights")
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match=r"No space left on device: .*/model"):
        manager.upload(tmp_path / "source", C)
    assert list(manager.base.iterdir()) == []
