"""A task of the master's own machine reports a checkpoint: the master looks for its files before it writes a row."""

import json
import os
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tracked import IdleEngine, Tracked, one, submit, write

from determined import storage
from determined.master.services import checkpoint_check, storage_check_threads
from determined.storage.manifest import MANIFEST_NAME
from determined.wire.report import CheckpointReport, LogLine, Segment


class HereEngine(IdleEngine):
    """By its name the engine of this machine."""

    name = "local"


@pytest.fixture
def engine() -> IdleEngine:
    return HereEngine()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def trial(master: Any, engine: IdleEngine, place: Path) -> Tracked:
    return submit(master, engine, checkpoint_storage={"type": "shared_fs", "host_path": str(place)})


def _save(place: Path) -> CheckpointReport:
    manager, name = storage.from_string(str(place)), str(uuid.uuid4())
    with manager.store_path(name) as path:
        (path / "weights").write_text("w" * 10)
        (path / "metadata.json").write_text(json.dumps({"steps_completed": 1}))
    return CheckpointReport(name, 1, {}, {e.path: e.size for e in manager.entries(name)}, 1.0)


def _states(admin: Any, trial: Tracked) -> dict[str, str]:
    found = admin.get(f"/api/v1/trials/{trial.trial_id}/checkpoints").json["checkpoints"]
    return {c["uuid"]: c["state"] for c in found}


def _log(admin: Any, trial: Tracked) -> str:
    return "\n".join(r["result"]["log"] for r in admin.lines(f"/api/v1/trials/{trial.trial_id}/logs"))


def test_one_that_is_there_is_taken(trial: Tracked, admin: Any, place: Path) -> None:
    record = _save(place)
    assert trial.send(record)["refused"] == {}
    assert _states(admin, trial) == {record.uuid: "STATE_COMPLETED"}


def test_one_of_which_nothing_is_there_is_refused_with_the_reason(trial: Tracked, admin: Any, place: Path) -> None:
    record = CheckpointReport(str(uuid.uuid4()), 1, {}, {"weights": 10}, 1.0)
    reason = trial.send(record, LogLine("on it goes", 1.0))["refused"][record.uuid]
    assert f"{place}/{record.uuid} does not exist" in reason or str(place) in reason
    assert "checkpoint_storage" in reason
    assert _states(admin, trial) == {}
    assert f"checkpoint {record.uuid} was dropped: the master does not see it" in _log(admin, trial)
    assert "on it goes" in _log(admin, trial)
    assert one(trial.master, f"SELECT latest_checkpoint FROM trials WHERE id = {trial.trial_id}") is None


@pytest.mark.parametrize("what", ["a file", "half a file", "the manifest", "a file nobody wrote"])
def test_one_that_lacks_something_is_refused(trial: Tracked, admin: Any, place: Path, what: str) -> None:
    record = _save(place)
    stored = place / record.uuid
    if what == "a file":
        (stored / "weights").unlink()
    elif what == "half a file":
        (stored / "weights").write_text("w")
    elif what == "the manifest":
        (stored / MANIFEST_NAME).unlink()
        (stored / "metadata.json").unlink()
    else:
        record.resources["optimizer"] = 5
    assert record.uuid in trial.send(record)["refused"]
    assert _states(admin, trial) == {}


def test_a_batch_sent_again_is_answered_the_same(trial: Tracked, admin: Any, place: Path) -> None:
    good, bad = _save(place), CheckpointReport(str(uuid.uuid4()), 1, {}, {}, 1.0)
    segment = Segment("user-1", 1, [good, bad])
    assert [list(trial.post(segment).json["refused"]) for _ in range(3)] == [[bad.uuid]] * 3
    assert _states(admin, trial) == {good.uuid: "STATE_COMPLETED"}
    (place / good.uuid / "weights").unlink()
    assert list(trial.post(segment).json["refused"]) == [bad.uuid], "it was there when it was taken"


def test_a_report_that_a_task_sends_by_itself_is_looked_at_as_well(trial: Tracked, place: Path) -> None:
    headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {trial.launch.token}"}
    good, body = _save(place), {"taskId": trial.task_id, "metadata": {"steps_completed": 1}}
    post: Callable[..., Any] = trial.master.anonymous.post
    for name, status in ((good.uuid, 200), (str(uuid.uuid4()), 400)):
        asked = {**body, "uuid": name, "resources": {"weights": "10"}}
        assert post("/api/v1/checkpoints", asked, headers=headers).status == status


def test_a_storage_that_cannot_be_read_or_does_not_answer_is_left_to_the_word_of_the_task(
    trial: Tracked, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(storage.base.StorageManager, "check", fails)
    record = CheckpointReport(str(uuid.uuid4()), 1, {}, {}, 1.0)
    assert trial.send(record)["refused"] == {}
    monkeypatch.setattr(storage_check_threads, "_free", threading.Semaphore(0))
    other = CheckpointReport(str(uuid.uuid4()), 2, {}, {}, 1.0)
    assert trial.send(other)["refused"] == {}
    assert set(_states(admin, trial)) == {record.uuid, other.uuid}


def test_a_storage_that_does_not_answer_is_waited_for_once_in_a_batch(
    trial: Tracked, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, asked = threading.Event(), []
    monkeypatch.setattr(storage_check_threads, "SECONDS", 0.2)

    def hangs(_self: Any, name: str, _resources: Any) -> None:
        asked.append(name)
        ended.wait(60)

    monkeypatch.setattr(storage.base.StorageManager, "check", hangs)
    records = [CheckpointReport(str(uuid.uuid4()), step, {}, {}, 1.0) for step in range(3)]
    try:
        assert trial.send(*records)["refused"] == {}
    finally:
        ended.set()
    assert asked == [records[0].uuid]
    assert len(_states(admin, trial)) == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has tasks of several users")
def test_a_directory_of_another_user_is_not_taken_as_ones_own(
    master: Any, engine: IdleEngine, admin: Any, tmp_path: Path
) -> None:
    """In the cluster's own storage, which all users share: its names can be listed, its files cannot be read."""
    base = Path(master.ctx.config.data_dir) / "checkpoints"
    trial = submit(master, engine, checkpoint_storage={"type": "shared_fs", "host_path": str(base)})
    link = "UPDATE users SET agent_uid = 2002, agent_gid = 2002, agent_user = 'u', agent_group = 'g' WHERE id = 1"
    write(master, lambda conn: conn.exec_driver_sql(link))
    theirs, mine = _save(base), _save(base)
    for record, uid in ((theirs, 2001), (mine, 2002)):
        os.chown(base / record.uuid, uid, uid)
        (base / record.uuid).chmod(0o700)
    refused = trial.send(theirs, mine)["refused"]
    assert list(refused) == [theirs.uuid] and "belongs to uid 2001, not to uid 2002" in refused[theirs.uuid]
    assert _states(admin, trial) == {mine.uuid: "STATE_COMPLETED"}


class FarEngine(IdleEngine):
    """By its name the engine of other machines."""

    name = "far"


@pytest.fixture
def far_master(start_master: Any, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, IdleEngine]:
    """A master whose tasks run on Ray. It looks again at once."""
    monkeypatch.setattr(checkpoint_check, "_BETWEEN_LOOKS_SECONDS", 0.0)
    engine = FarEngine()
    manager = {"type": "ray", "name": "far", "dashboard_url": "http://ray:1"}
    config = {"resource_manager": manager, "resource_pools": [{"pool_name": "default"}]}
    return start_master(sqlite_url, engine_factory=lambda _ctx: [engine], **config), engine


def test_a_nodes_own_disk_is_refused_where_the_master_has_the_directory(
    far_master: tuple[Any, IdleEngine], place: Path
) -> None:
    """The node has a directory of its own at the same path."""
    master, engine = far_master
    place.mkdir()
    trial = submit(master, engine, checkpoint_storage={"type": "shared_fs", "host_path": str(place)})
    shared, lost = _save(place), CheckpointReport(str(uuid.uuid4()), 1, {}, {"weights": 10}, 1.0)
    refused = trial.send(shared, lost)["refused"]
    assert list(refused) == [lost.uuid] and "the master does not see it" in refused[lost.uuid]
    assert _states(master.client("admin"), trial) == {shared.uuid: "STATE_COMPLETED"}


def test_the_directory_beside_the_database_is_no_storage_for_other_machines(
    far_master: tuple[Any, IdleEngine],
) -> None:
    """It is the default: each node would make one of its own."""
    master, engine = far_master
    default = {"type": "shared_fs", "host_path": str(Path(master.ctx.config.data_dir) / "checkpoints")}
    trial = submit(master, engine, checkpoint_storage=default)
    lost = CheckpointReport(str(uuid.uuid4()), 1, {}, {"weights": 10}, 1.0)
    assert list(trial.send(lost)["refused"]) == [lost.uuid]


def test_a_network_file_system_that_shows_files_late_is_looked_at_again(
    far_master: tuple[Any, IdleEngine], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    master, engine = far_master
    trial = submit(master, engine, checkpoint_storage={"type": "shared_fs", "host_path": str(place)})
    record, looks = _save(place), iter(range(10))
    place.joinpath(record.uuid).rename(place / "on its way")

    def arrives(_seconds: float) -> None:
        if next(looks) == 2:
            (place / "on its way").rename(place / record.uuid)

    monkeypatch.setattr(checkpoint_check, "sleep", arrives)
    assert trial.send(record)["refused"] == {}


def test_a_master_without_the_directory_takes_the_word_of_the_task_and_says_so_at_submit(
    far_master: tuple[Any, IdleEngine], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    master, engine = far_master
    section = {"type": "shared_fs", "host_path": str(place)}
    trial = submit(master, engine, checkpoint_storage=section)
    unseen = CheckpointReport(str(uuid.uuid4()), 1, {}, {"weights": 10}, 1.0)
    assert trial.send(unseen)["refused"] == {}
    config = {"entrypoint": "true", "searcher": {"name": "single", "metric": "x"}, "checkpoint_storage": section}
    body = {"config": json.dumps(config), "modelDefinition": [], "validateOnly": True}
    [said] = master.client("admin").post("/api/v1/experiments", body).json["messages"]
    assert said.startswith(
        f"checkpoint_storage.host_path: the master has no directory {place}, so it can neither check"
    )
    with monkeypatch.context() as patch:
        patch.setattr(storage_check_threads, "_free", threading.Semaphore(0))
        assert master.client("admin").post("/api/v1/experiments", body).json["messages"] == [], "nobody knows"
    place.mkdir()
    assert master.client("admin").post("/api/v1/experiments", body).json["messages"] == []
