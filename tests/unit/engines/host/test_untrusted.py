"""Links and pipes in a task user's directory fool nobody."""

import os
from pathlib import Path

import pytest

from determined.engines.host import untrusted
from determined.errors import Unavailable


def write(path: Path, owner: tuple[int, int] | None = None) -> None:
    with os.fdopen(untrusted.open_log(path, owner), "ab") as log:
        log.write(b"words\n")


def test_end_of_a_plain_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"0123456789")
    assert untrusted.read_end(tmp_path / "log", 4) == b"6789"
    assert untrusted.read_end(tmp_path / "log", 400) == b"0123456789"


def test_links_pipes_and_missing_files_read_as_nothing(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "missing"):
        assert untrusted.read_end(tmp_path / name, 10) == b""


def test_log_is_made_private_and_appended_to(tmp_path: Path) -> None:
    write(tmp_path / "log")
    write(tmp_path / "log")
    assert (tmp_path / "log").read_bytes() == b"words\nwords\n"
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


def test_log_that_became_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("untouched")
    (tmp_path / "log").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="symbolic links"):
        write(tmp_path / "log", (65534, 65534))
    assert (tmp_path / "target").read_text() == "untouched"
    assert (tmp_path / "target").stat().st_uid == os.geteuid()


def test_log_that_became_a_hard_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("untouched")
    os.link(tmp_path / "target", tmp_path / "log")
    with pytest.raises(Unavailable, match="somebody replaced it"):
        write(tmp_path / "log")
    assert (tmp_path / "target").read_text() == "untouched"


def test_log_that_became_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log")
    with pytest.raises(OSError, match="No such device"):
        write(tmp_path / "log")
