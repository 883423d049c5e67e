"""A file hashed while it is written has the hash that reading it gives, and is read again only when it was changed."""

import os
import random
from pathlib import Path
from typing import Any

import pytest

from determined.storage import copying, hashed_files
from determined.storage.directory.manager import DirectoryStorageManager
from determined.storage.hashed_files import HashedFiles

UUID = "3f1d2a8e-0c1b-4f6a-8a53-d2b7c9e01f4a"
# What writers do: little pieces, pieces that need a thread, and such that do not end where a hashed piece does.
SIZES = [0, 1, 300_000, copying.PIECE - 1, 2 * 1024 * 1024, copying.PIECE, 7, copying.PIECE + 5]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of files whose hash had to be found by reading them."""
    names: list[str] = []
    hash_files = copying.hash_files

    def spy(paths: Any) -> list[tuple[int, str]]:
        todo = list(paths)
        names.extend(path.name for path in todo)
        return hash_files(todo)

    monkeypatch.setattr(copying, "hash_files", spy)
    return names


def _create(files: HashedFiles, path: Path, content: bytes = b"weights") -> Path:
    with files.create(path) as out:
        out.write(content)
    return path


@pytest.mark.parametrize("sizes", [[], *([size] for size in SIZES), SIZES, SIZES[::-1]])
def test_the_hash_is_that_of_reading_the_file(tmp_path: Path, sizes: list[int], read: list[str]) -> None:
    blocks = [random.Random(size).randbytes(size) for size in sizes]
    files = HashedFiles()
    with files.create(tmp_path / "a") as out:
        for block in blocks:
            out.write(memoryview(block))
    found = files.digests([tmp_path / "a"])
    assert read == []
    assert (tmp_path / "a").read_bytes() == b"".join(blocks)
    assert found == copying.hash_files([tmp_path / "a"])


def test_files_that_were_not_written_here_are_read(tmp_path: Path, read: list[str]) -> None:
    files = HashedFiles()
    (tmp_path / "b").write_bytes(b"other")
    (tmp_path / "c").write_bytes(b"another")
    paths = [tmp_path / "b", _create(files, tmp_path / "a"), tmp_path / "c"]
    assert files.digests(paths) == copying.hash_files(paths)
    assert read[:2] == ["b", "c"]


def test_the_same_bytes_are_hashed_once_and_then_forgotten(tmp_path: Path, read: list[str]) -> None:
    files = HashedFiles()
    path = _create(files, tmp_path / "a")
    assert files.digests([path]) == files.digests([path])
    assert read == ["a"] and not files._known


def test_files_nobody_asks_about_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashed_files, "_MOST_FILES", 2)
    files = HashedFiles()
    paths = [_create(files, tmp_path / str(number), bytes(number)) for number in range(4)]
    assert len(files._known) == 2
    assert files.digests(paths) == copying.hash_files(paths)


@pytest.mark.parametrize("how", ["in place", "appended", "replaced", "removed and made anew"])
def test_a_file_that_was_changed_since_is_read_again(tmp_path: Path, how: str, read: list[str]) -> None:
    files = HashedFiles()
    path = _create(files, tmp_path / "a", b"weights")
    if how == "replaced":
        (tmp_path / "new").write_bytes(b"WEIGHTS")
        (tmp_path / "new").replace(path)
    elif how == "removed and made anew":
        path.unlink()
        path.write_bytes(b"WEIGHTS")
    else:
        with path.open("r+b" if how == "in place" else "ab") as out:
            out.write(b"WEIGHTS")
    assert files.digests([path]) == copying.hash_files([path])
    assert read[:1] == ["a"]


def test_a_change_within_a_tick_of_the_clock_is_seen(tmp_path: Path, read: list[str]) -> None:
    """The kernel may give a change the very time of the last write before it."""
    files, path = HashedFiles(), tmp_path / "a"
    with files.create(path) as out:
        out.write(b"weights")
        out.flush()
        last = path.stat()
    with path.open("r+b") as changed:
        changed.write(b"WEIGHTS")
    os.utime(path, ns=(last.st_atime_ns, last.st_mtime_ns))
    assert files.digests([path]) == copying.hash_files([path])
    assert read[:1] == ["a"]


def test_a_file_system_without_nanoseconds_has_its_files_read(
    tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "utime", lambda *_args, **_named: None)
    files = HashedFiles()
    path = _create(files, tmp_path / "a")
    assert files.digests([path]) == copying.hash_files([path])
    assert read[:1] == ["a"]


@pytest.mark.parametrize("size", [10, 3 * 1024 * 1024])
def test_a_full_disk_is_named_whatever_the_writer_makes_of_it(size: int) -> None:
    with (
        pytest.raises(OSError, match=r"No space left on device: '/dev/full'"),
        HashedFiles().create(Path("/dev/full")) as out,
    ):
        try:
            out.write(bytes(size))
            out.flush()
        except OSError as err:
            raise RuntimeError("unexpected position") from err


def test_an_error_of_the_writer_is_left_as_it_is(tmp_path: Path) -> None:
    files = HashedFiles()
    with pytest.raises(ValueError, match="no such key"), files.create(tmp_path / "a") as out:
        out.write(b"half")
        raise ValueError("no such key")
    assert not files._known


def test_a_store_publishes_what_was_hashed_on_the_way(tmp_path: Path, read: list[str]) -> None:
    manager = DirectoryStorageManager(str(tmp_path / "store"))
    content = random.Random(1).randbytes(copying.PIECE + 1)
    with manager.store_path(UUID) as path:
        with manager.create_file(path / "weights") as out:
            out.write(content)
        (path / "metadata.json").write_text("{}")
    assert read == ["metadata.json"]
    manager.download(UUID, tmp_path / "again")
    assert (tmp_path / "again" / "weights").read_bytes() == content
