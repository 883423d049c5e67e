"""Deletion of checkpoints on request: whole ones, files by glob; and when the storage fails."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from stored_checkpoints import directory, states

from determined.master.background.checkpoint_gc import ATTEMPTS, GarbageCollector
from determined.master.db.queries import checkpoint as checkpoint_rows


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


def test_a_glob_that_makes_no_sense_is_refused_and_costs_no_checkpoint(
    user: Any, trial: dict[str, Any], checkpoint: Any, collect_until: Any
) -> None:
    uuid = checkpoint(user, trial, 1)
    refused = remove(user, uuid, "weights.bin", "[z-a]")
    assert refused.status == 400
    assert "glob '[z-a]' is refused" in refused.message
    collect_until(lambda: True)
    assert shown(user, uuid)["state"] == "STATE_COMPLETED"
    assert "weights.bin" in shown(user, uuid)["resources"]
