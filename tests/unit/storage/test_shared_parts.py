"""On a file system with clones a file shares with its last version what did not change, and stays a plain file."""

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from determined.storage import content_index, copying, shared_parts
from determined.storage.directory.manager import DirectoryStorageManager
from determined.storage.shared_parts import Part

MIB = 1024 * 1024
BEFORE = os.urandom(10 * MIB + 77)
AFTER = BEFORE[: 9 * MIB] + os.urandom(MIB) + BEFORE[10 * MIB :]


@pytest.fixture
def cloned(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    """Stand in for a file system with clones, by copies; begin, length and place of each."""
    ranges = []

    def clone_range(source: int, begin: int, length: int, target: int, place: int) -> bool:
        os.pwrite(target, os.pread(source, length, begin), place)
        ranges.append((begin, length, place))
        return True

    monkeypatch.setattr(shared_parts, "clone_range", clone_range)
    monkeypatch.setattr(content_index, "clone", lambda _source, _target: False)
    return ranges


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStorageManager:
    return DirectoryStorageManager(str(tmp_path / "store"))


def _save(store: DirectoryStorageManager, content: bytes) -> Path:
    name = str(uuid.uuid4())
    with store.store_path(name) as path:
        (path / "model.pt").write_bytes(content)
        (path / "model.pt").chmod(0o640)
    return store.base / name


def _upload(store: DirectoryStorageManager, content: bytes) -> Path:
    name = str(uuid.uuid4())
    source = store.base.parent / "source"
    source.mkdir(exist_ok=True)
    (source / "model.pt").write_bytes(content)
    (source / "model.pt").chmod(0o640)
    store.upload(source, name)
    return store.base / name


@pytest.mark.parametrize("store_files", [_save, _upload])
def test_file_shares_with_its_last_version_what_did_not_change(
    store: DirectoryStorageManager, cloned: list[tuple[int, int, int]], store_files: "type[_save]"
) -> None:
    checkpoints = [store_files(store, content) for content in (BEFORE, AFTER)]
    assert cloned == [(0, 9 * MIB, 0)]
    for checkpoint, content in zip(checkpoints, (BEFORE, AFTER), strict=True):
        assert (checkpoint / "model.pt").read_bytes() == content
        assert (checkpoint / "model.pt").stat().st_mode & 0o777 == 0o640
        store.download(checkpoint.name, store.base.parent / checkpoint.name)
        assert sorted(path.name for path in checkpoint.iterdir()) == [".det-manifest.json", "model.pt"]


def test_training_that_resumes_shares_with_what_it_read(
    store: DirectoryStorageManager, cloned: list[tuple[int, int, int]]
) -> None:
    first = _save(store, BEFORE)
    resumed = DirectoryStorageManager(str(store.base))
    with resumed.restore_path(first.name):
        pass
    _save(resumed, AFTER)
    assert cloned == [(0, 9 * MIB, 0)]


def test_last_version_that_was_deleted_meanwhile_is_not_needed(
    store: DirectoryStorageManager, cloned: list[tuple[int, int, int]]
) -> None:
    first = _save(store, BEFORE)
    store.delete(first.name, ["**/*"])
    assert (_save(store, AFTER) / "model.pt").read_bytes() == AFTER
    assert cloned == []


def test_file_of_which_nearly_all_changed_is_left_as_it_is(
    store: DirectoryStorageManager, cloned: list[tuple[int, int, int]]
) -> None:
    _save(store, BEFORE)
    second = _save(store, BEFORE[:MIB] + os.urandom(9 * MIB))
    assert cloned == []
    assert (second / "model.pt").stat().st_size == 10 * MIB


def test_file_system_without_clones_is_asked_once(
    store: DirectoryStorageManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(shared_parts, "clone_range", lambda *place: asked.append(place))
    for content in (BEFORE, AFTER, BEFORE[::-1], AFTER[::-1]):
        assert (_save(store, content) / "model.pt").read_bytes() == content
    assert len(asked) == 1


def test_tensors_that_moved_are_shared_where_they_begin_at_a_block_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    from determined.pytorch._copies import write_state

    monkeypatch.setattr("determined.pytorch._copies._LARGE", MIB)
    before, after = tmp_path / "before.pt", tmp_path / "after.pt"
    tensors = [torch.rand(300_000) for _ in range(4)]
    with before.open("wb") as earlier, after.open("wb") as new:
        write_state({"counters": b"", "tensors": tensors}, earlier)
        write_state({"counters": list(range(10_000)), "tensors": [*tensors[:3], torch.rand(300_000)]}, new)
    with before.open("rb") as earlier, after.open("rb") as new:
        parts = shared_parts.find(new.fileno(), earlier.fileno())
    assert len(parts) == 3
    assert all(part.begin != part.known and part.length >= 1_196_032 for part in parts)


def test_parts_begin_and_end_at_blocks_of_the_disk(tmp_path: Path) -> None:
    (tmp_path / "new").write_bytes(BEFORE)
    (tmp_path / "earlier").write_bytes(BEFORE[: 5 * MIB + 11])
    with (tmp_path / "new").open("rb") as new, (tmp_path / "earlier").open("rb") as earlier:
        assert shared_parts.find(new.fileno(), earlier.fileno()) == [Part(0, 0, 5 * MIB)]


@pytest.fixture
def disk_with_clones(tmp_path: Path) -> Iterator[Path]:
    """Mount an XFS: what only a real file system can tell."""
    if os.geteuid() != 0 or shutil.which("mkfs.xfs") is None:
        pytest.skip("only root with mkfs.xfs makes a file system")
    image, place = tmp_path / "image", tmp_path / "disk"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(400 * MIB)
    subprocess.run(["mkfs.xfs", "-q", str(image)], check=True)
    if subprocess.run(["mount", "-o", "loop", str(image), str(place)], check=False).returncode:
        pytest.skip("no loop device here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def _used(disk: Path) -> int:
    """Return how much is used once the file system has freed what was removed: it takes its time while mounted."""
    subprocess.run(["umount", str(disk)], check=True)
    subprocess.run(["mount", "-o", "loop", str(disk.parent / "image"), str(disk)], check=True)
    status = os.statvfs(disk)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def test_copy_takes_no_more_of_the_disk_than_its_size(disk_with_clones: Path, tmp_path: Path) -> None:
    (tmp_path / "new").write_bytes(os.urandom(40 * MIB))
    copying.copy_files([(tmp_path / "new", disk_with_clones / "copy")])
    os.sync()
    assert (disk_with_clones / "copy").stat().st_blocks * 512 == 40 * MIB


def test_disk_with_clones_has_what_is_the_same_once(disk_with_clones: Path) -> None:
    store = DirectoryStorageManager(str(disk_with_clones / "store"))
    first = _save(store, BEFORE)
    sizes = [_used(disk_with_clones)]
    checkpoints = [_save(store, AFTER), _save(store, AFTER), _save(store, BEFORE)]
    sizes.append(_used(disk_with_clones))
    assert sizes[1] - sizes[0] < 3 * MIB
    contents = [(checkpoint / "model.pt").read_bytes() for checkpoint in [first, *checkpoints]]
    assert contents == [BEFORE, AFTER, AFTER, BEFORE]
    with (checkpoints[0] / "model.pt").open("r+b") as file:
        file.write(b"changed in place")
    assert [(checkpoint / "model.pt").read_bytes() for checkpoint in checkpoints[1:]] == [AFTER, BEFORE]
    for checkpoint in checkpoints[1:]:
        store.download(checkpoint.name, disk_with_clones / checkpoint.name)
