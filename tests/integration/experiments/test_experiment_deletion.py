"""Deletion of whole experiments: their files, their rows, and again after a failure."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from stored_checkpoints import directory

from determined.master.background.deletion import ExperimentDeleter
from determined.master.lifecycle import checkpoint as lifecycle


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


def delete_until(master: Any, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the deletion did not get there"
        asyncio.run(ExperimentDeleter(master.ctx).step())
