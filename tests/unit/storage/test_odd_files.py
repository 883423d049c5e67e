"""Odd checkpoints on a file system and in an object store: empty, unicode, partial, linked, merged, deleted in part."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest

from determined.errors import CheckpointDamaged, CheckpointNotFound
from determined.storage import CloudStorageManager, StorageManager, tree
from determined.storage.manifest import MANIFEST_NAME, STAGING_MARK, Entry, check_path, decode, encode
from determined.storage.shared_fs.manager import SharedFSStorageManager

UUID = "3f1d2a8e-0000-4000-8000-00000000000b"


class _Memory(type(fsspec.filesystem("memory"))):  # type: ignore[misc]
    """Object store of one test."""

    cachable = False
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]


@pytest.fixture(params=["file system", "object store"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StorageManager]:
    if request.param == "file system":
        yield SharedFSStorageManager(str(tmp_path / "base"))
        return
    yield CloudStorageManager(_Memory(), "bucket/prefix", str(tmp_path))
    _Memory.store.clear()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    made = tmp_path / "source"
    made.mkdir()
    return made


def fill(root: Path, **files: bytes) -> None:
    for name, content in files.items():
        (root / name).write_bytes(content)


def back(manager: StorageManager, tmp_path: Path, **how: Any) -> dict[str, bytes]:
    manager.download(UUID, tmp_path / "back", **how)
    root = tmp_path / "back"
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "name",
    ["größe.pt", "模型.pt", "a b.pt", "-rf", "~", ".hidden", "a.part", "x" * 200, "line\nbreak", "100%", "q?[*]#&"],
)
def test_a_file_of_any_name_and_an_empty_one_come_back(
    manager: StorageManager, source: Path, tmp_path: Path, name: str
) -> None:
    (source / "sub").mkdir()
    fill(source, **{name: b"1"})
    fill(source / "sub", **{name: b""})
    manager.upload(source, UUID)
    assert back(manager, tmp_path) == {name: b"1", f"sub/{name}": b""}


def test_a_checkpoint_of_nothing_but_directories_comes_back(
    manager: StorageManager, source: Path, tmp_path: Path
) -> None:
    (source / "a" / "b").mkdir(parents=True)
    manager.upload(source, UUID)
    assert [entry.path for entry in manager.entries(UUID)] == ["a/", "a/b/"]
    manager.download(UUID, tmp_path / "back")
    assert (tmp_path / "back" / "a" / "b").is_dir()


def test_an_upload_of_paths_that_are_not_there_is_of_those_that_are(
    manager: StorageManager, source: Path, tmp_path: Path
) -> None:
    fill(source, a=b"1", b=b"2")
    manager.upload(source, UUID, {"a", "never-written", "../outside"})
    assert back(manager, tmp_path) == {"a": b"1"}


def test_a_selector_that_wants_nothing_downloads_an_empty_directory(
    manager: StorageManager, source: Path, tmp_path: Path
) -> None:
    fill(source, a=b"1")
    manager.upload(source, UUID)
    assert back(manager, tmp_path, selector=lambda _path: False) == {}
    assert (tmp_path / "back").is_dir()


def test_a_download_replaces_longer_files_of_the_same_name_and_leaves_others(
    manager: StorageManager, source: Path, tmp_path: Path
) -> None:
    fill(source, a=b"new")
    manager.upload(source, UUID)
    (tmp_path / "back").mkdir()
    fill(tmp_path / "back", a=b"much longer than before", other=b"stays")
    assert back(manager, tmp_path) == {"a": b"new", "other": b"stays"}


def test_a_source_that_is_missing_or_a_file_is_named_and_leaves_nothing(manager: StorageManager, source: Path) -> None:
    fill(source, a=b"1")
    for place, error in ((source / "none", FileNotFoundError), (source / "a", NotADirectoryError)):
        with pytest.raises(error, match=str(place)):
            manager.upload(place, UUID)
    with pytest.raises(CheckpointNotFound):
        manager.entries(UUID)


def test_what_some_globs_leave_is_a_checkpoint_of_the_rest(
    manager: StorageManager, source: Path, tmp_path: Path
) -> None:
    (source / "opt").mkdir()
    fill(source, **{"model.pt": b"12", "metadata.json": b"{}"})
    fill(source / "opt", **{"rank0.pt": b"3", "rank1.pt": b"45"})
    manager.upload(source, UUID)
    left = manager.delete(UUID, ["opt/*1.pt", "model*"])
    files = {path: size for path, size in left.items() if not path.endswith("/")}
    assert files == {"metadata.json": 2, "opt/rank0.pt": 1}
    assert back(manager, tmp_path) == {"metadata.json": b"{}", "opt/rank0.pt": b"3"}
    manager.check(UUID, files)
    assert manager.delete(UUID, ["nothing-like-it"]) == left


@pytest.mark.parametrize("name", ["[ab].pt", "*.pt", "?.pt"])
def test_deleting_a_file_whose_name_reads_as_a_glob_spares_those_that_it_would_match(
    manager: StorageManager, source: Path, tmp_path: Path, name: str
) -> None:
    fill(source, **{name: b"0", "a.pt": b"1", "b.pt": b"2"})
    manager.upload(source, UUID)
    escaped = name.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]")
    assert manager.delete(UUID, [escaped]) == {"a.pt": 1, "b.pt": 1}
    manager.check(UUID, {"a.pt": 1, "b.pt": 1})
    assert back(manager, tmp_path) == {"a.pt": b"1", "b.pt": b"2"}


def test_a_prefix_that_reads_as_a_glob_is_a_prefix(source: Path, tmp_path: Path) -> None:
    fill(source, a=b"1")
    odd, plain = (CloudStorageManager(_Memory(), f"bucket/{place}", str(tmp_path)) for place in ("run[1]", "run1"))
    for store in (odd, plain):
        store.upload(source, UUID)
        store.put(source / "a", "loose/a")
    assert odd.delete(UUID, ["**/*"]) == {}
    odd.remove("loose")
    assert (plain.read("loose/a"), back(plain, tmp_path)) == (b"1", {"a": b"1"})
    with pytest.raises(CheckpointNotFound):
        odd.entries(UUID)
    _Memory.store.clear()


def test_a_glob_that_makes_no_sense_deletes_nothing(manager: StorageManager, source: Path, tmp_path: Path) -> None:
    fill(source, a=b"1")
    manager.upload(source, UUID)
    with pytest.raises(ValueError, match="is refused"):
        manager.delete(UUID, ["a", "[z-a]"])
    assert back(manager, tmp_path) == {"a": b"1"}


def test_our_own_files_in_a_source_are_not_taken_for_the_users(
    manager: StorageManager, source: Path, tmp_path: Path
) -> None:
    fill(source, **{"a": b"1", MANIFEST_NAME: b"{}", STAGING_MARK: b""})
    manager.upload(source, UUID)
    assert [entry.path for entry in manager.entries(UUID)] == ["a"]
    assert back(manager, tmp_path) == {"a": b"1"}


def test_loose_files_are_put_read_and_removed_by_their_key(manager: StorageManager, source: Path) -> None:
    fill(source, events=b"1")
    manager.put(source / "events", "c/tb/größe/events")
    manager.put(source / "events", "c/tb/größe/events")
    assert manager.read("c/tb/größe/events") == b"1"
    manager.remove("c/tb")
    manager.remove("c/tb")
    with pytest.raises(FileNotFoundError):
        manager.read("c/tb/größe/events")


def test_a_directory_that_holds_something_new_stays_when_what_was_seen_in_it_goes(tmp_path: Path) -> None:
    (tmp_path / "d" / "e").mkdir(parents=True)
    fill(tmp_path / "d", old=b"1", new=b"2")
    fill(tmp_path / "d" / "e", old=b"1")
    with tree.directory(str(tmp_path)) as fd:
        tree.remove_all(fd, {"d/", "d/old", "d/e/", "d/e/old", "d/gone"})
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == ["d", "d/new"]


def test_links_beside_files_of_similar_names_take_nothing_with_them(tmp_path: Path) -> None:
    store = SharedFSStorageManager(str(tmp_path / "base"))
    fill(tmp_path, outside=b"copied")
    with store.store_path(UUID) as path:
        fill(path, **{"weights": b"1", "model.part": b"the user's own", "copy.part": b"another"})
        (path / "model").symlink_to("weights")
        (path / "copy").symlink_to(tmp_path / "outside")
    assert back(store, tmp_path) == {
        "weights": b"1", "model": b"1", "model.part": b"the user's own", "copy": b"copied", "copy.part": b"another",
    }  # fmt: skip


def test_a_link_that_leads_nowhere_fails_the_save_and_names_it(tmp_path: Path) -> None:
    store = SharedFSStorageManager(str(tmp_path / "base"))
    with pytest.raises(FileNotFoundError, match="nowhere"), store.store_path(UUID) as path:
        (path / "model").symlink_to(tmp_path / "nowhere")
    assert list(store.base.iterdir()) == []


def test_a_manifest_comes_back_sorted_with_the_last_of_equal_paths() -> None:
    first, second = (f"crc32-16m:{digit * 32}" for digit in "12")
    entries = [Entry("b", 1, first), Entry("a/", 0), Entry("b", 2, second)]
    assert decode(encode(entries), "c") == [Entry("a/", 0), Entry("b", 2, second)]


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"{", b"[]", b"{}", b'{"files": 3}', b'{"files": [1]}', b'{"files": [{}]}', b"\xff",
        b'{"files": [{"path": "a", "size": "x"}]}', b'{"files": [{"path": "../a", "size": 1}]}',
    ],
)  # fmt: skip
def test_a_manifest_that_cannot_be_read_is_damage_with_a_way_out(raw: bytes) -> None:
    with pytest.raises(CheckpointDamaged, match=r"manifest of checkpoint c cannot be read .*; use another checkpoint"):
        decode(raw, "c")


def test_a_manifest_cut_anywhere_is_damage() -> None:
    whole = encode([Entry("größe", 1, "x"), Entry("d/", 0)])
    for cut in range(len(whole)):
        with pytest.raises(CheckpointDamaged):
            decode(whole[:cut], "c")


@pytest.mark.parametrize("path", ["", "/", "/etc/passwd", "a//b", "./a", "a/./b", "a/..", "..", "a\0b", None, 3])
def test_a_path_that_is_not_below_its_checkpoint_is_refused(path: Any) -> None:
    with pytest.raises(ValueError, match="does not name a file inside the checkpoint"):
        check_path(path)
