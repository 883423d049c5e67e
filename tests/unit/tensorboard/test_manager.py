"""Event files reach every kind of store, while they grow and without stopping anybody."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import fsspec
import pytest

from determined.storage import CloudStorageManager, DirectoryStorageManager, SharedFSStorageManager, StorageManager
from determined.tensorboard import MetricEvents, TensorboardManager, metric_events

Store = Callable[[Path], StorageManager]


def _bucket(tmp_path: Path) -> StorageManager:
    """Return what s3, gcs and azure are built on."""
    return CloudStorageManager(fsspec.filesystem("memory"), "bucket/prefix", str(tmp_path))


def _shared(tmp_path: Path) -> StorageManager:
    return SharedFSStorageManager(str(tmp_path / "store"))


def _directory(tmp_path: Path) -> StorageManager:
    return DirectoryStorageManager(str(tmp_path / "store"))


@pytest.fixture(params=[_shared, _directory, _bucket])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StorageManager]:
    make: Store = request.param
    yield make(tmp_path)
    fsspec.filesystem("memory").store.clear()


def test_files_of_users_are_stored_while_they_grow_and_nothing_is_reported(
    store: StorageManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metric_events, "_INTERVAL", 0.01)
    # A clock that stands still: a pass that took long on a busy machine would be followed by ten times as long a rest.
    monkeypatch.setattr(metric_events, "time", SimpleNamespace(monotonic=lambda: 0.0))
    manager = TensorboardManager(tmp_path / "local", store, "p")
    events = MetricEvents(manager)
    events.start()
    try:
        file = manager.base_path / "train" / "events.out.tfevents.1.host"
        file.parent.mkdir()
        for content in (b"1", b"12", b"123"):
            file.write_bytes(content)
            _await_content(store, "p/train/events.out.tfevents.1.host", content)
    finally:
        events.close()


def _await_content(store: StorageManager, key: str, content: bytes) -> None:
    deadline = time.monotonic() + 60
    while _stored(store, key) != content:
        assert time.monotonic() < deadline, f"{key} never became {content!r}"
        time.sleep(0.01)


def _stored(store: StorageManager, key: str) -> bytes | None:
    try:
        return store.read(key)
    except FileNotFoundError:
        return None


def test_what_was_stored_can_be_deleted(store: StorageManager, tmp_path: Path) -> None:
    manager = TensorboardManager(tmp_path / "local", store, "c/tensorboard/experiment/1/trial/2")
    (manager.base_path / "a").write_text("1")
    manager.sync()
    manager.delete()
    with pytest.raises(FileNotFoundError):
        store.read(f"{manager.sync_path}/a")
    assert manager.sync() == 1, "what is still here can be stored again"


class _Gated(SharedFSStorageManager):
    """Waits before each file until it may go on."""

    def __init__(self, base: str) -> None:
        super().__init__(base)
        self.gate = threading.Event()

    def put(self, src: object, key: str) -> None:
        assert self.gate.wait(60)
        super().put(src, key)  # type: ignore[arg-type]


def test_a_slow_store_holds_nobody_up_and_gets_everything_in_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = _Gated(str(tmp_path / "store"))
    manager = TensorboardManager(tmp_path / "local", store, "p", async_upload=True, sync_on_close=True)
    manager.start()
    (manager.base_path / "a").write_text("1")
    for _ in range(60):
        assert manager.sync() == 0
    assert "the store is slow" in caplog.text
    (manager.base_path / "late").write_text("2")
    store.gate.set()
    manager.close()
    assert (store.read("p/a"), store.read("p/late")) == (b"1", b"2")


def test_without_a_last_copy_only_what_was_asked_for_is_stored(tmp_path: Path) -> None:
    store = _shared(tmp_path)
    manager = TensorboardManager(tmp_path / "local", store, "p", async_upload=True)
    manager.start()
    (manager.base_path / "a").write_text("1")
    manager.sync(lambda path: path.name == "a", lambda path, rank: path.with_name(f"{path.name}-{rank}"), 3)
    manager.close()
    (manager.base_path / "b").write_text("2")
    manager.close()
    assert sorted(path.name for path in (tmp_path / "store" / "p").iterdir()) == ["a-3"]


def test_a_failing_store_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "store").write_text("a file where the store should be")
    manager = TensorboardManager(tmp_path / "local", _shared(tmp_path), "p")
    (manager.base_path / "a").write_text("1")
    assert manager.sync() == 0
    assert "could not be stored" in caplog.text


class _Moving(SharedFSStorageManager):
    """Between the look at a file and its copy, its writer moves one away."""

    def put(self, src: object, key: str) -> None:
        if str(src).endswith("a.tmp"):
            Path(str(src)).unlink()
        super().put(src, key)  # type: ignore[arg-type]


def test_a_file_that_is_moved_away_while_it_is_copied_keeps_no_other_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = _Moving(str(tmp_path / "store"))
    manager = TensorboardManager(tmp_path / "local", store, "p")
    for name in ("a.tmp", "b"):
        (manager.base_path / name).write_text("1")
    manager.sync()
    assert store.read("p/b") == b"1"
    assert not caplog.records


class _Utf8(SharedFSStorageManager):
    """Keys are UTF-8, as those of object stores are."""

    def put(self, src: object, key: str) -> None:
        key.encode()
        super().put(src, key)  # type: ignore[arg-type]


def test_a_file_that_cannot_be_stored_by_its_name_keeps_no_other_back_and_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = _Utf8(str(tmp_path / "store"))
    manager = TensorboardManager(tmp_path / "local", store, "p")
    for name in (b"a\xff", b"b"):
        (manager.base_path / os.fsdecode(name)).write_text("1")
    manager.sync()
    manager.sync()
    assert store.read("p/b") == b"1"
    [told] = caplog.messages
    assert "a\\udcff' is not stored with the TensorBoard events" in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_keeps_no_other_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = _shared(tmp_path)
    manager = TensorboardManager(tmp_path / "local", store, "p")
    for name in ("a", "a-directory/a", "b"):
        path = manager.base_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("1")
    (manager.base_path / "a").chmod(0)
    (manager.base_path / "a-directory").chmod(0o400)
    manager.sync()
    (manager.base_path / "a-directory").chmod(0o700)
    assert store.read("p/b") == b"1"
    [told] = caplog.messages
    assert "Permission denied" in told


def test_of_links_only_those_to_files_are_followed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = _shared(tmp_path)
    manager = TensorboardManager(tmp_path / "local", store, "p")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("1")
    (manager.base_path / "directory").symlink_to(tmp_path / "outside")
    (manager.base_path / "file").symlink_to(tmp_path / "outside" / "file")
    (manager.base_path / "loop").symlink_to(manager.base_path / "loop")
    (manager.base_path / "up").symlink_to("..")
    assert manager.sync() == 1
    assert [path.name for path in (tmp_path / "store" / "p").rglob("*")] == ["file"]
    assert store.read("p/file") == b"1"
    assert not (tmp_path / "store" / "p" / "file").is_symlink()
    assert not caplog.records
