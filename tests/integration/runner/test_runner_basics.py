"""One runner, one task, from launch.json to `done`."""

import contextlib
import fcntl
import json
import os
import platform
import pwd
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_master import TOKEN, FakeMaster, RunnerUnderTest, eventually, trial
from msgspec import structs

from determined._info import read_info
from determined._remove_tree import remove_tree
from determined.rundir.lock import is_held
from determined.wire.report import BindMount, ExitCause

SHOW_ENVIRONMENT = "import os, json; print(json.dumps(dict(os.environ)))"


def environment_of(master: FakeMaster, runner: RunnerUnderTest, **outside: str) -> dict[str, str]:
    master.spec.entrypoint = ["python3", "-c", SHOW_ENVIRONMENT]
    assert runner.start(**outside).finish().code == 0
    seen: dict[str, str] = json.loads("".join(master.texts()))
    return seen


def test_output_arrives_in_order_and_the_exit_comes_last(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    fake_master.spec.entrypoint = "for i in 1 2 3; do echo line $i; done"
    told = runner.start().finish()
    assert (told.cause, told.code) == (ExitCause.EXITED, 0)
    assert fake_master.texts() == ["line 1", "line 2", "line 3"]
    assert fake_master.phases() == ["PULLING", "STARTING", "RUNNING"]
    runner.await_release()


@pytest.mark.parametrize(
    ("entrypoint", "status", "hint"),
    [
        ("exit 3", 3, "exited with status 3"),
        ("kill -9 $$", 137, "SIGKILL"),
        (["no-such-program"], 127, "not found"),
        ("no-such-program --x", 127, "not found"),
        (["/etc"], 126, "cannot be executed"),
    ],
)
def test_exit_status_and_its_reason_are_reported(
    fake_master: FakeMaster, runner: RunnerUnderTest, entrypoint: Any, status: int, hint: str
) -> None:
    fake_master.spec.entrypoint = entrypoint
    told = runner.start().finish()
    assert (told.cause, told.code) == (ExitCause.EXITED, status)
    assert hint in told.message + " ".join(fake_master.texts("agent"))


def test_missing_entrypoint_fails_with_a_word_on_the_config(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    told = runner.start().finish()
    assert (told.cause, told.code) == (ExitCause.FAILED, 1)
    assert "names no entrypoint" in fake_master.texts("agent")[-1]


def test_context_is_unpacked_twice_and_the_work_directory_is_current(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.files = {"pkg/mod.py": "print('from the context')"}
    fake_master.spec.entrypoint = "pwd && python3 pkg/mod.py && rm -r pkg"
    assert runner.start().finish().code == 0
    assert fake_master.texts() == [str(runner.dir.workdir), "from the context"]
    assert (runner.dir.model / "pkg/mod.py").exists()
    assert not (runner.dir.workdir / "pkg").exists()


def test_environment_is_built_clean_and_the_users_variables_win(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.spec.environment = ["MINE=1", "MINE=2", "DET_AGENT_ID=other", "TZ", "PYTHONPATH=/first"]
    seen = environment_of(fake_master, runner, MASTER_SECRET="x", LC_ALL="C", TZ="UTC", HOME="/")
    assert seen["MINE"] == "2"
    assert seen["DET_AGENT_ID"] == "other"
    assert seen["LC_ALL"] == "C"
    assert seen["HOME"] == pwd.getpwuid(os.getuid()).pw_dir
    assert seen["PYTHONPATH"].startswith("/first:")
    assert "MASTER_SECRET" not in seen
    assert "TZ" not in seen
    assert "DET_TRIAL_ID" not in seen
    assert seen["DET_MASTER"] == fake_master.url
    assert seen["DET_SESSION_TOKEN"] == TOKEN
    assert seen["DET_RUN_DIR"] == str(runner.dir.path)
    assert seen["DET_SLOT_IDS"] == "[0]"


def test_gpu_slots_become_visible_devices(fake_master: FakeMaster, make_runner: Callable[..., RunnerUnderTest]) -> None:
    seen = environment_of(fake_master, make_runner(device="rocm", slot_ids=[1, 3]))
    assert seen["ROCR_VISIBLE_DEVICES"] == "1,3"


def test_value_too_long_for_an_environment_variable_is_left_out_with_a_warning(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.spec.environment = ["HUGE=" + "x" * 200_000]
    assert "HUGE" not in environment_of(fake_master, runner)
    assert any("HUGE is too long" in text for text in fake_master.texts("agent"))


def test_trial_finds_its_info_files_and_the_others(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    trial(fake_master, tmp_path)
    fake_master.spec.latest_checkpoint = "ckpt"
    seen = environment_of(fake_master, runner)
    assert (seen["DET_TRIAL_ID"], seen["DET_LATEST_CHECKPOINT"]) == ("7", "ckpt")
    assert (seen["DET_CHIEF_IP"], seen["DET_CONTAINER_SLOT_COUNTS"]) == ("127.0.0.1", "[1]")
    info = read_info(runner.dir.info)
    assert info is not None
    assert info.latest_checkpoint == "ckpt"
    assert info.trial.hparams == {"lr": 0.5}
    assert info.user_data == {"a": 1}
    assert (info.container_addrs, info.container_rank, info.gpu_uuids) == (["127.0.0.1"], 0, [])
    assert (runner.dir.info / "cluster.json").stat().st_mode & 0o777 == 0o600


def test_trial_waits_for_rendezvous_before_its_entrypoint(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    trial(fake_master, tmp_path)
    fake_master.rendezvous_open.clear()
    fake_master.spec.entrypoint = "echo started"
    runner.start()
    eventually(lambda: fake_master.phases() == ["PULLING", "STARTING"])
    assert fake_master.texts() == []
    fake_master.rendezvous_open.set()
    runner.finish()
    assert fake_master.texts() == ["started"]


def test_trial_without_peers_does_not_wait_for_rendezvous(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    trial(fake_master, tmp_path)
    fake_master.rendezvous_open.clear()
    fake_master.spec.address, fake_master.spec.slot_counts = "10.1.2.3", [4]
    fake_master.spec.entrypoint = "echo $DET_CHIEF_IP $DET_CONTAINER_RANK $DET_CONTAINER_SLOT_COUNTS"
    runner.start().finish()
    assert fake_master.texts() == ["10.1.2.3 0 [4]"]
    info = read_info(runner.dir.info)
    assert info is not None and info.container_addrs == ["10.1.2.3"]


def test_relative_bind_mount_is_a_link_and_an_absolute_one_a_warning(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.txt").write_text("content")
    host = str(tmp_path / "data")
    fake_master.spec.bind_mounts = [
        BindMount(host_path=host, container_path="in/data"),
        BindMount(host_path=host, container_path="/data"),
        BindMount(host_path=host, container_path=host),
    ]
    fake_master.spec.entrypoint = "cat in/data/x.txt"
    runner.start().finish()
    assert fake_master.texts() == ["content"]
    assert [t for t in fake_master.texts("agent") if "bind mount" in t] == [
        f"bind mount {host} -> /data: no container here; use {host} in your code"
    ]


def test_bind_mount_of_a_missing_directory_fails_clearly(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    fake_master.spec.bind_mounts = [BindMount(host_path="/no/such/place", container_path="data")]
    fake_master.spec.entrypoint = "true"
    told = runner.start().finish()
    assert told.cause is ExitCause.FAILED
    assert "/no/such/place does not exist" in told.message


def test_trial_class_entrypoint_without_its_api_names_what_is_missing(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.files = {"model_def.py": "class MyTrial: pass"}
    fake_master.spec.entrypoint = "model_def:MyTrial"
    told = runner.start().finish()
    assert told.code == 1
    assert any("model_def:MyTrial" in text for text in fake_master.texts())


def test_python_of_the_submitter_runs_the_script(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    other = tmp_path / "python-of-mine"
    other.write_text(f'#!/bin/sh\nexport CHOSEN=yes\nexec {sys.executable} "$@"\n')
    other.chmod(0o755)
    fake_master.spec.submitter_python = str(other)
    fake_master.spec.entrypoint = "python -c \"import os; print(os.environ['CHOSEN'])\" && python3 -V"
    assert runner.start().finish().code == 0
    assert fake_master.texts()[0] == "yes"


def test_missing_python_of_the_submitter_is_a_warning(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    fake_master.spec.submitter_python = "/no/such/python"
    fake_master.spec.entrypoint = ["python3", "-c", "import sys; print(sys.prefix)"]
    runner.start().finish()
    assert fake_master.texts() == [sys.prefix]
    [said] = fake_master.texts("agent")
    assert said == (
        "/no/such/python (the environment that was active at submission) is not on this node."
        f" Using instead: Python {platform.python_version()}, {sys.executable}: the node's own"
    )


def test_second_runner_on_a_live_directory_leaves_at_once(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    fake_master.spec.entrypoint = "echo once; sleep 60"
    runner.start()
    eventually(lambda: fake_master.texts() == ["once"])
    first = runner.pid
    second = RunnerUnderTest(fake_master, runner.dir.path).start()
    assert second.wait() == 0
    assert is_held(runner.dir.lock)
    fake_master.signal(kill=True)
    runner.finish()
    assert int(runner.dir.pid.read_text()) == first
    assert fake_master.texts() == ["once"]


def test_observer_that_was_stopped_in_its_look_keeps_no_runner_from_starting(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.spec.entrypoint = "echo started"
    with runner.dir.lock.open("a") as observed:
        fcntl.flock(observed, fcntl.LOCK_SH)
        runner.start()
        eventually(lambda: has_opened(runner.pid, runner.dir.lock))
        time.sleep(1)  # longer than another runner would be waited for
    assert runner.finish().code == 0
    assert fake_master.texts() == ["started"]


def has_opened(pid: int, file: Path) -> bool:
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            if entry.readlink() == file:
                return True
    return False


def test_what_the_task_leaves_running_is_killed_with_it(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    fake_master.spec.environment = ["DET_LOG_WAIT_TIME=0"]
    fake_master.spec.entrypoint = (
        f"sleep 300 & echo $! >> {pids}; setsid sh -c 'echo $$ >> {pids}; exec sleep 300' & "
        f"until [ $(wc -l < {pids}) = 2 ]; do sleep 0.01; done; echo over"
    )
    assert runner.start().finish().code == 0
    for pid in pids.read_text().split():
        eventually(lambda pid=pid: not Path(f"/proc/{pid}").exists())
    assert fake_master.texts() == ["over"]


def test_runner_is_its_own_session_and_task_its_own_group(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    fake_master.spec.entrypoint = ["python3", "-c", "import os; print(os.getsid(0), os.getpgid(0), os.getpid())"]
    runner.start()
    runner.finish()
    session, group, pid = map(int, fake_master.texts()[0].split())
    assert session == runner.pid != os.getsid(0)
    assert group == pid != session


def test_gpu_numbers_mean_what_the_engine_meant(
    fake_master: FakeMaster, make_runner: Callable[..., RunnerUnderTest]
) -> None:
    # CUDA's own order is by speed; the numbers of slots are nvidia-smi's, which are by bus.
    seen = environment_of(fake_master, make_runner(device="cuda", slot_ids=[1, 3]))
    assert (seen["CUDA_VISIBLE_DEVICES"], seen["CUDA_DEVICE_ORDER"]) == ("1,3", "PCI_BUS_ID")


def test_files_that_go_with_the_working_directory_are_named_at_the_end(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    fake_master.files = {"sent.pkl": "x", "train.py": "pass"}
    fake_master.spec.entrypoint = (
        "echo x > model.pkl; mkdir -p out .cache __pycache__ kept; head -c 200000 /dev/zero > out/big.bin;"
        " echo y > small.txt; head -c 200000 /dev/zero > .cache/c; head -c 200000 /dev/zero > __pycache__/p;"
        ' echo z > sent.pkl; echo w > kept/w.pt; echo "$PWD/kept" > $DET_RUN_DIR/uploaded; ln -s /etc/passwd link.pkl'
    )
    assert runner.start().finish().code == 0
    [said] = [line.text for line in fake_master.lines("agent") if "working directory is deleted" in line.text]
    assert "files that this task wrote there: model.pkl (2 B), out/big.bin (195 KiB); to keep" in said
    assert "core_context.checkpoint.store_path" in said


@pytest.mark.parametrize("entrypoint", ["echo y > small.txt", "echo x > model.pkl; exit 3"])
def test_nothing_is_said_of_small_files_or_after_a_failure(
    fake_master: FakeMaster, runner: RunnerUnderTest, entrypoint: str
) -> None:
    fake_master.spec.entrypoint = entrypoint
    runner.start().finish()
    assert not [line.text for line in fake_master.lines("agent") if "working directory is deleted" in line.text]


NESTED = """
import os
for place in (".", os.environ["TMPDIR"]):
    fd = os.open(place, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=fd)
        inner = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)
"""


def test_thousands_of_nested_directories_do_not_end_the_runner(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.files = {"nest.py": NESTED}
    fake_master.spec.entrypoint = "python3 nest.py"
    try:
        assert runner.start().finish().code == 0
    finally:
        remove_tree(str(runner.dir.path))  # pytest could not


def test_runner_that_was_handed_spec_and_context_asks_for_neither(
    fake_master: FakeMaster, make_runner: Callable[..., RunnerUnderTest]
) -> None:
    fake_master.files = {"t.py": "print('it ran', flush=True)"}
    spec = structs.replace(fake_master.spec, entrypoint="python3 t.py", slot_counts=[1], address="127.0.0.1")
    told = make_runner(spec=spec, context=fake_master.context()).start().finish()
    assert (told.cause, told.code) == (ExitCause.EXITED, 0)
    assert fake_master.texts() == ["it ran"]
    assert not {"spec", "context_directory", "rendezvous"} & {*fake_master.calls}


def test_runner_that_does_not_poll_yet_ends_as_soon_as_its_engine_says_so(
    fake_master: FakeMaster, make_runner: Callable[..., RunnerUnderTest]
) -> None:
    spec = structs.replace(fake_master.spec, entrypoint="sleep 600", slot_counts=[1], address="127.0.0.1")
    handed = make_runner(spec=spec, context=fake_master.context()).start()
    eventually(lambda: "RUNNING" in fake_master.phases())
    os.kill(handed.pid, signal.SIGTERM)
    assert handed.finish().cause is ExitCause.KILLED
