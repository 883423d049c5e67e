"""Deleting files: on request, by keep policy, with the whole experiment; and when the storage fails."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from determined.master.background.checkpoint_gc import ATTEMPTS, GarbageCollector
from determined.master.background.deletion import ExperimentDeleter
from determined.master.db.queries import checkpoint as checkpoint_rows
from determined.master.db.queries import storage_backend
from determined.master.lifecycle import checkpoint as lifecycle

FAR_AWAY = "3f1d2a8e-0000-4000-8000-000000000008"


@pytest.fixture
def trial(user: Any, submit: Any, first_trial: Any) -> dict[str, Any]:
    found: dict[str, Any] = first_trial(user, submit(user)["experiment"]["id"])
    return found


@pytest.fixture
def collect_until(master: Any) -> Callable[[Callable[[], bool]], None]:
    """Let the collector work until a condition holds. The master's own collector may work at the same time."""

    def run(condition: Callable[[], bool]) -> None:
        collector = GarbageCollector(master.ctx)
        deadline = time.monotonic() + 60
        while True:
            asyncio.run(collector.step())
            if condition():
                return
            assert time.monotonic() < deadline, "the collector did not get there"
            time.sleep(0.05)

    return run


def directory(client: Any, trial: dict[str, Any]) -> Path:
    config = client.get(f"/api/v1/experiments/{trial['experimentId']}").json["experiment"]["config"]
    found = config["checkpoint_storage"]
    return Path(found["host_path"]) / (found.get("storage_path") or "")


def states(client: Any, trial: dict[str, Any]) -> dict[int, str]:
    found = client.get(f"/api/v1/trials/{trial['id']}/checkpoints").json["checkpoints"]
    return {c["metadata"]["steps_completed"]: c["state"].removeprefix("STATE_") for c in found}


def test_a_deleted_checkpoint_loses_its_files(
    user: Any, trial: dict[str, Any], checkpoint: Any, collect_until: Any
) -> None:
    kept, gone = checkpoint(user, trial, 1), checkpoint(user, trial, 2)
    answer = user.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [gone]})
    assert answer.status == 200, answer.raw
    collect_until(lambda: states(user, trial) == {1: "COMPLETED", 2: "DELETED"})
    base = directory(user, trial)
    assert (base / kept).is_dir()
    assert not (base / gone).exists()
    refused = user.get(f"/checkpoints/{gone}")
    assert refused.status == 400
    assert "DELETED" in refused.message


def test_a_checkpoint_about_to_go_is_not_resumed_from(
    user: Any, trial: dict[str, Any], checkpoint: Any, submit: Any, first_trial: Any
) -> None:
    older, newer = checkpoint(user, trial, 1), checkpoint(user, trial, 2)
    user.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [newer]})
    searcher = {"name": "single", "metric": "loss", "source_trial_id": trial["id"]}
    second = first_trial(user, submit(user, searcher=searcher)["experiment"]["id"])
    assert second["warmStartCheckpointUuid"] == older


def test_globs_remove_some_files(user: Any, trial: dict[str, Any], checkpoint: Any, collect_until: Any) -> None:
    uuid = checkpoint(user, trial, 1, files={"a.bin": b"1", "b.txt": b"22"})
    body = {"checkpointUuids": [uuid], "checkpointGlobs": ["*.bin"]}
    assert user.post("/api/v1/checkpoints/rm", body).status == 200
    collect_until(lambda: states(user, trial) == {1: "PARTIALLY_DELETED"})
    found = user.get(f"/api/v1/checkpoints/{uuid}").json["checkpoint"]
    assert "a.bin" not in found["resources"]
    assert found["resources"]["b.txt"] == "2"
    for glob in ("", "../x", "a/../../b"):
        wrong = {"checkpointUuids": [uuid], "checkpointGlobs": [glob]}
        assert user.post("/api/v1/checkpoints/rm", wrong).status == 400


def test_no_globs_only_look_which_files_are_there(
    user: Any, trial: dict[str, Any], checkpoint: Any, collect_until: Any
) -> None:
    uuid = checkpoint(user, trial, 1)
    (directory(user, trial) / uuid / "weights.bin").unlink()
    assert user.post("/api/v1/checkpoints/rm", {"checkpointUuids": [uuid], "checkpointGlobs": []}).status == 200
    collect_until(lambda: states(user, trial) == {1: "PARTIALLY_DELETED"})


def test_deleting_what_is_not_there_or_not_ours_is_refused(
    master: Any, admin: Any, user: Any, trial: dict[str, Any], checkpoint: Any
) -> None:
    uuid = checkpoint(user, trial, 1)
    missing = user.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [uuid, "nope"]})
    assert missing.status == 404
    assert "nope" in missing.message
    assert user.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": []}).status == 400
    admin.post("/api/v1/users", {"user": {"username": "eve", "admin": False, "active": True}, "password": ""})
    eve = master.client("eve")
    assert eve.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [uuid]}).status == 403


def test_the_keep_policy_is_applied_when_the_experiment_ends(
    user: Any, trial: dict[str, Any], checkpoint: Any, validate: Any, collect_until: Any
) -> None:
    for step, loss in ((1, 3.0), (2, 1.0), (3, 2.0)):
        validate(trial["id"], step, loss=loss)
        checkpoint(user, trial, step)
    checkpoint(user, trial, 4)
    collect_until(lambda: True)
    assert set(states(user, trial).values()) == {"COMPLETED"}
    user.post(f"/api/v1/experiments/{trial['experimentId']}/kill")
    kept = {1: "DELETED", 2: "COMPLETED", 3: "DELETED", 4: "COMPLETED"}
    collect_until(lambda: states(user, trial) == kept)


def test_a_new_policy_takes_effect_at_once_but_spares_what_a_live_trial_needs(
    user: Any, trial: dict[str, Any], checkpoint: Any, collect_until: Any
) -> None:
    for step in (1, 2, 3):
        checkpoint(user, trial, step)
    path = f"/experiments/{trial['experimentId']}"
    policy = {"save_experiment_best": 0, "save_trial_best": 0, "save_trial_latest": 0}
    preview = user.get(f"{path}/preview_gc", fields=policy).json
    assert preview["metric_name"] == "loss"
    assert sorted(c["StepsCompleted"] for c in preview["checkpoints"]) == [1, 2]
    body = {"checkpointStorage": {"saveExperimentBest": 0, "saveTrialBest": 0, "saveTrialLatest": 0}}
    changed = user.patch(f"/api/v1{path}", body)
    assert changed.json["experiment"]["config"]["checkpoint_storage"]["save_trial_latest"] == 0
    collect_until(lambda: states(user, trial) == {1: "DELETED", 2: "DELETED", 3: "COMPLETED"})
    assert user.patch(f"/api/v1{path}", {"checkpointStorage": {"saveTrialBest": -1}}).status == 400
    user.post(f"/api/v1{path}/kill")
    collect_until(lambda: set(states(user, trial).values()) == {"DELETED"})


def test_a_warm_start_checkpoint_outlives_its_experiment(
    user: Any, trial: dict[str, Any], checkpoint: Any, submit: Any, collect_until: Any
) -> None:
    used = checkpoint(user, trial, 1)
    searcher = {"name": "single", "metric": "loss", "source_checkpoint_uuid": used}
    submit(user, searcher=searcher)
    checkpoint(user, trial, 2)
    checkpoint(user, trial, 3)
    user.post(f"/api/v1/experiments/{trial['experimentId']}/kill")
    collect_until(lambda: states(user, trial) == {1: "COMPLETED", 2: "DELETED", 3: "COMPLETED"})


@pytest.fixture
def unreachable(user: Any, trial: dict[str, Any], write: Any) -> str:
    """A checkpoint in a store that this master cannot open."""

    def register(conn: Connection) -> int:
        made = storage_backend.ensure(conn, {"type": "tape"})
        storage_backend.allow(conn, trial["id"], made)
        return made

    storage_id = write(register)
    report = {
        "uuid": FAR_AWAY,
        "taskId": trial["taskId"],
        "metadata": {"steps_completed": 1},
        "resources": {"w": "7"},
        "storageId": storage_id,
    }
    assert user.post("/api/v1/checkpoints", report).status == 200
    return FAR_AWAY


def test_files_that_cannot_be_deleted_leave_an_error(
    master: Any, user: Any, trial: dict[str, Any], unreachable: str
) -> None:
    user.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [unreachable]})
    clock = Hurried(master.ctx.clock)

    async def run() -> None:
        collector = GarbageCollector(replace(master.ctx, clock=clock))
        for _ in range(ATTEMPTS):
            assert await collector.step() == 1
        assert await collector.step() == 0

    asyncio.run(run())
    assert states(user, trial) == {1: "ERROR"}
    assert user.get(f"/api/v1/trials/{trial['id']}").json["trial"]["bestCheckpoint"] is None


def test_a_failed_attempt_is_not_repeated_at_once(master: Any, user: Any, unreachable: str) -> None:
    user.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [unreachable]})
    clock = Stopped(master.ctx.clock.now())

    async def run() -> list[int]:
        collector = GarbageCollector(replace(master.ctx, clock=clock))
        handled = [await collector.step(), await collector.step()]
        clock.moment += timedelta(seconds=3)
        return [*handled, await collector.step()]

    assert asyncio.run(run()) == [1, 0, 1]


def test_deleting_an_experiment_removes_files_and_rows(
    master: Any, user: Any, trial: dict[str, Any], checkpoint: Any
) -> None:
    uuid = checkpoint(user, trial, 1)
    experiment = trial["experimentId"]
    base = directory(user, trial)
    board = base / master.ctx.cluster.cluster_id / "tensorboard" / "experiment" / str(experiment) / "trial" / "1"
    board.mkdir(parents=True)
    (board / "events.out").write_bytes(b"x")
    user.post(f"/api/v1/experiments/{experiment}/kill")
    assert user.delete(f"/api/v1/experiments/{experiment}").status == 200
    delete_until(master, lambda: user.get(f"/api/v1/experiments/{experiment}").status == 404)
    for path in (f"experiments/{experiment}", f"trials/{trial['id']}", f"checkpoints/{uuid}"):
        assert user.get(f"/api/v1/{path}").status == 404
    assert not (base / uuid).exists()
    assert not board.exists()


def test_a_failed_deletion_may_be_asked_for_again(
    master: Any, user: Any, trial: dict[str, Any], unreachable: str, write: Any
) -> None:
    path = f"/api/v1/experiments/{trial['experimentId']}"
    user.post(f"{path}/kill")
    assert user.delete(path).status == 200

    def failed() -> bool:
        return bool(user.get(path).json["experiment"]["state"] == "STATE_DELETE_FAILED")

    delete_until(master, failed)
    write(lambda conn: lifecycle.files_left(conn, unreachable, {}))
    assert user.delete(path).status == 200
    delete_until(master, lambda: user.get(path).status == 404)


def test_tensorboard_files_are_deleted_on_request(master: Any, user: Any, trial: dict[str, Any]) -> None:
    experiment = trial["experimentId"]
    board = directory(user, trial) / master.ctx.cluster.cluster_id / "tensorboard/experiment" / str(experiment)
    board.mkdir(parents=True)
    (board / "events").write_bytes(b"x")
    assert user.delete(f"/api/v1/experiments/{experiment}/tensorboard-files").status == 200
    assert not board.exists()
    assert user.delete("/api/v1/experiments/99/tensorboard-files").status == 404


@dataclass
class Stopped:
    """A clock that only the test moves."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment


class Hurried:
    """A clock that a minute passes on between looks."""

    def __init__(self, real: Any) -> None:
        self._real, self._minutes = real, 0

    def now(self) -> datetime:
        self._minutes += 1
        moment: datetime = self._real.now() + timedelta(minutes=self._minutes)
        return moment


def delete_until(master: Any, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the deletion did not get there"
        asyncio.run(ExperimentDeleter(master.ctx).step())


def test_what_killed_uploads_left_is_swept_once_a_day(user: Any, master: Any, trial: dict[str, Any]) -> None:
    base = directory(user, trial)
    left = base / ".staging-3f1d2a8e-0000-4000-8000-000000000009"

    def look(collector: GarbageCollector, days: float) -> bool:
        ctx = collector.ctx
        now = datetime.now(tz=ctx.clock.now().tzinfo) + timedelta(days=days)
        collector.ctx = replace(ctx, clock=type("Later", (), {"now": staticmethod(lambda: now)})())
        asyncio.run(collector.step())
        collector.ctx = ctx
        return left.exists()

    left.mkdir(parents=True)
    collector = GarbageCollector(master.ctx)
    assert look(collector, 6.9), "somebody may still write there"
    assert look(collector, 7.5), "it was looked at less than a day before"
    assert not look(collector, 8)


def remove(client: Any, uuid: str, *globs: str) -> Any:
    body = {"checkpointUuids": [uuid], "checkpointGlobs": list(globs)}
    return client.call("POST", "/api/v1/checkpoints/rm", body)


def shown(client: Any, uuid: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/api/v1/checkpoints/{uuid}").json["checkpoint"]
    return found


def sizes(client: Any, trial: dict[str, Any]) -> tuple[int, int]:
    """(of the trial, of the experiment)."""
    one = client.get(f"/api/v1/trials/{trial['id']}").json["trial"]
    all_of_it = client.get(f"/api/v1/experiments/{trial['experimentId']}").json["experiment"]
    return int(one["totalCheckpointSize"]), int(all_of_it["checkpointSize"])


def test_a_full_deletion_keeps_what_it_held_and_takes_its_size_away(
    user: Any, trial: dict[str, Any], checkpoint: Any, collect_until: Any
) -> None:
    uuid, other = checkpoint(user, trial, 1), checkpoint(user, trial, 2, files={"w": b"123"})
    before, size = shown(user, uuid), sizes(user, trial)
    own = sum(map(int, before["resources"].values()))
    assert remove(user, uuid, "**/*").status == 200
    collect_until(lambda: shown(user, uuid)["state"] == "STATE_DELETED")
    assert shown(user, uuid)["resources"] == before["resources"]
    assert not (directory(user, trial) / uuid).exists()
    assert sizes(user, trial) == (size[0] - own, size[1] - own)
    steps = user.get(f"/api/v1/trials/{trial['id']}/workloads?includeBatchMetrics=false").json["workloads"]
    listed = {w["checkpoint"]["uuid"]: w["checkpoint"]["state"] for w in steps if w.get("checkpoint")}
    assert listed == {uuid: "STATE_DELETED", other: "STATE_COMPLETED"}


def test_looking_again_finds_files_that_are_gone(
    user: Any, trial: dict[str, Any], checkpoint: Any, collect_until: Any
) -> None:
    uuid = checkpoint(user, trial, 1)
    before, size = shown(user, uuid), sizes(user, trial)
    (directory(user, trial) / uuid / "weights.bin").unlink()
    assert remove(user, uuid).status == 200
    collect_until(lambda: shown(user, uuid)["state"] == "STATE_PARTIALLY_DELETED")
    left = {path: size for path, size in before["resources"].items() if path != "weights.bin"}
    assert shown(user, uuid)["resources"] == left
    assert sizes(user, trial) == (size[0] - 10, size[1] - 10)


def test_metadata_that_was_not_reported_is_no_change(
    user: Any, trial: dict[str, Any], checkpoint: Any, collect_until: Any, write: Any
) -> None:
    uuid = checkpoint(user, trial, 1)
    reported = {path: int(size) for path, size in shown(user, uuid)["resources"].items() if path != "metadata.json"}
    write(lambda conn: checkpoint_rows.update_row(conn, uuid, {"resources": reported}))
    assert remove(user, uuid).status == 200
    collect_until(lambda: write(lambda conn: checkpoint_rows.pending_deletions(conn, 1)) == [])
    assert shown(user, uuid)["state"] == "STATE_COMPLETED"
    assert shown(user, uuid)["resources"].keys() == reported.keys()


def test_globs_that_match_leave_the_rest_and_wrong_ones_are_refused(
    user: Any, trial: dict[str, Any], checkpoint: Any, collect_until: Any
) -> None:
    uuid = checkpoint(user, trial, 1)
    assert [remove(user, uuid, glob).status for glob in ("", "../*", "a/../../b")] == [400, 400, 400]
    assert remove(user, uuid, "**/*state*").status == 200
    collect_until(lambda: shown(user, uuid)["state"] == "STATE_PARTIALLY_DELETED")
    assert "sub/state" not in shown(user, uuid)["resources"] and "weights.bin" in shown(user, uuid)["resources"]


@pytest.mark.parametrize(("rising", "kept"), [(False, {8, 9, 10}), (True, {1, 2, 3, 9, 10})])
def test_policies_keep_the_best_of_the_experiment_and_the_latest_of_the_trial(
    user: Any, submit: Any, first_trial: Any, checkpoint: Any, validate: Any, collect_until: Any, tmp_path: Path,
    rising: bool, kept: set[int],
) -> None:  # fmt: skip
    storage = {
        "type": "shared_fs", "host_path": str(tmp_path / "c"),
        "save_experiment_best": 3, "save_trial_best": 0, "save_trial_latest": 2,
    }  # fmt: skip
    trial = first_trial(user, submit(user, checkpoint_storage=storage)["experiment"]["id"])
    for step in range(1, 11):
        validate(trial["id"], step, loss=float(step if rising else 100 - step))
        checkpoint(user, trial, step, files={"w": b"1"})
    user.post(f"/api/v1/experiments/{trial['experimentId']}/kill")
    name = f"Checkpoint GC (Experiment {trial['experimentId']})"
    seen: list[bool] = []

    def is_done() -> bool:
        seen.append(any(task["name"] == name for task in user.get("/tasks").json.values()))
        found = states(user, trial)
        return {step for step, state in found.items() if state == "COMPLETED"} == kept

    collect_until(is_done)
    assert any(seen), "the deletion is shown as a task"
    gone = set(range(1, 11)) - kept
    assert {step for step, state in states(user, trial).items() if state == "DELETED"} == gone
    assert len([path for path in (tmp_path / "c").iterdir() if len(path.name) == 36 and path.is_dir()]) >= len(kept)
    assert all(c["storageId"] is not None for c in _listed(user, trial))


def test_an_experiment_that_lets_nothing_go_is_not_shown_as_a_deletion(
    user: Any, trial: dict[str, Any], checkpoint: Any, collect_until: Any
) -> None:
    checkpoint(user, trial, 1)
    user.post(f"/api/v1/experiments/{trial['experimentId']}/kill")
    collect_until(lambda: user.get(f"/api/v1/experiments/{trial['experimentId']}").json["experiment"]["endTime"])
    assert not any("Checkpoint GC" in task["name"] for task in user.get("/tasks").json.values())


def _listed(client: Any, trial: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/api/v1/trials/{trial['id']}/checkpoints").json["checkpoints"]
    return found
