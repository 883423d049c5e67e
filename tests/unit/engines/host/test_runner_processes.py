"""Ending process trees, knowing whose pid it is, and whom a task runs as."""

import os
import pwd
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from determined._remove_tree import remove_tree
from determined.engines.host import process
from determined.engines.model import RunAs
from determined.errors import FailedPrecondition
from determined.rundir import lock
from determined.rundir.layout import RunDir

FAMILY = """
import os, subprocess, sys, time
children = [subprocess.Popen(["sleep", "300"]), subprocess.Popen(["sleep", "300"], start_new_session=True)]
grandchild = subprocess.Popen(["sh", "-c", "sleep 300 & sleep 300"])
print("ready", flush=True)
time.sleep(300)
"""


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def lives(member: psutil.Process) -> bool:
    try:
        return member.is_running() and member.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def family() -> Iterator["subprocess.Popen[str]"]:
    leader = subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE, text=True, start_new_session=True)
    with leader:
        assert leader.stdout is not None
        assert leader.stdout.readline() == "ready\n"
        yield leader
        leader.kill()


def test_killing_a_tree_ends_everybody_in_it(family: "subprocess.Popen[str]") -> None:
    eventually(lambda: len(psutil.Process(family.pid).children(recursive=True)) == 5)
    members = psutil.Process(family.pid).children(recursive=True)
    process.kill_tree(family.pid)
    family.wait(60)
    eventually(lambda: not any(map(lives, members)))


def test_killing_a_tree_that_is_gone_does_nothing() -> None:
    done = subprocess.Popen(["true"])
    done.wait()
    process.kill_tree(done.pid)
    process.terminate(done.pid)


def test_pid_is_believed_only_with_the_lock_and_the_right_process(tmp_path: Path) -> None:
    run_dir = RunDir(tmp_path / "run")
    run_dir.path.mkdir()
    assert process.runner_of(run_dir) is None
    with subprocess.Popen(["sleep", "300"]) as stranger:
        run_dir.pid.write_text(str(stranger.pid))
        assert process.runner_of(run_dir) is None
        held = lock.hold(run_dir.lock)
        assert held is not None
        assert process.runner_of(run_dir) is None, "the number belongs to a process of somebody else"
        with subprocess.Popen(["sh", "-c", "sleep 300; :", "sh", str(run_dir.path)]) as runner:
            run_dir.pid.write_text(str(runner.pid))
            try:  # a process that has just begun has no command line for a moment
                eventually(lambda: process.runner_of(run_dir) == runner.pid)
            finally:
                process.kill_tree(runner.pid)
                stranger.kill()
        held.close()


def test_task_without_an_identity_runs_as_we_do() -> None:
    assert process.resolve(RunAs()) is None
    assert process.resolve(RunAs(uid=os.geteuid(), gid=os.getegid())) is None
    assert process.resolve(RunAs(uid=os.geteuid())) is None


@pytest.mark.parametrize(
    ("run_as", "message"),
    [
        (RunAs(user="no-such-user-here"), "user 'no-such-user-here' does not exist"),
        (RunAs(uid=0, group="no-such-group-here"), "group 'no-such-group-here' does not exist"),
        (RunAs(uid=3_999_999), "uid 3999999 is no user here and no gid was given"),
    ],
)
def test_identity_that_does_not_exist_is_refused(run_as: RunAs, message: str) -> None:
    with pytest.raises(FailedPrecondition, match=message):
        process.resolve(run_as)


def test_only_root_can_run_tasks_as_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    with pytest.raises(FailedPrecondition, match="uid 4321, gid 4321, but the master runs as uid 1234"):
        process.resolve(RunAs(uid=4321, gid=4321))


@pytest.mark.skipif(os.geteuid() != 0, reason="switching users needs root")
def test_root_becomes_the_linked_user_with_its_groups() -> None:
    identity = process.resolve(RunAs(user="nobody"))
    assert identity is not None
    known = pwd.getpwnam("nobody")
    assert (identity.uid, identity.gid) == (known.pw_uid, known.pw_gid)
    assert identity.gid in identity.groups


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a runner as another user")
def test_a_runner_of_another_user_gets_none_of_the_masters_settings_and_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secrets = {
        "DET_DB_PASSWORD": "1",
        "DET_SECURITY_INITIAL_USER_PASSWORD": "1",
        "PGPASSWORD": "1",
        "AWS_SECRET_ACCESS_KEY": "1",
        "DATABASE_URL": "postgresql://det:1@db/det",
    }
    for_tasks = {"UV_INDEX_URL": "https://me:1@index/simple", "DET_ENVIRONMENT_CACHE": "/var/cache/det", "LANG": "C"}
    for name, value in {**secrets, **for_tasks}.items():
        monkeypatch.setenv(name, value)
    run_dir = RunDir(Path("/tmp") / f"determined-test-{os.getpid()}")
    run_dir.path.mkdir(mode=0o755)
    try:
        program = run_dir.path / "python"
        program.write_text("#!/bin/sh\nenv\nid -u\n")
        program.chmod(0o755)
        process.spawn(str(program), run_dir, process.Identity(2002, 2002, (2002,))).wait(60)
        seen = run_dir.runner_log.read_text().splitlines()
    finally:
        remove_tree(str(run_dir.path))
    assert seen[-1] == "2002"
    assert not secrets.keys() & {line.partition("=")[0] for line in seen}
    assert {f"{name}={value}" for name, value in for_tasks.items()} <= set(seen)
