"""Saving, finding and loading checkpoints of a trial."""

import contextlib
import errno
import json
import resource
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from determined import core
from determined.errors import CheckpointNotFound, CheckpointNotStored
from determined.rundir.layout import RunDir
from determined.storage.local import LocalStorageManager
from determined.wire.report import CheckpointReport, MetricReport

Task = Callable[..., None]
GONE = "5b9d1f9e-8f0e-4f0e-9d6a-000000000002"


def _save(context: core.Context, steps: int = 1) -> str:
    with context.checkpoint.store_path({"steps_completed": steps}) as (path, storage_id):
        (path / "model").write_text("weights")
        (path / "code").mkdir()
    return storage_id


def test_a_saved_checkpoint_is_reported_with_its_resources(task: Task, runner: Any) -> None:
    task()
    with core.init() as context:
        storage_id = _save(context, 10)
        report: CheckpointReport = runner.wait_for(1, CheckpointReport)[0]
    assert (report.uuid, report.steps, report.metadata) == (storage_id, 10, {"steps_completed": 10})
    assert report.resources.keys() == {"model", "code/", "metadata.json"}
    assert (report.resources["model"], report.resources["code/"]) == (7, 0)
    assert report.storage_id is None


def test_what_was_saved_is_restored(task: Task, runner: Any, tmp_path: Path) -> None:
    task()
    with core.init() as context:
        storage_id = _save(context)
        with context.checkpoint.restore_path(storage_id) as path:
            assert (path / "model").read_text() == "weights"
            assert json.loads((path / "metadata.json").read_text()) == {"steps_completed": 1}
        context.checkpoint.download(storage_id, tmp_path / "a", "NO_SHARED_DOWNLOAD")
        context.checkpoint.download(storage_id, tmp_path / "b", selector=lambda path: path == "model")
    assert (tmp_path / "a" / "model").exists()
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["model"]


def test_a_directory_is_uploaded_with_its_metadata(task: Task, runner: Any, tmp_path: Path) -> None:
    task()
    (tmp_path / "mine" / "sub").mkdir(parents=True)
    (tmp_path / "mine" / "sub" / "w").write_text("1")
    with core.init() as context:
        storage_id = context.checkpoint.upload(tmp_path / "mine", {"steps_completed": 1, "note": "x"})
        with context.checkpoint.restore_path(storage_id) as path:
            assert json.loads((path / "metadata.json").read_text()) == {"steps_completed": 1, "note": "x"}
    assert runner.wait_for(1)[0].resources.keys() == {"metadata.json", "sub/", "sub/w"}


def test_a_selector_also_decides_about_metadata(task: Task, runner: Any, tmp_path: Path) -> None:
    task()
    (tmp_path / "mine").mkdir()
    for name in ("a", "b"):
        (tmp_path / "mine" / name).write_text(name)
    with core.init() as context:
        context.checkpoint.upload(tmp_path / "mine", {"steps_completed": 1}, selector=lambda path: path == "a")
    assert runner.wait_for(1)[0].resources == {"a": 1}


@pytest.mark.parametrize("metadata", [None, {}, {"steps_completed": "1"}, {"steps_completed": True}])
def test_forgotten_steps_are_told_before_anything_is_stored(task: Task, tmp_path: Path, metadata: Any) -> None:
    task()
    (tmp_path / "mine").mkdir()
    with core.init() as context:
        with pytest.raises(ValueError, match="steps_completed"):
            context.checkpoint.upload(tmp_path / "mine", metadata)
        with pytest.raises(ValueError, match="steps_completed"), context.checkpoint.store_path(metadata):
            pytest.fail("the body must not run")
    assert not (tmp_path / "checkpoints").exists()


def test_an_exception_while_saving_stores_and_reports_nothing(task: Task, runner: Any, tmp_path: Path) -> None:
    task()
    with core.init() as context:
        with (
            pytest.raises(ZeroDivisionError),
            context.checkpoint.store_path({"steps_completed": 1}) as (path, _),
        ):
            (path / "half").write_text("1")
            raise ZeroDivisionError
        context.train.set_status("after")
        runner.wait_for(1)
    assert not any(isinstance(record, CheckpointReport) for record in runner.records)
    assert list((tmp_path / "checkpoints").iterdir()) == []


def test_a_report_waits_until_the_master_has_it(task: Task, runner: Any) -> None:
    task()
    runner.stop()
    with core.init() as context:
        saving = threading.Thread(target=_save, args=(context,))
        saving.start()
        saving.join(0.2)
        assert saving.is_alive(), "nobody has acknowledged"
        runner.hold.clear()
        saving.join(60)
        assert not saving.is_alive()


def test_a_report_does_not_wait_while_the_master_is_away(task: Task, runner: Any) -> None:
    task()
    runner.stop()
    runner.control.master_away = True
    with core.init() as context:
        context.train.report_training_metrics(1, {"x": 1})
        storage_id = _save(context)
        with context.checkpoint.restore_path(storage_id) as path:
            assert (path / "model").exists()
    runner.hold.clear()
    assert [type(record) for record in runner.wait_for(2)] == [MetricReport, CheckpointReport]


def test_a_report_that_waits_is_let_go_when_the_master_goes_away(task: Task, runner: Any) -> None:
    task()
    runner.stop()
    with core.init() as context:
        saving = threading.Thread(target=_save, args=(context,))
        saving.start()
        runner.control.master_away = True
        saving.join(60)
        assert not saving.is_alive()


def test_metadata_is_asked_of_the_master(task: Task, master: Any) -> None:
    task()
    master.routes["GET", "/api/v1/checkpoints/c"] = {"checkpoint": {"metadata": {"steps_completed": 4}}}
    with core.init() as context:
        assert context.checkpoint.get_metadata("c") == {"steps_completed": 4}


def test_deleting_removes_files_and_tells_the_master(task: Task, master: Any, runner: Any, tmp_path: Path) -> None:
    task()
    master.routes["PATCH", "/api/v1/checkpoints"] = {}
    with core.init() as context:
        storage_id = _save(context)
        context.checkpoint.delete(storage_id)
        with pytest.raises(CheckpointNotFound), context.checkpoint.restore_path(storage_id):
            pass
    assert master.requests[-1][2] == {"checkpoints": [{"uuid": storage_id, "resources": {"resources": {}}}]}


def test_an_unknown_checkpoint_says_where_it_was_looked_for(task: Task, tmp_path: Path) -> None:
    task()
    with (
        core.init() as context,
        pytest.raises(CheckpointNotFound, match=str(tmp_path / "checkpoints" / GONE)),
        context.checkpoint.restore_path(GONE),
    ):
        pass


def test_no_directory_without_shards_is_refused(task: Task) -> None:
    task()
    with core.init() as context, pytest.raises(RuntimeError, match="ckpt_dir=None"):
        context.checkpoint.upload(None, {"steps_completed": 1})


def test_a_storage_of_the_scripts_own_is_made_known(task: Task, master: Any, runner: Any, tmp_path: Path) -> None:
    task()
    master.routes["POST", "/api/v1/runs/start"] = {"storageId": 5}
    with core.init(checkpoint_storage=str(tmp_path / "own")) as context:
        storage_id = _save(context)
    assert (tmp_path / "own" / storage_id / "model").exists()
    assert runner.wait_for(1, CheckpointReport)[0].storage_id == 5
    assert master.requests[0][2] == {
        "runId": 7,
        "checkpointStorage": {"type": "directory", "container_path": str(tmp_path / "own")},
    }


def test_killing_the_process_while_saving_leaves_no_checkpoint(task: Task, tmp_path: Path) -> None:
    task()
    with core.init() as context, contextlib.ExitStack() as abandoned:
        path, storage_id = abandoned.enter_context(context.checkpoint.store_path({"steps_completed": 1}))
        (path / "model").write_text("1")
        abandoned.pop_all()  # the block is never left, as after kill -9
        with pytest.raises(CheckpointNotFound), context.checkpoint.restore_path(storage_id):
            pass


def test_a_checkpoint_that_the_master_does_not_take_is_an_error_of_the_save(
    task: Task, runner: Any, run_dir: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runner leaves the master's reason before it acknowledges the report."""
    task()
    monkeypatch.setattr("determined.core._checkpoint.uuid.uuid4", lambda: GONE)
    run_dir.refused.mkdir()
    (run_dir.refused / GONE).write_text("the master does not see it")
    with core.init() as context, pytest.raises(CheckpointNotStored, match=f"{GONE}: the master does not see it"):
        _save(context)


@pytest.mark.parametrize("shard", [False, True])
def test_files_that_are_not_where_they_were_stored_are_never_reported(
    task: Task, runner: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shard: bool
) -> None:
    task()
    publish = LocalStorageManager.publish

    def elsewhere(self: LocalStorageManager, dst: str, entries: Any) -> None:
        publish(self, dst, entries)
        self._final(dst).rename(tmp_path / "where nobody looks")

    monkeypatch.setattr(LocalStorageManager, "publish", elsewhere)
    with core.init() as context:
        saving = context.checkpoint.store_path({"steps_completed": 1}, shard=shard)
        with pytest.raises(CheckpointNotStored, match="cannot be restored from there"), saving as (path, _):
            (path / "model").write_text("weights")
        context.train.report_training_metrics(1, {"loss": 1.0})
        runner.wait_for(1, MetricReport)
    assert not any(isinstance(record, CheckpointReport) for record in runner.records)


def test_a_link_that_leads_nowhere_since_the_start_is_named(task: Task, runner: Any, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (tmp_path / "checkpoints").symlink_to(place)
    task()
    with core.init() as context:
        _save(context)
        place.rename(tmp_path / "moved")
        with pytest.raises(NotADirectoryError, match=f"checkpoints is a link to {place}, which is no directory"):
            _save(context, 2)


@pytest.mark.parametrize("shard", [False, True])
def test_a_disk_without_room_is_named_in_the_error(
    task: Task, runner: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shard: bool
) -> None:
    store = tmp_path / "checkpoints"
    task()
    with core.init() as context:
        saving = context.checkpoint.store_path({"steps_completed": 1}, shard=shard)
        with pytest.raises(OSError, match="No space left") as failed, saving:
            raise OSError(errno.ENOSPC, "No space left on device")
        assert f"checkpoint storage {store} is full" in failed.value.__notes__[0]
        assert list(store.iterdir()) == []
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        try:
            saving = context.checkpoint.store_path({"steps_completed": 1}, shard=shard)
            with pytest.raises(OSError, match="File too large"), saving as (path, _):
                (path / "model").write_bytes(bytes(200_000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert list(store.iterdir()) == []
    assert not any(isinstance(record, CheckpointReport) for record in runner.records)
