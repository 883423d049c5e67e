"""Each task has a temporary directory of its own, which is its /tmp where the system allows that."""

import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_master import FakeMaster, RunnerUnderTest, eventually, trial

from determined.wire.report import BindMount

# A script as users have them: it goes on from what it finds in its output directory.
TRAIN = """
import pathlib, sys
out = pathlib.Path(sys.argv[1])
out.mkdir(exist_ok=True)
done = out / "checkpoint"
print("found an earlier checkpoint" if done.exists() else "trained from the start")
done.write_text("weights")
"""


def can_mount() -> bool:
    kind = ["-m"] if os.geteuid() == 0 else ["-Um"]
    return subprocess.run(["unshare", *kind, "true"], check=False, capture_output=True).returncode == 0


needs_mounts = pytest.mark.skipif(not can_mount(), reason="this system gives a process no mounts of its own")


@pytest.fixture
def output() -> Iterator[Path]:
    """A name in the real /tmp that no other test has; whatever lies there is removed."""
    place = Path(f"/tmp/det-test-{uuid.uuid4().hex}")
    yield place
    subprocess.run(["rm", "-rf", str(place)], check=True)


@needs_mounts
def test_second_run_does_not_find_what_the_first_left_in_tmp(
    fake_master: FakeMaster, make_runner: Callable[..., RunnerUnderTest], output: Path
) -> None:
    fake_master.files = {"train.py": TRAIN}
    fake_master.spec.entrypoint = f"python3 train.py {output}"
    for _ in range(2):
        fake_master.journals.clear()
        assert make_runner().start().finish().code == 0
        assert fake_master.texts() == ["trained from the start"]
    assert not output.exists()


def test_temporary_directory_is_the_tasks_own_and_goes_with_it(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.spec.shared_tmp = True
    show = "import os, tempfile; print(tempfile.mkdtemp()); print(os.environ['TMP'], os.environ['TEMP'])"
    fake_master.spec.entrypoint = ["python3", "-c", show]
    assert runner.start().finish().code == 0
    made, others = fake_master.texts()
    own = Path(made).parent
    assert others == f"{own} {own}"
    assert own.parent.name.startswith("determined-") and not own.parent.exists()


def test_temporary_directory_that_the_user_names_counts(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    fake_master.spec.environment = [f"TMPDIR={tmp_path}"]
    fake_master.spec.entrypoint = "echo $TMPDIR"
    runner.start().finish()
    assert fake_master.texts() == [str(tmp_path)]


def test_temporary_directory_of_a_killed_runner_is_removed_by_the_next(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.spec.shared_tmp = True
    fake_master.spec.entrypoint = "echo $TMPDIR; sleep 60"
    runner.start()
    [own] = eventually(fake_master.texts)
    runner.kill()
    runner.start().finish()
    assert not Path(own).parent.exists()


def test_shared_tmp_is_the_nodes(fake_master: FakeMaster, runner: RunnerUnderTest, output: Path) -> None:
    fake_master.spec.shared_tmp = True
    fake_master.spec.entrypoint = f"mkdir {output}"
    assert runner.start().finish().code == 0
    assert output.is_dir()
    assert not [text for text in fake_master.texts("agent") if "shared" in text]


def test_bind_mount_of_tmp_on_itself_shares_it(fake_master: FakeMaster, runner: RunnerUnderTest, output: Path) -> None:
    fake_master.spec.bind_mounts = [BindMount(host_path="/tmp", container_path="/tmp")]
    fake_master.spec.entrypoint = f"mkdir {output}"
    assert runner.start().finish().code == 0
    assert output.is_dir()


@needs_mounts
def test_bind_mounts_on_and_below_tmp_are_mounted_there(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    scratch, data = tmp_path / "scratch", tmp_path / "data"
    for place in (scratch, data):
        place.mkdir()
    (data / "x.txt").write_text("content")
    fake_master.spec.bind_mounts = [
        BindMount(host_path=str(scratch), container_path="/tmp"),
        BindMount(host_path=str(data), container_path="/tmp/in/data", read_only=True),
    ]
    fake_master.spec.entrypoint = (
        "cat /tmp/in/data/x.txt; echo; touch /tmp/in/data/y || echo refused; touch /tmp/written"
    )
    assert runner.start().finish().code == 0, fake_master.texts()
    assert "content" in fake_master.texts()
    assert "refused" in fake_master.texts()
    assert (scratch / "written").exists()
    assert not [text for text in fake_master.texts("agent") if "bind mount" in text]


@needs_mounts
def test_run_directory_python_and_checkpoints_below_tmp_stay_the_nodes(fake_master: FakeMaster, output: Path) -> None:
    output.mkdir()
    venv, store = output / "venv", output / "store"
    subprocess.run([sys._base_executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    trial(fake_master, output)
    fake_master.spec.config = {"checkpoint_storage": {"type": "shared_fs", "host_path": str(store)}}
    fake_master.spec.submitter_python = str(venv / "bin" / "python")
    fake_master.files = {"train.py": "import determined, sys; print(sys.prefix)"}
    fake_master.spec.entrypoint = f"python3 train.py && pwd && touch {store}/kept && ls {output}"
    runner = RunnerUnderTest(fake_master, output / "run")
    try:
        assert runner.start().finish().code == 0, fake_master.texts()
        assert fake_master.texts() == [str(venv), str(runner.dir.workdir), "run", "store", "venv"]
        assert (store / "kept").exists()
    finally:
        runner.close()


@needs_mounts
def test_checkpoints_in_tmp_itself_share_it_with_one_warning(
    fake_master: FakeMaster, runner: RunnerUnderTest, output: Path, tmp_path: Path
) -> None:
    trial(fake_master, tmp_path)
    fake_master.spec.config = {"checkpoint_storage": {"type": "shared_fs", "host_path": "/tmp"}}
    fake_master.spec.entrypoint = f"mkdir {output}"
    assert runner.start().finish().code == 0
    assert output.is_dir()
    [said] = [text for text in fake_master.texts("agent") if "/tmp is shared" in text]
    assert "checkpoint_storage" in said and "$TMPDIR" in said


@needs_mounts
def test_bind_mount_of_tmp_elsewhere_shares_it_with_one_warning(
    fake_master: FakeMaster, runner: RunnerUnderTest, output: Path
) -> None:
    fake_master.spec.bind_mounts = [BindMount(host_path="/tmp", container_path="/data")]
    fake_master.spec.entrypoint = f"mkdir {output}"
    assert runner.start().finish().code == 0
    assert output.is_dir()
    [said] = [text for text in fake_master.texts("agent") if "/tmp is shared" in text]
    assert "a bind mount" in said


@needs_mounts
def test_processes_of_a_task_meet_in_tmp_and_in_shared_memory(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    talk = """
import multiprocessing, multiprocessing.shared_memory, os, pathlib, tempfile
def say(pipe): pathlib.Path("/tmp/met").write_text("yes"); pipe.send(os.getcwd())
if __name__ == "__main__":
    here, there = multiprocessing.Pipe()
    multiprocessing.get_context("forkserver").Process(target=say, args=(there,)).start()
    print(here.recv() == os.getcwd(), pathlib.Path("/tmp/met").read_text(), tempfile.gettempdir())
    memory = multiprocessing.shared_memory.SharedMemory(create=True, size=10)
    memory.unlink()
"""
    fake_master.files = {"talk.py": talk}
    fake_master.spec.entrypoint = ["python3", "talk.py"]
    assert runner.start().finish().code == 0, fake_master.texts()
    assert fake_master.texts() == ["True yes /tmp"]


def test_system_without_namespaces_runs_the_task_with_one_warning(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.spec.entrypoint = "echo ran in $TMPDIR"
    runner.start_without_namespaces()
    assert runner.finish().code == 0
    [said] = fake_master.texts()
    assert said.startswith("ran in /") and "determined-" in said
    [warned] = [text for text in fake_master.texts("agent") if "/tmp is shared" in text]
    assert "Operation not permitted" in warned


def test_hooks_and_entrypoint_have_the_same_tmp(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    fake_master.files = {"startup-hook.sh": "echo left by the hook > /tmp/from-hook"}
    fake_master.spec.entrypoint = "cat /tmp/from-hook"
    assert runner.start().finish().code == 0
    assert fake_master.texts() == ["left by the hook"]
