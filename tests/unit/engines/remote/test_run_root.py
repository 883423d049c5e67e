"""The place of a sitter's run directories: nobody else's, and not a heap of what killed sitters left."""

import os
import time
from pathlib import Path

import pytest

from determined.engines.remote import root
from determined.errors import FailedPrecondition, Unavailable
from determined.rundir import lock
from determined.rundir.journal import JournalWriter
from determined.rundir.layout import RunDir

HOUR = 3600.0


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made = tmp_path / "runs"
    root.make(made)
    return made


def test_root_is_made_private_and_may_exist(tmp_path: Path) -> None:
    wanted = tmp_path / "deep" / "runs"
    root.make(wanted)
    root.make(wanted)
    assert wanted.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_root_of_another_user_is_refused(place: Path) -> None:
    os.chown(place, 12345, 12345)
    with pytest.raises(FailedPrecondition, match="no directory of uid 0"):
        root.make(place)


def test_root_that_others_may_write_is_refused(place: Path) -> None:
    place.chmod(0o777)
    with pytest.raises(FailedPrecondition, match="written by others"):
        root.make(place)


def test_link_in_the_place_of_the_root_is_refused(tmp_path: Path, place: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(place)
    with pytest.raises(FailedPrecondition, match="no directory"):
        root.make(link)


def test_root_that_cannot_be_made_says_where(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match=r"cannot be kept in .*file/runs"):
        root.make(tmp_path / "file" / "runs")


def test_directory_of_a_dead_runner_that_told_everything_goes_after_a_minute(place: Path) -> None:
    run_dir = _dead(place, "a")
    root.sweep(place, time.time())
    assert run_dir.path.exists()
    root.sweep(place, time.time() + 61)
    assert not run_dir.path.exists()


def test_untold_records_are_kept_for_a_day(place: Path) -> None:
    run_dir = _dead(place, "a", untold=True)
    root.sweep(place, time.time() + 23 * HOUR)
    assert run_dir.path.exists()
    root.sweep(place, time.time() + 25 * HOUR)
    assert not run_dir.path.exists()


def test_untold_records_of_a_runner_that_is_done_go_with_it(place: Path) -> None:
    run_dir = _dead(place, "a", untold=True)
    run_dir.done.touch()
    root.sweep(place, time.time() + 61)
    assert not run_dir.path.exists()


def test_directory_with_a_living_runner_or_sitter_stays(place: Path) -> None:
    runners, sitters = _dead(place, "a"), _dead(place, "b")
    held = lock.hold(runners.lock), root.occupy(sitters)
    root.sweep(place, time.time() + 1000 * HOUR)
    assert runners.path.exists()
    assert sitters.path.exists()
    for one in held:
        assert one is not None
        one.close()
    root.sweep(place, time.time() + 1000 * HOUR)
    assert list(place.iterdir()) == []


def test_directory_of_another_host_is_left_to_that_host(place: Path) -> None:
    """Its locks may not be seen from here."""
    run_dir = _dead(place, "a")
    held = root.occupy(run_dir)
    assert held is not None
    held.close()
    (run_dir.path / "sitter.host").write_text("elsewhere")
    root.sweep(place, time.time() + 1000 * HOUR)
    assert run_dir.path.exists()
    held = root.occupy(run_dir)
    assert held is not None
    held.close()
    root.sweep(place, time.time() + 1000 * HOUR)
    assert not run_dir.path.exists()


def test_half_made_and_long_lost_directories_go(place: Path) -> None:
    (place / ".new-a").mkdir()
    (place / "lost" / "b").mkdir(parents=True)
    root.sweep(place, time.time() + 61)
    assert not (place / ".new-a").exists()
    assert (place / "lost" / "b").exists()
    root.sweep(place, time.time() + 25 * HOUR)
    assert not (place / "lost" / "b").exists()


def _dead(place: Path, name: str, *, untold: bool = False) -> RunDir:
    run_dir = RunDir(place / name)
    run_dir.create()
    if untold:
        journal = JournalWriter(run_dir.journals, "logs")
        journal.append(b"a record")
        journal.close()
    return run_dir
