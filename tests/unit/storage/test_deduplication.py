"""Files with the same content are stored once on a file system; checkpoints stay independent of each other."""

import errno
import os
import threading
import uuid
from pathlib import Path

import pytest

from determined.storage import cloning, content_index
from determined.storage.directory.manager import DirectoryStorageManager

MIB = 1024 * 1024
BACKBONE = os.urandom(3 * MIB + 17)


@pytest.fixture(autouse=True)
def without_clones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the file system be one that has links alone, whatever it is here."""
    monkeypatch.setattr(content_index, "clone", lambda _source, _target: False)


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStorageManager:
    return DirectoryStorageManager(str(tmp_path / "store"))


def _source(tmp_path: Path, head: bytes = b"head", backbone: bytes = BACKBONE) -> Path:
    source = tmp_path / "source"
    source.mkdir(exist_ok=True)
    (source / "backbone.pt").write_bytes(backbone)
    (source / "head.pt").write_bytes(head)
    (source / "metadata.json").write_text("{}")
    return source


def _upload(store: DirectoryStorageManager, source: Path) -> Path:
    name = str(uuid.uuid4())
    store.upload(source, name)
    return store.base / name


def _save(store: DirectoryStorageManager, backbone: bytes = BACKBONE) -> Path:
    name = str(uuid.uuid4())
    with store.store_path(name) as path:
        (path / "backbone.pt").write_bytes(backbone)
        (path / "metadata.json").write_text("{}")
    return store.base / name


def _index(store: DirectoryStorageManager) -> Path:
    return store.base / f"{content_index.PREFIX}{os.geteuid()}"


def _keys(store: DirectoryStorageManager) -> list[str]:
    return sorted(path.name for path in _index(store).iterdir() if path.name != ".swept")


def _is_one_file(first: Path, second: Path) -> bool:
    return first.stat().st_ino == second.stat().st_ino


def test_file_that_did_not_change_is_stored_once_however_it_is_saved(
    store: DirectoryStorageManager, tmp_path: Path
) -> None:
    first = _upload(store, _source(tmp_path, b"1"))
    second = _upload(store, _source(tmp_path, b"2"))
    third = _save(store)
    assert _is_one_file(first / "backbone.pt", second / "backbone.pt")
    assert _is_one_file(first / "backbone.pt", third / "backbone.pt")
    assert (second / "head.pt").read_bytes() == b"2"
    for checkpoint in (first, second, third):
        store.download(checkpoint.name, tmp_path / checkpoint.name)
        assert (tmp_path / checkpoint.name / "backbone.pt").read_bytes() == BACKBONE


def test_checkpoints_of_other_managers_of_the_store_count_too(store: DirectoryStorageManager, tmp_path: Path) -> None:
    first = _upload(store, _source(tmp_path))
    second = _upload(DirectoryStorageManager(str(store.base)), _source(tmp_path))
    assert _is_one_file(first / "backbone.pt", second / "backbone.pt")


def test_small_files_are_each_stored_for_themselves(store: DirectoryStorageManager, tmp_path: Path) -> None:
    first, second = _upload(store, _source(tmp_path)), _upload(store, _source(tmp_path))
    assert not _is_one_file(first / "head.pt", second / "head.pt")
    assert (first / "head.pt").stat().st_mode & 0o200


def test_nothing_is_shared_where_the_section_says_none(tmp_path: Path) -> None:
    store = DirectoryStorageManager(str(tmp_path / "store"), "none")
    first, second = _upload(store, _source(tmp_path)), _upload(store, _source(tmp_path))
    assert not _is_one_file(first / "backbone.pt", second / "backbone.pt")
    assert not _index(store).exists()


def test_files_that_differ_where_no_sample_is_taken_are_not_taken_for_the_same(
    store: DirectoryStorageManager, tmp_path: Path
) -> None:
    changed = bytearray(BACKBONE)
    changed[5000] ^= 1
    first = _upload(store, _source(tmp_path))
    second = _upload(store, _source(tmp_path, backbone=bytes(changed)))
    assert len(_keys(store)) == 1, "they have the same key"
    assert (first / "backbone.pt").read_bytes() == BACKBONE
    assert (second / "backbone.pt").read_bytes() == bytes(changed)
    third = _upload(store, _source(tmp_path, backbone=bytes(changed)))
    assert _is_one_file(second / "backbone.pt", third / "backbone.pt"), "the newest of a key is what later ones meet"


def test_deleting_one_checkpoint_leaves_the_others_whole(store: DirectoryStorageManager, tmp_path: Path) -> None:
    first, second = _upload(store, _source(tmp_path)), _upload(store, _source(tmp_path))
    assert store.delete(first.name, ["**/*"]) == {}
    store.download(second.name, tmp_path / "back")
    assert (tmp_path / "back" / "backbone.pt").read_bytes() == BACKBONE
    third = _upload(store, _source(tmp_path))
    assert _is_one_file(second / "backbone.pt", third / "backbone.pt")


@pytest.mark.parametrize("globs", [["**/*"], ["backbone.pt"]])
def test_content_goes_with_the_last_checkpoint_that_has_it(
    store: DirectoryStorageManager, tmp_path: Path, globs: list[str]
) -> None:
    checkpoints = [_upload(store, _source(tmp_path)) for _ in range(3)]
    for checkpoint in checkpoints:
        assert len(_keys(store)) == 1
        store.delete(checkpoint.name, globs)
    assert _keys(store) == []


def test_content_of_checkpoints_that_somebody_removed_by_hand_is_swept(
    store: DirectoryStorageManager, tmp_path: Path
) -> None:
    gone, kept = _save(store, b"1" * MIB), _save(store, b"2" * MIB)
    for file in gone.iterdir():
        file.unlink()
    gone.rmdir()
    assert len(_keys(store)) == 2
    store.sweep_contents()
    assert len(_keys(store)) == 1
    assert _is_one_file(kept / "backbone.pt", _save(store, b"2" * MIB) / "backbone.pt")


@pytest.mark.parametrize("plant", ["link", "pipe"])
def test_sweep_follows_nothing_that_the_user_puts_in_the_place_of_its_mark(
    store: DirectoryStorageManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plant: str
) -> None:
    _save(store)
    mark, outside, unlink = _index(store) / ".swept", tmp_path / "outside", os.unlink

    def planted(path: str, *, dir_fd: int | None = None) -> None:
        unlink(path, dir_fd=dir_fd)
        if path == mark.name:
            mark.symlink_to(outside) if plant == "link" else os.mkfifo(mark)

    monkeypatch.setattr(os, "unlink", planted)
    store.sweep_contents()
    assert not outside.exists()


def test_save_sweeps_what_nobody_has_swept_for_days(store: DirectoryStorageManager) -> None:
    gone = _save(store, b"1" * MIB)
    (gone / "backbone.pt").unlink()
    _save(store, b"2" * MIB)
    assert len(_keys(store)) == 2, "swept when the index began"
    os.utime(_index(store) / ".swept", (1, 1))
    _save(store, b"3" * MIB)
    assert len(_keys(store)) == 2


def test_shared_file_cannot_be_changed_in_place_but_its_copies_can(
    store: DirectoryStorageManager, tmp_path: Path
) -> None:
    first = _upload(store, _source(tmp_path))
    assert (first / "backbone.pt").stat().st_mode & 0o777 == 0o644, "as long as nobody shares it"
    second = _upload(store, _source(tmp_path))
    assert (second / "backbone.pt").stat().st_mode & 0o777 == 0o444
    store.download(second.name, tmp_path / "back")
    assert (tmp_path / "back" / "backbone.pt").stat().st_mode & 0o777 == 0o644


def test_stored_file_that_was_changed_in_place_is_not_shared_with_new_checkpoints(
    store: DirectoryStorageManager, tmp_path: Path
) -> None:
    damaged = _upload(store, _source(tmp_path))
    with (damaged / "backbone.pt").open("r+b") as file:
        file.seek(MIB)
        file.write(b"damage")
    fresh = _upload(store, _source(tmp_path))
    store.download(fresh.name, tmp_path / "back")
    assert (tmp_path / "back" / "backbone.pt").read_bytes() == BACKBONE


def test_files_of_other_modes_are_not_shared(store: DirectoryStorageManager, tmp_path: Path) -> None:
    source = _source(tmp_path)
    first = _upload(store, source)
    (source / "backbone.pt").chmod(0o755)
    second = _upload(store, source)
    assert not _is_one_file(first / "backbone.pt", second / "backbone.pt")
    assert (second / "backbone.pt").stat().st_mode & 0o777 == 0o755


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of another user")
def test_index_that_another_user_has_made_is_not_used(store: DirectoryStorageManager, tmp_path: Path) -> None:
    store.base.mkdir()
    _index(store).mkdir()
    os.chown(_index(store), 12345, 12345)
    first, second = _upload(store, _source(tmp_path)), _upload(store, _source(tmp_path))
    assert not _is_one_file(first / "backbone.pt", second / "backbone.pt")
    assert _keys(store) == []


def test_link_in_the_place_of_the_index_leads_nowhere(store: DirectoryStorageManager, tmp_path: Path) -> None:
    store.base.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    _index(store).symlink_to(elsewhere)
    first = _upload(store, _source(tmp_path))
    store.delete(first.name, ["**/*"])
    store.sweep_contents()
    assert list(elsewhere.iterdir()) == []


def test_link_in_the_index_is_not_followed(store: DirectoryStorageManager, tmp_path: Path) -> None:
    first = _upload(store, _source(tmp_path))
    (key,) = _keys(store)
    (tmp_path / "mine").write_bytes(BACKBONE)
    (_index(store) / key).unlink()
    (_index(store) / key).symlink_to(tmp_path / "mine")
    second = _upload(store, _source(tmp_path))
    assert not (second / "backbone.pt").is_symlink()
    assert not _is_one_file(first / "backbone.pt", second / "backbone.pt")
    assert (tmp_path / "mine").stat().st_nlink == 1


@pytest.mark.parametrize("refusal", [errno.EMLINK, errno.EPERM, errno.EOPNOTSUPP, errno.ENOSPC])
def test_save_does_not_fail_where_no_link_can_be_made(
    store: DirectoryStorageManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: int
) -> None:
    first = _upload(store, _source(tmp_path))

    def refuse(*_args: object, **_options: object) -> None:
        raise OSError(refusal, os.strerror(refusal))

    monkeypatch.setattr(os, "link", refuse)
    second = _upload(store, _source(tmp_path))
    assert not _is_one_file(first / "backbone.pt", second / "backbone.pt")
    store.download(second.name, tmp_path / "back")
    assert sorted(path.name for path in second.iterdir()) == [
        ".det-manifest.json", "backbone.pt", "head.pt", "metadata.json",
    ]  # fmt: skip


def test_deletion_between_finding_a_content_and_linking_it_loses_nothing(
    store: DirectoryStorageManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _upload(store, _source(tmp_path))
    link = os.link

    def delete_first(*args: object, **options: object) -> None:
        monkeypatch.setattr(os, "link", link)
        store.delete(first.name, ["**/*"])
        link(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "link", delete_first)
    second = _upload(store, _source(tmp_path))
    store.download(second.name, tmp_path / "back")
    assert (tmp_path / "back" / "backbone.pt").read_bytes() == BACKBONE


def test_saves_deletions_and_sweeps_at_once_lose_nothing_and_leave_nothing(tmp_path: Path) -> None:
    base = str(tmp_path / "store")
    contents = [bytes([number]) * MIB for number in range(2)]
    problems: list[BaseException] = []

    def save_and_delete(number: int) -> None:
        store = DirectoryStorageManager(base)
        try:
            for turn in range(12):
                content = contents[(turn + number) % 2]
                checkpoint = _save(store, content)
                with store.restore_path(checkpoint.name) as path:
                    assert (path / "backbone.pt").read_bytes() == content
                store.delete(checkpoint.name, ["**/*"])
                store.sweep_contents()
        except BaseException as err:
            problems.append(err)

    threads = [threading.Thread(target=save_and_delete, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    store = DirectoryStorageManager(base)
    store.sweep_contents()
    assert _keys(store) == []
    assert [path.name for path in store.base.iterdir()] == [_index(store).name]


def test_clone_takes_the_place_of_a_link_and_stays_writable(
    store: DirectoryStorageManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def clone(source: int, target: int) -> bool:
        os.pwrite(target, os.pread(source, os.fstat(source).st_size, 0), 0)
        return True

    monkeypatch.setattr(content_index, "clone", clone)
    first, second = _upload(store, _source(tmp_path)), _upload(store, _source(tmp_path))
    assert not _is_one_file(first / "backbone.pt", second / "backbone.pt")
    assert (second / "backbone.pt").read_bytes() == BACKBONE
    assert {path.stat().st_mode & 0o777 for path in (first / "backbone.pt", second / "backbone.pt")} == {0o644}


def test_file_system_without_clones_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr("fcntl.ioctl", refuse)
    with (tmp_path / "a").open("w+b") as one, (tmp_path / "b").open("w+b") as other:
        assert not cloning.clone(one.fileno(), other.fileno())
