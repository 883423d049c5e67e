"""Large files are stored in blocks, each once, and come back as they were."""

import io
import json
import os
import random
import struct
import uuid
import zipfile
from pathlib import Path

import pytest

from determined.errors import CheckpointDamaged
from determined.storage import block_names, blocks, content_index
from determined.storage.block_cuts import cuts
from determined.storage.directory.manager import DirectoryStorageManager
from determined.storage.manifest import MANIFEST_NAME

MIB = 1024 * 1024
TENSORS = [os.urandom(MIB) for _ in range(10)]


class _Stream(io.BytesIO):
    """File that is only appended to: headers in it have no sums of what follows them."""

    def tell(self) -> int:
        raise OSError


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStorageManager:
    return DirectoryStorageManager(str(tmp_path / "store"), "blocks")


def _archive(tensors: list[bytes], counters: bytes = b"1") -> bytes:
    """Return a file such as torch writes: counters first, then every tensor as it is, with its sum behind it."""
    packed = _Stream()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo("archive/data.pkl"), counters)
        for number, tensor in enumerate(tensors):
            archive.writestr(zipfile.ZipInfo(f"archive/data/{number}"), tensor)
    return packed.getvalue()


def _save(store: DirectoryStorageManager, content: bytes, **more: bytes) -> Path:
    name = str(uuid.uuid4())
    with store.store_path(name) as path:
        (path / "model.pt").write_bytes(content)
        (path / "metadata.json").write_text("{}")
        for file, text in more.items():
            (path / file).write_bytes(text)
    return store.base / name


def _inodes(checkpoint: Path) -> dict[int, int]:
    """Return the size of each block of a checkpoint by its inode."""
    return {block.stat().st_ino: block.stat().st_size for block in (checkpoint / block_names.DIRECTORY).iterdir()}


def _restored(store: DirectoryStorageManager, checkpoint: Path, file: str = "model.pt") -> bytes:
    with store.restore_path(checkpoint.name) as path:
        return (path / file).read_bytes()


def test_second_save_writes_what_changed_although_everything_moved(store: DirectoryStorageManager) -> None:
    before, after = _archive(TENSORS), _archive([*TENSORS[:9], os.urandom(MIB)], counters=b"1000000")
    first, second = _save(store, before), _save(store, after)
    known = _inodes(first)
    written = sum(size for inode, size in _inodes(second).items() if inode not in known)
    assert MIB <= written <= 0.15 * len(after)
    assert _restored(store, first) == before
    assert _restored(store, second) == after


def test_upload_writes_only_what_changed(store: DirectoryStorageManager, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "model.pt").write_bytes(_archive(TENSORS))
    names = [str(uuid.uuid4()) for _ in range(2)]
    for name in names:
        store.upload(tmp_path / "source", name)
    first, second = (_inodes(store.base / name) for name in names)
    assert first == second
    store.download(names[1], tmp_path / "back")
    assert (tmp_path / "back" / "model.pt").read_bytes() == _archive(TENSORS)


def test_file_in_blocks_is_read_from_any_position(store: DirectoryStorageManager) -> None:
    content = _archive(TENSORS) + os.urandom(9 * MIB)
    checkpoint = _save(store, content)
    draw = random.Random(7)
    with store.opened_file(checkpoint.name, "model.pt") as (file, entry):
        assert entry.size == len(content)
        for _ in range(50):
            begin, length = draw.randrange(len(content) + 10), draw.randrange(3 * MIB)
            file.seek(begin)
            assert file.read(length) == content[begin : begin + length]
        assert file.seek(-5, os.SEEK_END) == len(content) - 5
        assert file.read() == content[-5:]


def test_only_selected_files_are_put_together(store: DirectoryStorageManager) -> None:
    checkpoint = _save(store, b"1" * MIB, other=b"2" * MIB)
    with store.restore_path(checkpoint.name, lambda path: path == "other") as path:
        assert sorted(file.name for file in path.iterdir()) == ["other"]


def test_deleting_one_file_leaves_blocks_that_another_has(store: DirectoryStorageManager) -> None:
    same, own = b"s" * 4 * MIB, b"o" * 4 * MIB
    checkpoint = _save(store, same + own, other=same)
    assert len(_inodes(checkpoint)) == 2
    assert set(store.delete(checkpoint.name, ["model.pt"])) == {"metadata.json", "other"}
    assert len(_inodes(checkpoint)) == 1
    assert _restored(store, checkpoint, "other") == same


def test_blocks_go_with_the_last_checkpoint_that_has_them(store: DirectoryStorageManager) -> None:
    first, second = _save(store, _archive(TENSORS)), _save(store, _archive(TENSORS[:5]))
    index = store.base / f"{content_index.PREFIX}{os.geteuid()}"
    store.delete(first.name, ["**/*"])
    assert _restored(store, second) == _archive(TENSORS[:5])
    assert {path.stat().st_ino for path in index.iterdir() if path.name != ".swept"} == set(_inodes(second))
    store.delete(second.name, ["**/*"])
    assert [path.name for path in index.iterdir()] == [".swept"]


def test_different_blocks_with_one_key_are_kept_apart(
    store: DirectoryStorageManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_names, "key", lambda content: f"{len(content):x}-00000000")
    contents = [b"".join(bytes([number + turn]) * 4 * MIB for number in range(3)) for turn in range(2)]
    checkpoints = [_save(store, content) for content in contents]
    assert [len(_inodes(checkpoint)) for checkpoint in checkpoints] == [3, 3]
    assert [_restored(store, checkpoint) for checkpoint in checkpoints] == contents
    for checkpoint in checkpoints:
        store.delete(checkpoint.name, ["**/*"])


def test_block_that_was_changed_is_not_used_again(store: DirectoryStorageManager) -> None:
    first = _save(store, b"1" * MIB)
    (block,) = (first / block_names.DIRECTORY).iterdir()
    block.chmod(0o644)
    block.write_bytes(b"0" * MIB)
    assert _restored(store, _save(store, b"1" * MIB)) == b"1" * MIB
    with pytest.raises(CheckpointDamaged, match=r"model\.pt"), store.restore_path(first.name):
        pass


def test_missing_block_is_named_by_its_file(store: DirectoryStorageManager) -> None:
    checkpoint = _save(store, b"1" * MIB)
    (block,) = (checkpoint / block_names.DIRECTORY).iterdir()
    block.unlink()
    with pytest.raises(CheckpointDamaged, match=r"model\.pt.*missing"):
        store.check(checkpoint.name, {})


def test_link_in_the_place_of_a_block_is_not_followed(store: DirectoryStorageManager, tmp_path: Path) -> None:
    checkpoint = _save(store, b"1" * MIB)
    (block,) = (checkpoint / block_names.DIRECTORY).iterdir()
    (tmp_path / "secret").write_bytes(b"1" * MIB)
    block.unlink()
    block.symlink_to(tmp_path / "secret")
    with pytest.raises(CheckpointDamaged, match="link"), store.restore_path(checkpoint.name):
        pass


@pytest.mark.parametrize(
    "names",
    [["../../etc/passwd"], ["100000-00000000/.."], ["0-00000000"], ["100001-00000000"], ["100000-0000000"], [7]],
)
def test_manifest_with_other_names_of_blocks_is_damage(store: DirectoryStorageManager, names: list[object]) -> None:
    checkpoint = _save(store, b"1" * MIB)
    listed = json.loads((checkpoint / MANIFEST_NAME).read_text())
    assert listed["files"][1]["path"] == "model.pt"
    listed["files"][1]["blocks"] = names
    (checkpoint / MANIFEST_NAME).write_text(json.dumps(listed))
    with pytest.raises(CheckpointDamaged, match="cannot be read"):
        store.entries(checkpoint.name)
    assert store.delete(checkpoint.name, ["**/*"]) == {}


def test_directory_with_blocks_in_it_is_not_stored_as_it_is(store: DirectoryStorageManager) -> None:
    checkpoint = _save(store, b"1" * MIB)
    with pytest.raises(ValueError, match="det checkpoint download"):
        store.upload(checkpoint, str(uuid.uuid4()))


def test_store_of_whole_files_reads_blocks_and_the_other_way_round(
    store: DirectoryStorageManager, tmp_path: Path
) -> None:
    whole = DirectoryStorageManager(str(store.base))
    in_blocks, in_files = _save(store, b"1" * MIB), _save(whole, b"1" * MIB)
    assert (in_files / "model.pt").is_file()
    assert not (in_blocks / "model.pt").exists()
    for manager in (store, whole):
        assert {_restored(manager, checkpoint) for checkpoint in (in_blocks, in_files)} == {b"1" * MIB}


def test_blocks_are_stored_where_no_link_can_be_made(
    store: DirectoryStorageManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise PermissionError("Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    checkpoints = [_save(store, b"1" * 5 * MIB) for _ in range(2)]
    assert [_restored(store, checkpoint) for checkpoint in checkpoints] == [b"1" * 5 * MIB] * 2


def _cuts(path: Path, content: bytes) -> list[tuple[int, int]]:
    path.write_bytes(content)
    with path.open("rb") as file:
        return cuts(file.fileno())


def test_archive_is_cut_where_its_tensors_begin(tmp_path: Path) -> None:
    content = _archive([TENSORS[0], b"small", *TENSORS[1:3]])
    spans = _cuts(tmp_path / "file", content)
    assert b"".join(content[begin : begin + length] for begin, length in spans) == content
    begins = {begin for begin, _ in spans}
    assert {content.index(tensor) for tensor in TENSORS[:3]} <= begins
    assert len(spans) == 5, "what precedes the tensors, each tensor, and the directory of the archive"


def test_safetensors_are_cut_where_tensors_begin(tmp_path: Path) -> None:
    header = json.dumps({
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "U8", "shape": [MIB], "data_offsets": [0, MIB]},
        "b": {"dtype": "U8", "shape": [MIB], "data_offsets": [MIB, 2 * MIB]},
    }).encode()  # fmt: skip
    content = struct.pack("<Q", len(header)) + header + TENSORS[0] + TENSORS[1]
    begin = 8 + len(header)
    assert _cuts(tmp_path / "file", content) == [(0, begin), (begin, MIB), (begin + MIB, MIB)]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04",
        _archive(TENSORS[:2])[:-30],
        b"PK\x03\x04" + os.urandom(5 * MIB),
        struct.pack("<Q", 50) + b"{" + b'"a": {"data_offsets": [-5, 99999999]}' + b" " * 50,
        struct.pack("<Q", 2**62) + b"{" * 100,
        os.urandom(9 * MIB),
    ],
)
def test_other_and_damaged_files_are_cut_by_size(tmp_path: Path, content: bytes) -> None:
    size = 4 * MIB
    assert _cuts(tmp_path / "file", content) == [
        (begin, min(size, len(content) - begin)) for begin in range(0, len(content), size)
    ]


def test_file_of_torch_is_cut_where_its_tensors_begin(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    path = tmp_path / "model.pt"
    tensors = [torch.full((300_000,), float(number)) for number in range(3)]
    torch.save({"lr": 0.1, "tensors": tensors}, path)
    content = path.read_bytes()
    with path.open("rb") as file:
        begins = {begin for begin, _ in cuts(file.fileno())}
    assert {content.index(tensor.numpy().tobytes()) for tensor in tensors} <= begins


def test_blocks_of_a_file_that_gets_shorter_meanwhile_are_not_stored(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"1" * MIB)
    with source.open("rb") as file:
        source.write_bytes(b"1")
        with pytest.raises(OSError, match="became shorter"):
            blocks._content(file.fileno(), (0, MIB), source)
