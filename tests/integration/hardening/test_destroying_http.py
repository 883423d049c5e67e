"""What makes another's data vanish is for its owner and administrators alone."""

from typing import Any

import pytest

from determined.wire.checkpoint import CheckpointState


@pytest.fixture
def stranger(sqlite_world: Any) -> Any:
    """An ordinary user; the experiment of the world is the administrator's."""
    return sqlite_world.master.client("determined")


def test_a_stranger_deletes_no_checkpoints_by_a_policy_that_keeps_none(sqlite_world: Any, stranger: Any) -> None:
    path = f"/api/v1/experiments/{sqlite_world.trial.experiment_id}"
    policy = {"saveExperimentBest": 0, "saveTrialBest": 0, "saveTrialLatest": 0}
    refused = stranger.patch(path, {"checkpointStorage": policy, "name": "taken"})
    assert refused.status == 403, refused.raw
    assert "owner of experiment" in refused.message
    assert stranger.get(path).json["experiment"]["name"] == "test", "a refused change leaves nothing changed"
    stored = stranger.get(f"/api/v1/checkpoints/{sqlite_world.checkpoint}").json["checkpoint"]
    assert stored["state"] == CheckpointState.COMPLETED
    assert stranger.patch(path, {"notes": "everybody edits texts"}).status == 200
    assert sqlite_world.admin.patch(path, {"checkpointStorage": policy}).status == 200


def test_a_stranger_ends_the_retention_of_no_logs(sqlite_world: Any, stranger: Any) -> None:
    trial = sqlite_world.trial
    none = {"numDays": 0}
    assert stranger.put(f"/api/v1/experiments/{trial.experiment_id}/retain_logs", none).status == 403
    assert stranger.put(f"/api/v1/trials/{trial.trial_id}/retain_logs", none).status == 403
    many = stranger.put(
        "/api/v1/projects/1/experiments/retain_logs", {"experimentIds": [trial.experiment_id], "numDays": 0}
    )
    assert "only the owner" in many.json["results"][0]["error"]
    own = sqlite_world.admin.put(f"/api/v1/experiments/{trial.experiment_id}/retain_logs", none)
    assert own.status == 200, own.raw


def test_a_stranger_deletes_no_tensorboard_files(sqlite_world: Any, stranger: Any) -> None:
    path = f"/api/v1/experiments/{sqlite_world.trial.experiment_id}/tensorboard-files"
    assert stranger.delete(path).status == 403
    assert sqlite_world.admin.delete(path).status == 200


def test_the_log_of_the_master_is_for_administrators(sqlite_world: Any, stranger: Any) -> None:
    assert stranger.get("/api/v1/master/logs").status == 403
    assert sqlite_world.admin.get("/api/v1/master/logs").status == 200
