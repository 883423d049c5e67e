"""Whether a trial can save, asked before it begins: of a directory by the runner, of a store as the task would be."""

from pathlib import Path

import pytest
from fake_master import FakeMaster, RunnerUnderTest, trial

from determined.wire.report import ExitCause


def test_unusable_checkpoint_storage_ends_the_trial_before_it_starts(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a directory should be")
    trial(fake_master, tmp_path, checkpoint_storage={"type": "directory", "container_path": str(blocked)})
    fake_master.spec.entrypoint = "echo started"
    told = runner.start().finish()
    assert (told.cause, told.code) == (ExitCause.FAILED, 1)
    assert "checkpoint storage" in told.message
    assert fake_master.texts() == []


def test_a_relative_checkpoint_directory_that_was_accepted_before_ends_the_trial_before_it_starts(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    trial(fake_master, tmp_path, checkpoint_storage={"type": "directory", "container_path": "checkpoints"})
    fake_master.spec.entrypoint = "echo started"
    told = runner.start().finish()
    assert told.cause is ExitCause.FAILED
    assert "container_path must be absolute, not `checkpoints`" in told.message
    assert told.message.count("checkpoint_storage") == 1
    assert fake_master.texts() == []


@pytest.mark.parametrize("inside", ["", "workdir", "workdir/checkpoints"])
@pytest.mark.parametrize("linked", [False, True])
def test_a_checkpoint_directory_inside_the_run_directory_ends_the_trial_before_it_starts(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path, inside: str, linked: bool
) -> None:
    place = runner.dir.path / inside
    if linked:
        (tmp_path / "link").symlink_to(place)
        place = tmp_path / "link"
    trial(fake_master, tmp_path, checkpoint_storage={"type": "shared_fs", "host_path": str(place)})
    fake_master.spec.entrypoint = "echo started"
    told = runner.start().finish()
    assert told.cause is ExitCause.FAILED
    assert f"{place} lies inside {runner.dir.path}, which is deleted when the task ends" in told.message
    assert fake_master.texts() == []


def test_a_dangling_link_in_the_place_of_the_store_is_named_with_what_it_leads_to(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    (tmp_path / "store").symlink_to(tmp_path / "gone")
    trial(fake_master, tmp_path, checkpoint_storage={"type": "shared_fs", "host_path": str(tmp_path / "store")})
    fake_master.spec.entrypoint = "echo started"
    told = runner.start().finish()
    assert told.cause is ExitCause.FAILED
    assert f"{tmp_path}/store is a link to {tmp_path}/gone, which is no directory" in told.message
    assert told.message.count("checkpoint_storage") == 1
    assert fake_master.texts() == []


# The driver of S3 as a task may have it in its own Python: a directory, which opens for the right key.
DRIVER = """
import atexit
import os
from fsspec.implementations.local import LocalFileSystem

class S3FileSystem(LocalFileSystem):
    cachable = False

    def __init__(self, **options):
        if os.environ.get("AWS_ACCESS_KEY_ID") != "right":
            atexit.register(lambda: os.write(2, b"unclosed \\xff\\n"))
            raise PermissionError("no credentials")
        super().__init__(auto_mkdir=True)
"""


def drivers(tmp_path: Path) -> Path:
    place = tmp_path / "drivers"
    (place / "botocore").mkdir(parents=True)
    (place / "s3fs.py").write_text(DRIVER)
    (place / "botocore" / "exceptions.py").write_text("class BotoCoreError(Exception): pass")
    return place


@pytest.mark.parametrize("key", ["right", "wrong"])
def test_a_store_is_probed_with_the_driver_and_the_keys_of_the_task(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path, key: str
) -> None:
    trial(fake_master, tmp_path, checkpoint_storage={"type": "s3", "bucket": str(tmp_path / "bucket")})
    fake_master.spec.environment = [f"PYTHONPATH={drivers(tmp_path)}", f"AWS_ACCESS_KEY_ID={key}"]
    fake_master.spec.entrypoint = "echo started"
    told = runner.start().finish()
    if key == "right":
        assert (told.code, fake_master.texts()) == (0, ["started"])
    else:
        assert told.message == "checkpoint storage does not work: no credentials; correct checkpoint_storage"
        assert fake_master.texts() == []


def test_a_store_is_probed_with_the_driver_and_the_keys_that_hooks_have_brought(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    trial(fake_master, tmp_path, checkpoint_storage={"type": "s3", "bucket": str(tmp_path / "bucket")})
    hook = f"export PYTHONPATH={drivers(tmp_path)}:$PYTHONPATH AWS_ACCESS_KEY_ID=right"
    fake_master.files = {"startup-hook.sh": hook}
    fake_master.spec.entrypoint = "echo started"
    assert runner.start().finish().code == 0
    assert fake_master.texts() == ["started"]
    assert [line.text for line in fake_master.lines("agent") if "checkpoint storage" in line.text] == []


@pytest.mark.parametrize(
    ("entrypoint", "hook", "is_refused"),
    [("python3 -c 'print(1)'", "", True), ("python3 -c 'print(1)'", ":", False), ("./own-python", "", False)],
)
def test_a_driver_that_is_missing_ends_a_task_only_where_it_is_sure_to_need_it(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path, entrypoint: str, hook: str, is_refused: bool
) -> None:
    trial(fake_master, tmp_path, checkpoint_storage={"type": "azure", "container": "c", "connection_string": "x"})
    (tmp_path / "absent").mkdir()
    (tmp_path / "absent" / "adlfs.py").write_text("raise ModuleNotFoundError(name='adlfs')")
    fake_master.spec.environment = [f"PYTHONPATH={tmp_path / 'absent'}"]
    fake_master.files = {"own-python": "#!/bin/sh\necho 1\n"} | ({"startup-hook.sh": hook} if hook else {})
    fake_master.spec.entrypoint = entrypoint.replace("./", "sh ./")
    told = runner.start().finish()
    said = " ".join(line.text for line in fake_master.lines("agent"))
    assert "adlfs is not installed; run: pip install 'redetermined[azure]'" in said
    if is_refused:
        assert told.cause is ExitCause.FAILED
        assert "which runs this task" in told.message
    else:
        assert (told.code, fake_master.texts()) == (0, ["1"])
        assert "training starts unchecked" in said


@pytest.mark.parametrize("python", ["echo 'Unknown option: -P' >&2; exit 2", "printf '\\377\\n' >&2; kill -9 $$"])
def test_a_python_that_cannot_run_the_probe_is_warned_of_and_the_task_begins(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path, python: str
) -> None:
    trial(fake_master, tmp_path, checkpoint_storage={"type": "s3", "bucket": "b"})
    old = tmp_path / "old"
    old.mkdir()
    (old / "python3").write_text(f"#!/bin/sh\n{python}\n")
    (old / "python3").chmod(0o700)
    fake_master.files = {"startup-hook.sh": f"export PATH={old}:$PATH"}
    fake_master.spec.entrypoint = "echo started"
    assert runner.start().finish().code == 0
    assert fake_master.texts() == ["started"]
    [said] = [line.text for line in fake_master.lines("agent") if "checkpoint storage" in line.text]
    assert said.startswith(f"checkpoint storage is not probed: {old}/python3 cannot run the probe (")
