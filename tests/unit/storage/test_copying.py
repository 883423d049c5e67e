"""Copies are exact and hashes tell any change, whatever the sizes and the number of threads."""

import os
import random
import zlib
from pathlib import Path

import pytest

from determined.storage import copying


@pytest.mark.parametrize("size", [0, 1, copying.PIECE - 1, copying.PIECE, copying.PIECE + 1, 3 * copying.PIECE + 7])
def test_a_copy_is_exact_and_has_the_hash_of_its_source(tmp_path: Path, size: int) -> None:
    source, copy = tmp_path / "a", tmp_path / "b"
    source.write_bytes(random.Random(size).randbytes(size))
    copied = copying.copy_files([(source, copy)])
    assert copy.read_bytes() == source.read_bytes()
    assert copied == copying.hash_files([source])
    assert copied[0][0] == size


def test_files_copied_together_keep_their_own_hashes(tmp_path: Path) -> None:
    sizes = [2 * copying.PIECE + 5, 3, copying.PIECE, 2 * copying.PIECE]
    sources = [tmp_path / f"source{index}" for index in range(len(sizes))]
    for source, size in zip(sources, sizes, strict=True):
        source.write_bytes(random.Random(size).randbytes(size))
    copies = [tmp_path / f"copy{index}" for index in range(len(sizes))]
    copied = copying.copy_files(zip(sources, copies, strict=True))
    assert copied == copying.hash_files(copies) == [copying.hash_files([source])[0] for source in sources]
    assert [size for size, _ in copied] == sizes


def test_a_change_anywhere_changes_the_hash(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(bytes(2 * copying.PIECE))
    before = copying.hash_files([path])
    for offset in (0, copying.PIECE - 1, copying.PIECE, 2 * copying.PIECE - 1):
        with path.open("r+b") as file:
            file.seek(offset)
            file.write(b"\1")
        changed = copying.hash_files([path])
        assert changed != before
        path.write_bytes(bytes(2 * copying.PIECE))


@pytest.mark.parametrize("sizes", [[0, 0], [copying.PIECE, 0, 1], [5, 2 * copying.PIECE, copying.PIECE - 5, 0]])
def test_a_digest_of_what_is_written_is_that_of_the_file(tmp_path: Path, sizes: list[int]) -> None:
    digest, blocks = copying.Digest(), [random.Random(size).randbytes(size) for size in sizes]
    for block in blocks:
        parts = digest.parts(memoryview(block))
        digest.add(parts, [zlib.crc32(*part) for part in parts])
    (tmp_path / "a").write_bytes(b"".join(blocks))
    assert [digest.result()] == copying.hash_files([tmp_path / "a"])


def test_the_mode_of_a_file_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("#!")
    (tmp_path / "a").chmod(0o750)
    copying.copy_files([(tmp_path / "a", tmp_path / "b")])
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o750


def test_a_longer_file_that_was_there_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("new")
    (tmp_path / "b").write_text("something much longer")
    copying.copy_files([(tmp_path / "a", tmp_path / "b")])
    assert (tmp_path / "b").read_text() == "new"


def test_a_file_that_shrinks_meanwhile_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(bytes(100))
    monkeypatch.setattr(os, "preadv", lambda *_args: 0)
    with pytest.raises(OSError, match="became shorter"):
        copying.copy_files([(tmp_path / "a", tmp_path / "b")])
