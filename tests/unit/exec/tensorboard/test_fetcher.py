"""Copies of event files of an object store, brought up to date."""

from pathlib import Path

import fsspec
import pytest

from determined.exec.tensorboard import fetcher
from determined.exec.tensorboard.fetcher import Fetcher, Following
from determined.storage import CloudStorageManager
from determined.wire.tensorboard_settings import TensorboardSource

PREFIX = "c/tensorboard/experiment/1"
EVENTS = "trial/1/events.out.tfevents.1.host"


class Counting(CloudStorageManager):
    """Notes which bytes were asked for."""

    def __init__(self, base: Path) -> None:
        super().__init__(fsspec.filesystem("file", auto_mkdir=True), str(base))
        self.reads: list[tuple[str, int]] = []

    def read(self, key: str, start: int = 0) -> bytes:
        self.reads.append((key.removeprefix(f"{PREFIX}/"), start))
        return super().read(key, start)


@pytest.fixture
def bucket(tmp_path: Path) -> Path:
    return tmp_path / "bucket"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return tmp_path / "copy"


def _store(bucket: Path, name: str, content: bytes) -> None:
    path = bucket / PREFIX / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_what_an_event_file_has_grown_by_is_appended(bucket: Path, copy: Path) -> None:
    manager = Counting(bucket)
    follower = Fetcher(manager, PREFIX, copy)
    assert follower.fetch() == 0, "nothing is there yet"
    _store(bucket, EVENTS, b"first")
    assert follower.fetch() == 1
    with (copy / EVENTS).open("rb") as followed:
        followed.read()
        _store(bucket, EVENTS, b"first second")
        assert (follower.fetch(), follower.fetch()) == (1, 0)
        assert followed.read() == b" second", "TensorBoard reads on where it was"
    assert manager.reads == [(EVENTS, 0), (EVENTS, 5)]


def test_an_event_file_that_has_shrunk_is_another_one(bucket: Path, copy: Path) -> None:
    follower = Fetcher(Counting(bucket), PREFIX, copy)
    _store(bucket, EVENTS, b"first second")
    follower.fetch()
    _store(bucket, EVENTS, b"new")
    follower.fetch()
    assert (copy / EVENTS).read_bytes() == b"new"


def test_other_files_are_replaced(bucket: Path, copy: Path) -> None:
    follower = Fetcher(Counting(bucket), PREFIX, copy)
    _store(bucket, "plugins/profile/trace.json", b"one")
    follower.fetch()
    _store(bucket, "plugins/profile/trace.json", b"other and longer")
    follower.fetch()
    assert [p.name for p in copy.rglob("*") if p.is_file()] == ["trace.json"]
    assert (copy / "plugins/profile/trace.json").read_bytes() == b"other and longer"


def test_a_store_that_fails_is_reported_once_and_tried_again(
    bucket: Path, copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    working, answers = Counting(bucket), [OSError("no route"), OSError("no route"), None]

    def build(section: object) -> Counting:
        answer = answers.pop(0)
        if answer is not None:
            raise answer
        return working

    monkeypatch.setattr(fetcher.storage, "build", build)
    _store(bucket, EVENTS, b"first")
    following = Following(TensorboardSource(name="experiment/1", storage={"type": "s3"}, prefix=PREFIX), copy)
    for _ in range(3):
        following.step()
    assert capsys.readouterr().out.count("experiment/1: event files cannot be fetched, trying again: no route") == 1
    assert (copy / "experiment/1" / EVENTS).read_bytes() == b"first"
