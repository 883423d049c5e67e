"""core.init decides by the task around it, and Context closes cleanly whatever happened."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from determined import core
from determined.errors import InvalidHP
from determined.rundir import private_tmp
from determined.rundir.layout import RunDir
from determined.storage import SharedFSStorageManager
from determined.wire.report import Alert, EarlyExit

Task = Callable[..., None]


def test_off_cluster_everything_is_a_twin(off_cluster: Path) -> None:
    with core.init() as context:
        assert context.info is None
        assert isinstance(context.train, core.DummyTrainContext)
        assert not context.preempt.should_preempt()
        with context.checkpoint.store_path() as (path, storage_id):
            (path / "model").write_text("1")
        with context.checkpoint.restore_path(storage_id) as path:
            assert (path / "model").read_text() == "1"
    assert (off_cluster / storage_id / "model").exists()
    assert off_cluster.stat().st_mode & 0o777 == 0o700


def test_off_cluster_the_preempt_mode_is_kept(off_cluster: Path) -> None:
    context = core.init(preempt_mode=core.PreemptMode.ChiefOnly)
    assert context.preempt._preempt_mode is core.PreemptMode.ChiefOnly


def test_off_cluster_checkpoints_go_where_the_script_says(off_cluster: Path, tmp_path: Path) -> None:
    with core.init(checkpoint_storage=f"file://{tmp_path}/mine") as context:
        with context.checkpoint.store_path({"note": 1}) as (path, storage_id):
            (path / "model").write_text("1")
        assert context.checkpoint.get_metadata(storage_id) == {"note": 1}
        context.checkpoint.delete(storage_id)
    assert list((tmp_path / "mine").iterdir()) == []


def test_a_task_with_several_slots_needs_a_distributed_context(task: Task) -> None:
    task(slot_ids=[0, 1])
    with pytest.raises(ValueError, match="2 slots"):
        core.init()


def test_a_task_that_is_no_trial_reports_nothing(task: Task, runner: Any, off_cluster_home: Path) -> None:
    task(task_type="COMMAND")
    with core.init() as context:
        context.train.report_training_metrics(1, {"x": 1})
        assert context.info is not None
        with pytest.raises(ValueError, match="max_length"):
            context.searcher.operations()
    assert runner.records == []


@pytest.fixture
def off_cluster_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.mark.parametrize(
    ("storage", "error"),
    [(3, TypeError), ({"type": "shared_fs", "host_path": "/x"}, ValueError), ("x://y", ValueError)],
)
def test_a_storage_that_makes_no_sense_is_refused(off_cluster: Path, storage: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        core.init(checkpoint_storage=storage)


def test_invalid_hyperparameters_become_an_early_exit_and_status_0(task: Task, runner: Any) -> None:
    task()
    with pytest.raises(SystemExit) as left, core.init() as context:
        assert context._reporter is not None
        control = context._reporter.control
        raise InvalidHP("batch size 0")
    assert left.value.code == 0
    assert control.invalid_hp, "its launcher is told, who ends well whatever the other ranks do"
    assert runner.wait_for(1, EarlyExit)[0].reason == "EXITED_REASON_INVALID_HP"


def test_other_exceptions_pass_through(task: Task) -> None:
    task()
    with pytest.raises(ZeroDivisionError), core.init():
        raise ZeroDivisionError


def test_no_thread_is_left_behind(task: Task, runner: Any) -> None:
    import threading

    task()
    before = set(threading.enumerate())
    with core.init() as context:
        context.train.report_training_metrics(1, {"x": 1})
        context.profiler.on(sampling_interval=0.1)
    assert set(threading.enumerate()) == before


def test_sigusr1_prints_the_stack_and_goes_on(off_cluster: Path, capfd: pytest.CaptureFixture[str]) -> None:
    called = []
    signal.signal(signal.SIGUSR1, lambda *_: called.append("earlier"))
    with core.init():
        os.kill(os.getpid(), signal.SIGUSR1)
    assert "test_sigusr1_prints_the_stack_and_goes_on" in capfd.readouterr().err
    assert called == ["earlier"]


def test_an_alert_is_logged_and_journalled_and_never_ends_a_training(
    task: Task, master: Any, runner: Any, caplog: pytest.LogCaptureFixture
) -> None:
    task()
    with core.init() as context, caplog.at_level("DEBUG", "determined.core"):
        context.alert("loss is NaN", "batch 7", "error")
        context.alert(level="loud")
        context.alert("again", level="debug")
        context.alert(title=None, description=None)
    written = [(record.levelname, record.message) for record in caplog.records if "alert" in record.message]
    assert written == [
        ("ERROR", "alert: loss is NaN: batch 7"),
        ("WARNING", "alert: (no text)"),
        ("DEBUG", "alert: again"),
        ("INFO", "alert: (no text)"),
    ]
    assert runner.wait_for(4, Alert) == [
        Alert("loss is NaN", "batch 7", "ERROR"),
        Alert("", "", "WARNING"),
        Alert("again", "", "DEBUG"),
        Alert("", "", "INFO"),
    ]
    assert not master.requests, "it travels with the reports and waits for nobody"


def test_an_alert_outside_of_a_trial_is_an_error(off_cluster: Path) -> None:
    with core.init() as context, pytest.raises(ValueError, match="needs a trial"):
        context.alert("title", level="warn")


def test_the_use_of_a_checkpoint_is_linked(task: Task, master: Any) -> None:
    class Checkpoint:
        uuid = "c"

    task()
    master.routes["POST", "/api/v1/trial-source-info"] = {"trialId": 7, "checkpointUuid": "c"}
    with core.init() as context:
        context.experimental.report_task_using_checkpoint(Checkpoint())
    assert master.requests[0][2]["trialSourceInfo"]["trialSourceInfoType"] == "TRIAL_SOURCE_INFO_TYPE_INFERENCE"


def test_the_use_of_a_model_version_is_linked_also_of_one_made_by_hand(task: Task, master: Any) -> None:
    class Checkpoint:
        uuid = "c"

    class ModelVersion:
        checkpoint, model_id, model_version = None, None, 3

        def reload(self) -> None:
            self.checkpoint, self.model_id = Checkpoint(), 8

    task()
    master.routes["POST", "/api/v1/trial-source-info"] = {"trialId": 7, "checkpointUuid": "c"}
    with core.init() as context:
        context.experimental.report_task_using_model_version(ModelVersion())
    info = master.requests[0][2]["trialSourceInfo"]
    assert (info["checkpointUuid"], info["modelId"], info["modelVersion"]) == ("c", 8, 3)


def test_a_storage_in_the_tmp_of_the_task_alone_is_refused(
    task: Any, runner: Any, run_dir: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the name it has on the node, and by the one under which the task has it mounted."""
    task()
    run_dir.tmp_note.write_text(json.dumps(str(tmp_path / "determined-abc")))
    mounts = tmp_path / "mountinfo"
    lines = [
        "1 0 0:1 / / rw - ext4 none rw",
        f"2 1 0:1 /var/determined-abc/tmp {tmp_path}/mnt rw - ext4 none rw",
        f"3 2 0:1 /srv/store {tmp_path}/mnt/store rw - ext4 none rw",
    ]
    mounts.write_text("\n".join(lines))
    monkeypatch.setattr(private_tmp, "_MOUNTS", mounts)
    for place in (tmp_path / "determined-abc" / "tmp", tmp_path / "mnt" / "mine"):
        with pytest.raises(ValueError, match="is in the /tmp of this task alone"):
            core.init(checkpoint_storage=str(place))
        with pytest.raises(ValueError, match="is in the /tmp of this task alone"):
            core.init(storage_manager=SharedFSStorageManager(str(place)))
    assert not private_tmp.is_in_private_tmp(run_dir, str(tmp_path / "mnt" / "store" / "below"))


def test_off_cluster_a_directory_is_uploaded(off_cluster: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "model").write_text("1")
    with core.init() as context:
        for shard in (False, True):
            storage_id = context.checkpoint.upload(tmp_path / "mine", {"steps_completed": 1}, shard=shard)
            assert (off_cluster / storage_id / "model").read_text() == "1"
