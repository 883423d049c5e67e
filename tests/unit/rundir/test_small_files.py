"""Small files of a run directory: ledgers of event files, the note of a private /tmp, paths in containers, signals."""

import json
import os
import select
import signal
from pathlib import Path

import pytest

from determined.rundir import private_tmp
from determined.rundir.container import bound_at, under_workdir
from determined.rundir.event_files import Destination, Ledger, changed_files, read_ledger, stamp
from determined.rundir.layout import RunDir
from determined.rundir.lock import hold, is_held
from determined.rundir.private_tmp import is_in_private_tmp, tmp_of_task
from determined.rundir.signal_socket import signal_socket

TO = Destination({"type": "s3", "bucket": "b", "secret_key": "hush"}, None, "c/trial/1", "/bin/python3", "/work")


def test_a_ledger_comes_back_as_it_was_and_is_for_its_user_alone(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "events", TO, {"a/b": (3, 12_345_678_901_234_567)})
    ledger.keep()
    ledger.keep()
    assert read_ledger(tmp_path / "events") == ledger
    assert [path.name for path in tmp_path.iterdir()] == ["events.json"]
    assert (tmp_path / "events.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", '{"to": {}, "sent": {}}', '{"to": {}, "sent": []}', '{"sent": {"a": [1]}}'],
)
def test_a_file_that_is_no_ledger_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "events.json").write_text(text)
    assert read_ledger(tmp_path / "events") is None


def test_a_ledger_cut_anywhere_is_none_or_whole(tmp_path: Path) -> None:
    Ledger(tmp_path / "events", TO, {"a": (1, 2)}).keep()
    whole = (tmp_path / "events.json").read_text()
    for cut in range(len(whole)):
        (tmp_path / "events.json").write_text(whole[:cut])
        assert read_ledger(tmp_path / "events") is None


def test_files_that_are_new_or_have_grown_or_were_touched_are_to_be_sent(tmp_path: Path) -> None:
    for name in ("same", "grown", "touched", "new", "sub/deep"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    sent = {name: stamp(tmp_path / name) or (0, 0) for name in ("same", "grown", "touched", "gone")}
    (tmp_path / "grown").write_text("12")
    os.utime(tmp_path / "touched", ns=(1, 1))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to("nowhere")
    names = [path.relative_to(tmp_path).as_posix() for path in changed_files(tmp_path, sent)]
    assert names == ["grown", "new", "sub/deep", "touched"]


def test_what_is_no_regular_file_has_no_stamp(tmp_path: Path) -> None:
    assert stamp(tmp_path) is None
    assert stamp(tmp_path / "none") is None


@pytest.mark.parametrize("note", [None, "", "{", "\xff"])
def test_without_a_note_there_is_no_private_tmp(tmp_path: Path, note: str | None) -> None:
    run_dir = RunDir(tmp_path)
    if note is not None:
        run_dir.tmp_note.write_text(note)
    assert tmp_of_task(run_dir) is None
    assert not is_in_private_tmp(run_dir, "/tmp/x")


def test_a_path_is_in_the_private_tmp_by_its_place_on_the_node(tmp_path: Path) -> None:
    run_dir, own = RunDir(tmp_path), tmp_path / "det-tmp-1"
    own.mkdir()
    run_dir.tmp_note.write_text(json.dumps(str(own)))
    (tmp_path / "link").symlink_to(own)
    assert is_in_private_tmp(run_dir, str(own / "store"))
    assert is_in_private_tmp(run_dir, str(tmp_path / "link" / "store"))
    assert not is_in_private_tmp(run_dir, str(tmp_path / "det-tmp-11" / "store"))


def test_a_path_is_in_the_private_tmp_by_what_is_mounted_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_dir, mounts = RunDir(tmp_path), tmp_path / "mountinfo"
    run_dir.tmp_note.write_text(json.dumps("/node/det-tmp-1"))
    mounts.write_text("1 0 8:1 / / rw\n2 1 8:1 /node/det-tmp-1/tmp /tmp rw\n3 2 8:1 /data /tmp/data rw\n")
    monkeypatch.setattr(private_tmp, "_MOUNTS", mounts)
    found = {path: is_in_private_tmp(run_dir, path) for path in ("/tmp/x", "/tmp/data/x", "/home/x", "/tmpx")}
    assert found == {"/tmp/x": True, "/tmp/data/x": False, "/home/x": False, "/tmpx": False}
    mounts.unlink()
    assert not is_in_private_tmp(run_dir, "/tmp/x")


@pytest.mark.parametrize(
    ("target", "relative"),
    [
        ("data", "data"), ("a/b", "a/b"), ("/run/determined/workdir/data", "data"), ("/run/determined/workdir", None),
        ("/run/determined/workdirs/x", None), ("/data", None),
    ],
)  # fmt: skip
def test_a_mount_target_is_below_the_working_directory_or_nowhere(target: str, relative: str | None) -> None:
    assert under_workdir(target) == relative


def test_what_is_mounted_below_the_working_directory_has_a_place_of_its_own() -> None:
    assert bound_at("a/b") == "/run/determined-binds/a/b"


def test_a_lock_is_not_taken_through_a_link_and_a_pipe_holds_nobody(tmp_path: Path) -> None:
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="link"):
        hold(tmp_path / "link")
    with pytest.raises(OSError, match="link"):
        is_held(tmp_path / "link")
    assert not is_held(tmp_path / "pipe")


def test_signals_arrive_on_a_socket_and_handlers_come_back() -> None:
    earlier = signal.getsignal(signal.SIGUSR2)
    with signal_socket(signal.SIGUSR2) as arriving:
        signal.raise_signal(signal.SIGUSR2)
        assert select.select([arriving], [], [], 60)[0]
        assert arriving.recv(16) == bytes([signal.SIGUSR2])
        with pytest.raises(BlockingIOError):
            arriving.recv(16)
    assert signal.getsignal(signal.SIGUSR2) == earlier
    assert signal.set_wakeup_fd(-1) == -1
