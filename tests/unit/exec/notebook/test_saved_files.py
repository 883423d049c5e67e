"""Notebooks that outlive their task, on a mounted store and on an object store."""

import os
from pathlib import Path

import fsspec
import pytest

from determined.errors import FailedPrecondition
from determined.exec.notebook.saved_files import SavedFiles
from determined.storage import CloudStorageManager, SharedFSStorageManager, StorageManager

USER = "cluster/notebooks/user-7"


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def mounted(store: Path) -> StorageManager:
    return SharedFSStorageManager(str(store))


@pytest.fixture
def bucket(store: Path) -> StorageManager:
    """An object store as fsspec shows one: keys without directories to link to."""
    store.mkdir()
    return CloudStorageManager(fsspec.filesystem("file", auto_mkdir=True), str(store))


def _open(work_dir: Path, storage: StorageManager, task_id: str = "12345678-9") -> SavedFiles:
    files = SavedFiles(work_dir, storage, USER, task_id)
    files.open()
    return files


def _stored(store: Path) -> dict[str, str]:
    return {p.relative_to(store / USER).as_posix(): p.read_text() for p in (store / USER).rglob("*") if p.is_file()}


def test_on_a_mounted_store_the_directory_is_the_stores_own(
    work_dir: Path, mounted: StorageManager, store: Path
) -> None:
    _open(work_dir, mounted)
    (work_dir / "notebooks" / "a.ipynb").write_text("a")
    assert _stored(store) == {"a.ipynb": "a"}
    assert (store / USER).stat().st_mode & 0o777 == 0o700


def test_a_notebook_elsewhere_is_copied_when_it_has_changed(
    work_dir: Path, mounted: StorageManager, store: Path
) -> None:
    (work_dir / "sent.ipynb").write_text("came with the task")
    files = _open(work_dir, mounted)
    assert files.save() == 0
    (work_dir / "deep" / "er").mkdir(parents=True)
    (work_dir / "deep" / "er" / "b.ipynb").write_text("b")
    (work_dir / "data.csv").write_text("no notebook")
    assert (files.save(), files.save()) == (1, 0)
    (work_dir / "sent.ipynb").write_text("changed here")
    files.close()
    assert _stored(store) == {"from-12345678/deep/er/b.ipynb": "b", "from-12345678/sent.ipynb": "changed here"}


def test_an_object_store_gives_back_what_an_earlier_task_saved(
    work_dir: Path, bucket: StorageManager, store: Path, tmp_path: Path
) -> None:
    files = _open(work_dir, bucket)
    (work_dir / "notebooks" / "a.ipynb").write_text("a")
    (work_dir / "notebooks" / "table.csv").write_text("kept with it")
    (work_dir / "b.ipynb").write_text("b")
    assert files.save() == 3
    later = tmp_path / "later"
    later.mkdir()
    again = _open(later, bucket, "abcdefgh-9")
    assert (later / "notebooks" / "a.ipynb").read_text() == "a"
    assert (later / "notebooks" / "from-12345678" / "b.ipynb").read_text() == "b"
    assert again.save() == 0, "what was fetched has not changed"
    (later / "notebooks" / "a.ipynb").write_text("better")
    assert again.save() == 1
    assert _stored(store)["a.ipynb"] == "better"


def test_jupyters_own_copies_and_links_to_elsewhere_are_left_out(
    work_dir: Path, mounted: StorageManager, store: Path, tmp_path: Path
) -> None:
    files = _open(work_dir, mounted)
    (work_dir / ".ipynb_checkpoints").mkdir()
    (work_dir / ".ipynb_checkpoints" / "a-checkpoint.ipynb").write_text("old")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "c.ipynb").write_text("outlives the task anyway")
    (work_dir / "bound").symlink_to(tmp_path / "elsewhere")
    assert files.save() == 0


def test_a_directory_of_that_name_in_the_context_is_used_as_it_is(
    work_dir: Path, mounted: StorageManager, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (work_dir / "notebooks").mkdir()
    (work_dir / "notebooks" / "sent.ipynb").write_text("sent")
    files = _open(work_dir, mounted)
    assert "part of the context directory" in capsys.readouterr().out
    assert files.save() == 0
    (work_dir / "notebooks" / "sent.ipynb").write_text("changed here")
    files.save()
    assert _stored(store) == {"sent.ipynb": "changed here"}


def test_a_store_that_fails_is_reported_once_and_tried_again(
    work_dir: Path, mounted: StorageManager, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = _open(work_dir, mounted)
    (store / USER / "from-12345678").write_text("in the way")
    (work_dir / "a.ipynb").write_text("a")
    assert (files.save(), files.save()) == (0, 0)
    assert capsys.readouterr().out.count("WARNING: notebooks are not stored") == 1
    (store / USER / "from-12345678").unlink()
    assert files.save() == 1


@pytest.mark.skipif(os.getuid() != 0, reason="gives a directory to another user")
def test_a_directory_that_somebody_else_has_made_is_refused(
    work_dir: Path, mounted: StorageManager, store: Path
) -> None:
    (store / USER).mkdir(parents=True)
    os.chown(store / USER, 12345, 12345)
    with pytest.raises(FailedPrecondition, match=r"user-7 belongs to another user \(uid 12345\)"):
        _open(work_dir, mounted)
