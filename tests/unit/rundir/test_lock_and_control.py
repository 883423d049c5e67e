"""The lock that means alive, and the page of flags."""

import fcntl
import subprocess
import sys
import threading
from pathlib import Path

from determined.rundir.control import Control
from determined.rundir.layout import RunDir
from determined.rundir.lock import hold, is_held


def test_lock_is_held_by_one_and_free_after_close(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_held(path)
    lock = hold(path)
    assert lock is not None
    assert is_held(path)
    assert hold(path) is None
    lock.close()
    assert not is_held(path)


def test_lock_is_free_when_its_holder_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from determined.rundir.lock import hold\n"
        "lock = hold(Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    )
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert is_held(path)
        child.kill()
    assert not is_held(path)


def test_looking_at_the_lock_does_not_take_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    assert [is_held(path), is_held(path)] == [False, False]
    lock = hold(path)
    assert lock is not None
    lock.close()


def test_an_observer_does_not_keep_a_runner_from_starting(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with path.open() as observer:
        fcntl.flock(observer, fcntl.LOCK_SH)
        release = threading.Timer(0.05, lambda: fcntl.flock(observer, fcntl.LOCK_UN))
        release.start()
        lock = hold(path)
        release.join()
    assert lock is not None
    lock.close()


def test_flags_are_seen_by_everyone_who_opened_the_page(tmp_path: Path) -> None:
    ours, theirs = Control.open(tmp_path / "control"), Control.open(tmp_path / "control")
    for flag in ("preempt", "kill", "aware", "master_away", "attached"):
        assert getattr(theirs, flag) is False
        setattr(ours, flag, True)
        assert getattr(theirs, flag) is True
    theirs.master_away = False
    assert ours.master_away is False
    ours.close()
    assert theirs.preempt
    theirs.close()


def test_run_directory_is_private(tmp_path: Path) -> None:
    run_dir = RunDir(tmp_path / "deep" / "run")
    run_dir.create()
    run_dir.create()
    assert run_dir.path.stat().st_mode & 0o777 == 0o700
    assert run_dir.journals.is_dir()
