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
from determined.master.services import checkpoint_check
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
    monkeypatch.setattr(checkpoint_check, "_free", threading.Semaphore(0))
    other = CheckpointReport(str(uuid.uuid4()), 2, {}, {}, 1.0)
    assert trial.send(other)["refused"] == {}
    assert set(_states(admin, trial)) == {record.uuid, other.uuid}


def test_a_storage_that_does_not_answer_is_waited_for_once_in_a_batch(
    trial: Tracked, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, asked = threading.Event(), []
    monkeypatch.setattr(checkpoint_check, "_SECONDS", 0.2)

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
