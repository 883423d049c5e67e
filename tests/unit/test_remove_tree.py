"""Directories of tasks are removed whatever is in them."""

import os
from pathlib import Path

import pytest

from determined._remove_tree import remove_tree


def nest(directory: Path, levels: int) -> None:
    """Directories inside of each other, deeper than any path could name."""
    fd = os.open(directory, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=fd)
        inner = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=fd))
    os.close(fd)


@pytest.fixture
def doomed(tmp_path: Path) -> Path:
    path = tmp_path / "doomed"
    path.mkdir()
    return path


def test_thousands_of_nested_directories_are_removed(doomed: Path) -> None:
    (doomed / ".removing-0").mkdir()
    nest(doomed / ".removing-0", 3000)
    nest(doomed, 3000)
    remove_tree(str(doomed))
    assert not doomed.exists()


def test_a_wide_tree_with_pipes_and_links_is_removed_and_nothing_that_links_point_to(
    doomed: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("stays")
    for name in ("a", "a/b", "a/b/c", "x"):
        (doomed / name).mkdir()
        (doomed / name / "file").write_text("goes")
        (doomed / name / "link").symlink_to(outside)
        os.mkfifo(doomed / name / "pipe")
    fd = os.open(tmp_path, os.O_RDONLY)
    remove_tree("doomed", fd)
    os.close(fd)
    assert not doomed.exists()
    assert (outside / "file").read_text() == "stays"


def test_a_link_is_not_taken_for_the_directory_and_a_missing_one_is_told(doomed: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(doomed)
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        remove_tree(str(tmp_path / "link"))
    assert doomed.is_dir()
    with pytest.raises(FileNotFoundError):
        remove_tree(str(tmp_path / "missing"))
