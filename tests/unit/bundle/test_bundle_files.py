"""The archive of a bundle: deterministic, never half under its name, and refused where it is not as it was written."""

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from determined.bundle import layout, tables
from determined.bundle.layout import JSON_LINES, Manifest
from determined.bundle.reader import Bundle
from determined.bundle.writer import PART, BundleWriter
from determined.errors import AlreadyExists, FailedPrecondition, InvalidArgument

LOG = "experiments/1/logs/1.a.jsonl.gz"
Files = dict[str, bytes]


def write(path: Path) -> Path:
    with BundleWriter(path) as out:
        out.add_bytes("users.json", b"[]\n")
        packed = io.BytesIO()
        table = tables.JsonLines(packed)
        for n in range(1000):
            table.add_line(b'{"text": "%d"}' % n)
        table.close()
        out.add_file(LOG, packed, unpacked=table.unpacked)
        out.finish(Manifest(layout.FORMAT, layout.VERSION, "c", "1.0", JSON_LINES, [], {}, out.files))
    return path


def read(path: Path) -> list[bytes]:
    """Check a bundle and read its log."""
    bundle = Bundle(path)
    try:
        bundle.check()
        return list(bundle.lines(LOG))
    finally:
        bundle.close()


def changed(path: Path, change: Callable[[Files], None]) -> Path:
    """Write a bundle again with other files; the manifest stays as it is unless it is changed as well."""
    with tarfile.open(path) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    change(files)
    path = path.with_name("changed.tar")
    with tarfile.open(path, "w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "b.tar")


def test_what_was_written_is_read_back_and_is_the_same_each_time(path: Path, tmp_path: Path) -> None:
    assert read(path) == [b'{"text": "%d"}' % n for n in range(1000)]
    assert write(tmp_path / "again.tar").read_bytes() == path.read_bytes()


def test_an_export_that_fails_leaves_nothing_and_one_that_was_killed_only_its_part(tmp_path: Path) -> None:
    path = tmp_path / "b.tar"
    with pytest.raises(ValueError, match="stop"), BundleWriter(path) as out:
        out.add_bytes("users.json", b"[]")
        raise ValueError("stop")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / f"b.tar{PART}").write_bytes(b"what a killed export has left" * 1000)
    read(write(path))
    assert [file.name for file in tmp_path.iterdir()] == ["b.tar"]


def test_files_below_a_folder_are_those_of_no_other(tmp_path: Path) -> None:
    names = [f"experiments/{n}/logs/{task}.jsonl.gz" for n in (1, 10, 2) for task in ("b", "a")]
    with BundleWriter(tmp_path / "b.tar") as out:
        for name in names:
            out.add_file(name, io.BytesIO(gzip.compress(b"")), unpacked=0)
        out.finish(Manifest(layout.FORMAT, layout.VERSION, "c", "1.0", JSON_LINES, [], {}, out.files))
    bundle = Bundle(tmp_path / "b.tar")
    try:
        assert bundle.below("experiments/1/logs/") == ["experiments/1/logs/a.jsonl.gz", "experiments/1/logs/b.jsonl.gz"]
        assert bundle.below("experiments/3/") == []
        assert bundle.below("") == sorted(names)
    finally:
        bundle.close()


def test_a_file_is_replaced_only_where_that_was_asked_for(path: Path) -> None:
    with pytest.raises(AlreadyExists, match="--force"):
        BundleWriter(path)
    with BundleWriter(path, replace=True), pytest.raises(FailedPrecondition, match="another export writes"):
        BundleWriter(path, replace=True)
    read(path)


def test_a_bundle_that_is_cut_short_anywhere_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    with tarfile.open(path) as archive:
        end = max(member.offset_data + member.size for member in archive)
    for length in range(0, end, 257):
        path.write_bytes(whole[:length])
        with pytest.raises(InvalidArgument, match=r"cut short|cannot be read"):
            read(path)


def test_a_changed_byte_is_found_and_its_file_named(path: Path) -> None:
    with tarfile.open(path) as archive:
        member = archive.getmember(LOG)
    data = bytearray(path.read_bytes())
    data[member.offset_data + member.size // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(InvalidArgument, match=f"{LOG} of .* is not what was exported"):
        read(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda files: files.update({"../../evil": b"x"}), "has a file '../../evil', which no bundle has"),
        (lambda files: files.update({"/etc/evil": b"x"}), "which no bundle has"),
        (lambda files: files.update({"experiments/1/checkpoints/u/../../../../evil": b"x"}), "which no bundle has"),
        (
            lambda files: files.update({"experiments/2/code.tgz": b"x"}),
            "experiments/2/code.tgz .* is not in its manifest",
        ),
        (lambda files: files.pop("users.json"), "users.json of .* is missing"),
        (lambda files: files.pop("manifest.json"), "has no manifest.json"),
        (lambda files: files.update({"manifest.json": b"[" * 100_000}), "manifest.json of"),
        (lambda files: files.update({"manifest.json": b'{"format": "determined-bundle", "version": 9}'}), "upgrade it"),
        (lambda files: files.update({"users.json": b"[ ]\n"}), "users.json of .* has 4 bytes, not 3"),
    ],
)
def test_a_bundle_with_other_files_is_refused(path: Path, change: Callable[[Files], None], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        read(changed(path, change))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_only_plain_files_are_read(path: Path, kind: bytes) -> None:
    with tarfile.open(path, "a") as archive:
        member = tarfile.TarInfo("experiments/1/code.tgz")
        member.type, member.linkname = kind, "/etc/passwd"
        archive.addfile(member)
    with pytest.raises(InvalidArgument, match="no plain file"):
        read(path)


def test_a_header_that_fills_the_memory_is_refused(path: Path) -> None:
    with tarfile.open(path, "a", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("experiments/1/metrics/" + "x" * 200_000 + ".parquet"))
    with pytest.raises(InvalidArgument, match="a header of"):
        read(path)


def _bomb(files: Files, size: int, says: int | None) -> None:
    files[LOG] = gzip.compress(b"x" * size)
    manifest = json.loads(files["manifest.json"])
    manifest["files"][LOG] = {"size": len(files[LOG]), "sha256": _sha(files[LOG]), "unpacked": says}
    files["manifest.json"] = json.dumps(manifest).encode()


def _sha(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("size", "says", "message"),
    [
        (10**6, 1000, "unpacks to more than the 1000 bytes it says"),
        (70 * 2**20, 70 * 2**20, "no export compresses so well"),
        (1000, None, "does not say to how much"),
        (1000, 2000, "is shorter than it says"),
    ],
)
def test_a_file_that_unpacks_to_more_than_it_should_is_refused(
    path: Path, size: int, says: int | None, message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        read(changed(path, lambda files: _bomb(files, size, says)))


def test_a_line_longer_than_memory_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_LONGEST_LINE", 1000)
    with pytest.raises(InvalidArgument, match="has a line of more than 1000 bytes"):
        read(changed(path, lambda files: _bomb(files, 3 * 2**20, 3 * 2**20)))
