"""A process that dies at any step of a save, a deletion or a sweep loses nothing and leaks nothing."""

import itertools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from determined.errors import CheckpointNotFound
from determined.storage import content_index
from determined.storage.directory.manager import DirectoryStorageManager

BACKBONE, OLD_HEAD, NEW_HEAD = b"backbone" * 1000, b"old head", b"new head"
FIRST, SECOND = (f"3f1d2a8e-0000-4000-8000-00000000000{number}" for number in (1, 2))
STEPS = ("link", "rename", "replace", "unlink", "mkdir", "rmdir", "open", "write", "pwrite", "fchmod")
DIED, WENT_ON = 9, 0


@pytest.fixture(params=["files", "blocks"])
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(content_index, "LEAST", 1)
    monkeypatch.setattr(os, "fsync", lambda _fd: None)  # slow, and a killed process needs none
    return str(request.param)


def _write(path: Path, head: bytes) -> None:
    path.mkdir(exist_ok=True)
    (path / "backbone").write_bytes(BACKBONE)
    (path / "head").write_bytes(head)
    (path / "metadata.json").write_text("{}")


def _save(store: DirectoryStorageManager, name: str, head: bytes) -> None:
    with store.store_path(name) as path:
        _write(path, head)


def _upload(store: DirectoryStorageManager, name: str, head: bytes) -> None:
    source = store.base.parent / "source"
    _write(source, head)
    store.upload(source, name)


def _replace_checkpoint(store: DirectoryStorageManager) -> None:
    _save(store, SECOND, NEW_HEAD)
    store.delete(FIRST, ["**/*"])
    store.sweep_contents()


def _replace_checkpoint_by_upload(store: DirectoryStorageManager) -> None:
    _upload(store, SECOND, NEW_HEAD)
    store.delete(FIRST, ["head"])
    store.delete(FIRST, ["**/*"])


def _die_at(step: int, work: Callable[[], None]) -> int:
    """Do the work in another process, which dies as by SIGKILL right before its n-th change of the file system."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _count_down(step)
            work()
            status = WENT_ON
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _count_down(step: int) -> None:
    steps = itertools.count(1)

    def dying(call: Callable[..., object]) -> Callable[..., object]:
        def counted(*args: object, **options: object) -> object:
            if next(steps) == step:
                os._exit(DIED)
            return call(*args, **options)

        return counted

    for name in STEPS:
        setattr(os, name, dying(getattr(os, name)))


def _require_whole(store: DirectoryStorageManager, name: str, head: bytes, *, is_needed: bool) -> None:
    try:
        with store.restore_path(name) as path:
            assert (path / "backbone").read_bytes() == BACKBONE
            if (path / "head").exists():
                assert (path / "head").read_bytes() == head
    except CheckpointNotFound:
        assert not is_needed, f"{name} is lost"


@pytest.mark.skipif(sys.platform != "linux", reason="it forks")
@pytest.mark.parametrize("work", [_replace_checkpoint, _replace_checkpoint_by_upload])
def test_crash_before_any_change_of_the_disk_loses_nothing_and_leaks_nothing(
    tmp_path: Path, mode: str, work: Callable[[DirectoryStorageManager], None]
) -> None:
    for step in itertools.count(1):
        store = DirectoryStorageManager(str(tmp_path / str(step)), mode)
        _save(store, FIRST, OLD_HEAD)
        outcome = _die_at(step, lambda: work(store))  # noqa: B023  called before the next turn
        assert outcome in (DIED, WENT_ON), f"step {step} failed in another way"
        has_second = (store.base / SECOND).exists()
        _require_whole(store, FIRST, OLD_HEAD, is_needed=not has_second)
        _require_whole(store, SECOND, NEW_HEAD, is_needed=has_second)
        _require_nothing_left(store)
        if outcome == WENT_ON:
            break
    assert step > 40, "it died at many steps"


def _require_nothing_left(store: DirectoryStorageManager) -> None:
    store.sweep_staging(0.0, time.time() + 3600)
    for name in (FIRST, SECOND):
        store.delete(name, ["**/*"])
    store.sweep_contents()
    index = store.base / f"{content_index.PREFIX}{os.geteuid()}"
    left = [path.name for folder in (store.base, index) for path in folder.iterdir()]
    assert left == [index.name, ".swept"]
