"""Checkpoint storages in which nothing would be found again are refused wherever a config comes in."""

import json
from pathlib import Path
from typing import Any

import pytest

from determined.errors import InvalidConfig
from determined.master.config import load_master_config
from determined.master.db.queries import experiment as experiments

BAD = [
    ({"type": "shared_fs", "host_path": "~/checkpoints"}, "host_path", "~/checkpoints"),
    ({"type": "shared_fs", "host_path": "relative/dir"}, "host_path", "relative/dir"),
    ({"type": "directory", "container_path": "rel/ckpt"}, "container_path", "rel/ckpt"),
]
OUTSIDE = {"type": "shared_fs", "host_path": "/data", "storage_path": "a/../../x"}


def _post(client: Any, config: dict[str, Any], **more: Any) -> Any:
    return client.post("/api/v1/experiments", {"config": json.dumps(config), "modelDefinition": [], **more})


@pytest.mark.parametrize(("storage", "key", "value"), BAD)
def test_a_path_that_is_not_absolute_is_refused_at_submit(
    user: Any, config: Any, storage: dict[str, Any], key: str, value: str
) -> None:
    asked = config(checkpoint_storage=storage)
    for more in ({}, {"validateOnly": True}, {"unmanaged": True}):
        answer = _post(user, asked, **more)
        assert answer.status == 400
        assert f"<config>.checkpoint_storage.{key}: must be absolute, not `{value}`" in answer.raw.decode()
    [problem] = user.post("/api/v1/experiments/dry-run", {"config": asked}).json["problems"]
    assert problem["path"] == f"checkpoint_storage.{key}" and "must be absolute" in problem["message"]


def test_a_storage_path_that_climbs_out_is_refused_at_submit(user: Any, config: Any) -> None:
    answer = _post(user, config(checkpoint_storage=OUTSIDE))
    assert answer.status == 400
    assert "must be a subdirectory of host_path `/data`, not `a/../../x`" in answer.raw.decode()


def test_a_workspace_cannot_have_such_a_storage(user: Any) -> None:
    body = {"name": "w", "checkpointStorageConfig": BAD[0][0]}
    answer = user.post("/api/v1/workspaces", body)
    assert answer.status == 400 and "must be absolute" in answer.raw.decode()


def test_a_master_does_not_start_with_such_a_storage() -> None:
    with pytest.raises(InvalidConfig, match="must be absolute, not `~/c`"):
        load_master_config({"checkpoint_storage": {"type": "shared_fs", "host_path": "~/c"}}, {}, {})


def test_a_script_cannot_choose_such_a_storage_for_its_run(user: Any, submit: Any, first_trial: Any) -> None:
    trial = first_trial(user, submit(user)["experiment"]["id"])
    body = {"runId": trial["id"], "checkpointStorage": {"type": "directory", "container_path": "here"}}
    answer = user.post("/api/v1/runs/start", body)
    assert answer.status == 400 and "must be absolute, not `here`" in answer.raw.decode()


@pytest.mark.parametrize("kind", ["shared_fs", "directory"])
def test_a_storage_inside_run_directories_is_refused_at_submit(
    master: Any, user: Any, config: Any, tmp_path: Path, kind: str
) -> None:
    runs = Path(master.ctx.config.data_dir) / "runs"
    link = tmp_path / "looks-harmless"
    link.symlink_to(runs)
    key = "host_path" if kind == "shared_fs" else "container_path"
    for path in (runs, runs / "1.x" / "workdir", link / "1.x"):
        answer = _post(user, config(checkpoint_storage={"type": kind, key: str(path)}))
        assert answer.status == 400
        assert f"checkpoint_storage.{key}: {path} lies inside" in answer.raw.decode()
        assert "deleted when the task ends" in answer.raw.decode()


@pytest.fixture
def old(user: Any, submit: Any, write: Any) -> int:
    """An experiment that an earlier release has accepted with a relative path."""
    experiment_id = int(submit(user)["experiment"]["id"])

    def spoil(conn: Any) -> None:
        active = experiments.get(conn, experiment_id).config
        active = {**active, "checkpoint_storage": {**active["checkpoint_storage"], "host_path": "~/old"}}
        experiments.update_row(conn, experiment_id, {"config": active})

    write(spoil)
    return experiment_id


def test_one_that_was_accepted_before_is_shown_and_not_started(user: Any, old: int, first_trial: Any) -> None:
    shown = user.get(f"/api/v1/experiments/{old}")
    assert shown.json["experiment"]["config"]["checkpoint_storage"]["host_path"] == "~/old"
    assert old in [one["id"] for one in user.get("/api/v1/experiments").json["experiments"]]
    assert first_trial(user, old)["experimentId"] == old
    answer = user.post(f"/api/v1/experiments/{old}/activate")
    assert answer.status == 400
    assert "checkpoint_storage.host_path: must be absolute, not `~/old`" in answer.raw.decode()


def test_one_that_was_accepted_before_is_neither_reproduced_nor_forked(user: Any, old: int) -> None:
    assert "must be absolute" in user.post(f"/api/v1/experiments/{old}/reproduce", {}).raw.decode()
    stored = user.get(f"/api/v1/experiments/{old}").json["experiment"]["config"]
    assert "must be absolute" in _post(user, stored, parentId=old).raw.decode()


def test_one_that_was_accepted_before_is_continued_with_another_path_alone(user: Any, old: int, tmp_path: Path) -> None:
    assert user.post(f"/api/v1/experiments/{old}/kill").status == 200
    refused = user.post("/api/v1/experiments/continue", {"id": old})
    assert refused.status == 400 and "must be absolute" in refused.raw.decode()
    better = {"checkpoint_storage": {"type": "shared_fs", "host_path": str(tmp_path / "c")}}
    answer = user.post("/api/v1/experiments/continue", {"id": old, "overrideConfig": json.dumps(better)})
    assert answer.status == 200, answer.raw
