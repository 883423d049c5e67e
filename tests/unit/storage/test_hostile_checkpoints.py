"""A checkpoint made by somebody who wants the reader or the deleter to touch other files."""

import os
import shutil
import time
from pathlib import Path

import pytest

from determined.errors import CheckpointDamaged, CheckpointNotFound, NoDirectStorageAccess
from determined.storage import tree
from determined.storage.manifest import MANIFEST_NAME
from determined.storage.shared_fs.manager import SharedFSStorageManager

C = "5b9d1f9e-8f0e-4f0e-9d6a-000000000001"


@pytest.fixture
def manager(tmp_path: Path) -> SharedFSStorageManager:
    return SharedFSStorageManager(str(tmp_path / "base"))


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory with a file that nobody may reach through the store."""
    place = tmp_path / "outside"
    place.mkdir()
    (place / "file").write_text("secret")
    return place


@pytest.fixture
def saved(manager: SharedFSStorageManager) -> Path:
    with manager.store_path(C) as path:
        (path / "d").mkdir()
        (path / "d" / "file").write_text("mine!!")
        (path / "metadata.json").write_text("{}")
    return manager.base / C


def _swap_for_a_link(directory: Path, target: Path) -> None:
    shutil.rmtree(directory)
    directory.symlink_to(target)


def test_deleting_by_glob_never_goes_through_a_link(
    manager: SharedFSStorageManager, saved: Path, outside: Path
) -> None:
    _swap_for_a_link(saved / "d", outside)
    manager.delete(C, ["d/file", "d/**"])
    assert (outside / "file").read_text() == "secret"
    manager.delete(C, ["d"])
    assert not (saved / "d").is_symlink(), "the link itself goes"
    assert (outside / "file").read_text() == "secret"


def test_deleting_everything_removes_links_and_not_what_they_point_to(
    manager: SharedFSStorageManager, saved: Path, outside: Path
) -> None:
    _swap_for_a_link(saved / "d", outside)
    (saved / "up").symlink_to("..")
    assert manager.delete(C, ["**/*"]) == {}
    assert not saved.exists()
    assert (outside / "file").read_text() == "secret"


def test_a_directory_swapped_for_a_link_after_it_was_listed_is_not_entered(
    manager: SharedFSStorageManager, saved: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = tree.walk

    def swapping(fd: int, prefix: str = "") -> list[tuple[str, os.stat_result]]:
        found = list(listed(fd, prefix))
        if not prefix:  # the whole tree is listed
            _swap_for_a_link(saved / "d", outside)
        return found

    monkeypatch.setattr(tree, "walk", swapping)
    with pytest.raises(NotADirectoryError):
        manager.delete(C, ["d/file"])
    assert (outside / "file").read_text() == "secret"


def test_a_link_in_the_place_of_a_checkpoint_is_not_followed(
    manager: SharedFSStorageManager, saved: Path, outside: Path, tmp_path: Path
) -> None:
    (outside / "metadata.json").write_text("{}")
    _swap_for_a_link(saved, outside)
    with pytest.raises(CheckpointNotFound):
        manager.delete(C, ["**/*"])
    with pytest.raises(CheckpointNotFound):
        manager.download(C, tmp_path / "back")
    assert (outside / "file").exists()


def test_what_is_staged_is_a_link_and_goes_alone(manager: SharedFSStorageManager, saved: Path, outside: Path) -> None:
    (manager.base / f".staging-{C}").symlink_to(outside)
    manager.delete(C, ["**/*"])
    assert (outside / "file").exists()
    assert not (manager.base / f".staging-{C}").is_symlink()


@pytest.mark.parametrize("place", ["d/file", "d"])
def test_a_file_swapped_for_a_link_is_damage(
    manager: SharedFSStorageManager, saved: Path, outside: Path, tmp_path: Path, place: str
) -> None:
    target = outside / "file" if place == "d/file" else outside
    if place == "d":
        _swap_for_a_link(saved / "d", target)
    else:
        (saved / place).unlink()
        (saved / place).symlink_to(target)
    with pytest.raises(CheckpointDamaged, match="'d/file'"):
        manager.download(C, tmp_path / "back")
    with pytest.raises(CheckpointDamaged, match="'d/file'"), manager.restore_path(C):
        pass


def test_links_of_a_checkpoint_without_a_manifest_are_left_out(
    manager: SharedFSStorageManager, saved: Path, outside: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (saved / MANIFEST_NAME).unlink()
    (saved / "steal").symlink_to(outside / "file")
    (saved / "steal-all").symlink_to(outside)
    os.mkfifo(saved / "pipe")
    manager.download(C, tmp_path / "back")
    assert sorted(p.name for p in (tmp_path / "back").rglob("*")) == ["d", "file", "metadata.json"]
    assert "steal-all is a link" in caplog.text


def test_a_link_in_the_place_of_the_new_manifest_is_not_written_through(
    manager: SharedFSStorageManager, saved: Path, outside: Path
) -> None:
    (saved / f"{MANIFEST_NAME}.part").symlink_to(outside / "file")
    manager.delete(C, ["d"])
    assert (outside / "file").read_text() == "secret"


def test_links_written_by_user_code_are_stored_as_what_they_point_to(
    manager: SharedFSStorageManager, outside: Path, tmp_path: Path
) -> None:
    with manager.store_path(C) as path:
        (path / "step-1").write_text("one")
        (path / "last").symlink_to("step-1")
        (path / "data").symlink_to(outside)
        (path / "copy").symlink_to(outside / "file")
        (path / "loop").symlink_to(".")
        (path / "metadata.json").write_text("{}")
    final = manager.base / C
    assert not [p for p in final.rglob("*") if p.is_symlink()]
    assert (final / "last").stat().st_ino == (final / "step-1").stat().st_ino, "costs no space"
    (outside / "file").write_text("changed")
    manager.download(C, tmp_path / "back")
    read = [(tmp_path / "back" / name).read_text() for name in ("last", "data/file", "copy")]
    assert read == ["one", "secret", "secret"]


def test_directories_of_another_user_are_left_alone(
    manager: SharedFSStorageManager, saved: Path, tmp_path: Path
) -> None:
    manager.put(saved / "metadata.json", "cluster/tensorboard/f")
    manager.only_owned_by(os.geteuid() + 1)
    for attempt in (
        lambda: manager.delete(C, ["**/*"]),
        lambda: manager.download(C, tmp_path / "back"),
        lambda: manager.remove("cluster"),
    ):
        with pytest.raises(NoDirectStorageAccess, match="belongs to uid"):
            attempt()
    manager.only_owned_by(os.geteuid())
    manager.remove("cluster")
    assert manager.delete(C, ["**/*"]) == {}


def test_loose_files_are_not_removed_through_a_link(
    manager: SharedFSStorageManager, saved: Path, outside: Path
) -> None:
    (manager.base / "cluster").symlink_to(outside)
    with pytest.raises(NotADirectoryError):
        manager.remove("cluster/file")
    manager.remove("cluster")
    assert (outside / "file").exists()


def _nest(directory: Path, levels: int) -> None:
    fd = os.open(directory, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=fd)
        inner = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)


def test_directories_nested_beyond_reason_stop_neither_sweeping_nor_deleting(
    manager: SharedFSStorageManager, saved: Path
) -> None:
    deep = manager.base / f".staging-{C[:-1]}2"
    deep.mkdir()
    _nest(deep, 3000)
    (manager.base / f".staging-{C[:-1]}3").mkdir()
    assert manager.sweep_staging(0, time.time() + 10) == [f"{C[:-1]}3"], "others are swept all the same"
    _nest(saved / "d", 3000)
    with pytest.raises(OSError, match="nested"):
        manager.delete(C, ["**/*"])
    manager.remove(C)
    manager.remove(deep.name)
    assert not list(manager.base.iterdir())


@pytest.mark.parametrize("linked", ["c/experiment/7", "c/experiment/7/trial", "c/experiment/7/trial/events.part"])
def test_loose_files_are_never_put_through_a_link(
    manager: SharedFSStorageManager, outside: Path, tmp_path: Path, linked: str
) -> None:
    (tmp_path / "events").write_text("new")
    link = manager.base / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(outside / "file" if linked.endswith(".part") else outside)
    if linked.endswith(".part"):
        manager.put(tmp_path / "events", "c/experiment/7/trial/events")
        assert (link.parent / "events").read_text() == "new"
    else:
        with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
            manager.put(tmp_path / "events", "c/experiment/7/trial/events")
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("file", "secret")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_a_checkpoint_is_not_published_into_a_directory_that_another_user_made_first(
    manager: SharedFSStorageManager,
) -> None:
    with pytest.raises(PermissionError, match="another user"), manager.store_path(C) as path:
        (path / "state").write_text("mine")
        stolen = manager.base / C
        stolen.mkdir()
        (stolen / "metadata.json").write_text("{}")
        os.chown(stolen, 2002, 2002)
    assert not (stolen / "state").exists()


def test_a_checkpoint_is_not_published_through_a_link_in_its_place(
    manager: SharedFSStorageManager, outside: Path
) -> None:
    with pytest.raises(PermissionError, match="another user"), manager.store_path(C) as path:
        (path / "state").write_text("mine")
        (outside / "metadata.json").write_text("{}")
        (manager.base / C).symlink_to(outside)
    assert not (outside / "state").exists()
