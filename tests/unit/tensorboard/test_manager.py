"""Event files reach every kind of store, while they grow and without stopping anybody."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pytest

from determined.storage import CloudStorageManager, DirectoryStorageManager, SharedFSStorageManager, StorageManager
from determined.tensorboard import MetricEvents, TensorboardManager, metric_events

Store = Callable[[Path], StorageManager]


def _bucket(tmp_path: Path) -> StorageManager:
    """What s3, gcs and azure are built on."""
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
    ready = threading.Event()
    for _ in range(1000):
        try:
            if store.read(key) == content:
                return
        except FileNotFoundError:
            pass
        ready.wait(0.01)
    raise AssertionError(f"{key} never became {content!r}")


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
        assert self.gate.wait(20)
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
