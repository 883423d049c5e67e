"""Context archives that would do harm, or are damaged: one message, and nothing outside of the directory."""

import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest

from determined.errors import DeterminedError, FailedPrecondition, InvalidArgument
from determined.rundir import context
from determined.wire.codec import to_json
from determined.wire.experiment import File

OLD_AND_NEW = pytest.mark.parametrize("has_filters", [True, False], ids=["filters", "no filters"])


@pytest.fixture
def python(has_filters: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python with tarfile's filters, or one before 3.11.4 without them."""
    if not has_filters:
        monkeypatch.delattr(tarfile, "data_filter", raising=False)


def member(
    name: str, kind: bytes = tarfile.REGTYPE, link: str = "", content: bytes = b""
) -> tuple[tarfile.TarInfo, bytes]:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size = kind, link, len(content)
    return made, content


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as out:
        for info, content in members:
            out.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def entry(path: str, content: str = "", kind: int = 48, mtime: str = "0") -> File:
    return File(path=path, type=kind, content=content, mtime=mtime, mode=0o644, uid=0, gid=0)


@OLD_AND_NEW
@pytest.mark.usefixtures("python")
@pytest.mark.filterwarnings("ignore:Python 3.14 will:DeprecationWarning")
@pytest.mark.parametrize(
    "members",
    [
        [member("link", tarfile.SYMTYPE, "/etc/passwd")],
        [member("link", tarfile.SYMTYPE, "../../outside")],
        [member("sub/link", tarfile.SYMTYPE, "../.."), member("sub/link/evil", content=b"x")],
        [member("hard", tarfile.LNKTYPE, "../outside")],
        [member("device", tarfile.CHRTYPE)],
        [member("disk", tarfile.BLKTYPE)],
        [member("pipe", tarfile.FIFOTYPE)],
        [member("a/../../evil", content=b"x")],
    ],
    ids=["link to a file", "link out", "file through a link", "hard link", "character device", "disk", "pipe", "dots"],
)  # fmt: skip
def test_member_that_leads_outside_or_is_no_file_is_refused(
    tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]]
) -> None:
    (tmp_path / "outside").write_text("untouched")
    with pytest.raises(InvalidArgument, match=r"the context archive is refused: .*; submit it again"):
        context.unpack(archive(*members), tmp_path / "out" / "in")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "outside"]
    assert (tmp_path / "outside").read_text() == "untouched"


@OLD_AND_NEW
@pytest.mark.usefixtures("python")
@pytest.mark.filterwarnings("ignore:Python 3.14 will:DeprecationWarning")
@pytest.mark.parametrize(
    "members",
    [
        [member("a", content=b"file"), member("a/b", content=b"below it")],
        [member("a/b", content=b"below it"), member("a", content=b"file")],
    ],
    ids=["file then directory", "directory then file"],
)
def test_file_and_directory_of_one_name_are_named(tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    with pytest.raises(InvalidArgument, match=r"a file and a directory of one name, .*/a(/b)?; rename one"):
        context.unpack(archive(*members), tmp_path / "out")


def test_archive_cut_anywhere_is_an_error_and_never_a_traceback_of_a_library(tmp_path: Path) -> None:
    whole = archive(member("a.py", content=b"print(1)\n" * 50), member("b/c.py", content=bytes(range(256)) * 4))
    context.unpack(whole, tmp_path / "whole")
    refused = 0
    for cut in range(1, len(whole), 7):
        try:
            context.unpack(whole[:cut], tmp_path / str(cut))
        except InvalidArgument as error:
            assert "cannot be read" in error.message
            refused += 1
        else:  # only what comes after the last file is missing
            assert (tmp_path / str(cut) / "b" / "c.py").read_bytes() == bytes(range(256)) * 4
    assert refused > len(whole) // 10


def test_archive_with_a_flipped_byte_gives_its_files_or_one_of_our_errors(tmp_path: Path) -> None:
    whole = archive(member("a.py", content=bytes(range(256)) * 8), member("b/c.py", content=b"x" * 100))
    refused = 0
    for place in range(0, len(whole), 5):
        spoilt = bytearray(whole)
        spoilt[place] ^= 0x55
        try:
            context.unpack(bytes(spoilt), tmp_path / str(place))
        except DeterminedError:
            refused += 1
    assert refused > len(whole) // 10


def test_plain_tar_is_unpacked_and_other_bytes_in_gzip_are_an_error(tmp_path: Path) -> None:
    compressed = archive(member("a.py", content=b"1"))
    context.unpack(gzip.decompress(compressed), tmp_path / "plain")
    assert (tmp_path / "plain" / "a.py").read_bytes() == b"1"
    with pytest.raises(InvalidArgument, match="cannot be read"):
        context.unpack(gzip.compress(b"no archive " * 100), tmp_path / "other")


def test_directory_that_cannot_be_written_is_named_and_the_archive_is_not_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_words: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(context.tar, "extract_all", full)
    with pytest.raises(FailedPrecondition, match=f"into {tmp_path}: No space left on device"):
        context.unpack(archive(member("a.py")), tmp_path)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("a\0b", "outside the context"),
        (".", "outside the context"),
        ("x" * 5000, "too long a path"),
        ("/".join("d" * 201), "too long a path"),
        ("é" * 2100, "too long a path"),
    ],
    ids=["null byte", "the directory itself", "long name", "deep", "long in bytes"],
)
def test_paths_that_no_node_could_have_are_refused_at_submission(path: str, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        context.pack_files([entry(path)])


@pytest.mark.parametrize("paths", [["a", "a/b"], ["a/b/c", "x", "a"], ["a/b", "a/b/c/d"]])
def test_files_that_lie_in_a_file_are_refused_at_submission(paths: list[str]) -> None:
    with pytest.raises(
        InvalidArgument, match=r"context file 'a/.*' lies in 'a.*', which is a file; rename one of them"
    ):
        context.pack_files([entry(path) for path in paths])


def test_files_of_similar_names_and_a_directory_with_its_files_are_packed(tmp_path: Path) -> None:
    files = [entry("a", kind=53), entry("a/b"), entry("ab"), entry("a.b/c"), entry("a/b.c")]
    context.unpack(context.pack_files(files), tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["ab", "b", "b.c", "c"]


@pytest.mark.parametrize("kind", [49, 50, 51, 54, 999])
def test_links_and_devices_are_refused_at_submission(kind: int) -> None:
    with pytest.raises(InvalidArgument, match=f"'a' has type {kind}; only files and directories are kept"):
        context.pack_files([entry("a", kind=kind)])


@pytest.mark.parametrize(("mtime", "seconds"), [("-1", 0), ("yesterday", 0), (str(10**12), 0), ("12", 12), ("", 0)])
def test_times_that_no_file_system_has_become_the_epoch(tmp_path: Path, mtime: str, seconds: int) -> None:
    context.unpack(context.pack_files([entry("a", mtime=mtime)]), tmp_path)
    assert (tmp_path / "a").stat().st_mtime == seconds


def test_file_whose_name_is_not_utf_8_is_skipped_and_named_in_ascii(tmp_path: Path) -> None:
    odd = tmp_path / b"weights-\xff.pt".decode(errors="surrogateescape")
    odd.write_text("1")
    (tmp_path / "größe.py").write_text("2")
    notices: list[str] = []
    files = context.read_directory(tmp_path, notice=notices.append)
    assert [file.path for file in files] == ["größe.py"]
    (notice,) = notices
    assert "weights-\\udcff.pt' is skipped: its name is not UTF-8" in notice and notice.isascii()
    to_json(files[0])  # as it is sent


def test_copy_of_a_directory_with_such_a_file_has_the_others(tmp_path: Path) -> None:
    source = tmp_path / "source"
    odd = source / b"caf\xe9".decode(errors="surrogateescape")
    odd.mkdir(parents=True)
    (odd / "below").write_text("1")
    (source / "a.py").write_text("2")
    context.copy_directory(source, tmp_path / "copy", without=tmp_path / "copy")
    assert [path.name for path in (tmp_path / "copy").rglob("*")] == ["a.py"]


def test_ignore_file_that_is_not_utf_8_still_says_what_stays_behind(tmp_path: Path) -> None:
    (tmp_path / ".detignore").write_bytes(b"# caf\xe9\n*.bin\ncaf\xe9\n")
    for name in ("a.bin", "a.py"):
        (tmp_path / name).write_text("1")
    notices: list[str] = []
    assert [file.path for file in context.read_directory(tmp_path, notice=notices.append)] == ["a.py"]
    assert notices == []


def test_pipe_and_socket_in_a_directory_are_named_and_hold_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    notices: list[str] = []
    assert context.read_directory(tmp_path, notice=notices.append) == []
    assert notices == [f"'{tmp_path / 'pipe'}' is neither file nor directory, skipping it."]


def test_directory_that_may_not_be_read_is_named_and_the_rest_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pgdata").mkdir()
    (tmp_path / "pgdata" / "secret").write_text("1")
    (tmp_path / "train.py").write_text("1")
    listed = os.scandir

    def guarded(place: Path) -> object:
        if place.name == "pgdata":
            raise PermissionError(13, "Permission denied", str(place))
        return listed(place)

    monkeypatch.setattr(os, "scandir", guarded)  # root may read everything
    notices: list[str] = []
    assert [file.path for file in context.read_directory(tmp_path, notice=notices.append)] == ["pgdata", "train.py"]
    assert notices == [f"'{tmp_path / 'pgdata'}' may not be read, skipping what is in it."]


def test_limit_counts_every_file_and_names_what_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "MAX_CONTEXT_BYTES", 2 * 1024 * 1024)
    (tmp_path / "a").write_bytes(bytes(1024 * 1024))
    (tmp_path / "b").write_bytes(bytes(1024 * 1024))
    assert len(context.read_directory(tmp_path)) == 2
    (tmp_path / "c").write_bytes(b"1")
    with pytest.raises(DeterminedError, match=r"the context holds 2\.0 MiB or more, over the limit of 2 MiB"):
        context.read_directory(tmp_path)
