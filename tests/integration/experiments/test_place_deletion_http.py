"""Workspaces and projects are deleted with the experiments in them, by who may delete those, or the reason is shown."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def place(user: Any, new_project: Any) -> tuple[int, int]:
    """A workspace and a project in it."""
    project = new_project(user)
    return int(user.get(f"/api/v1/projects/{project}").json["project"]["workspaceId"]), project


@pytest.fixture
def delete_until() -> Callable[[Callable[[], bool]], None]:
    """Wait until the master's own deleter has come so far."""

    def wait(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < deadline, "the deleter did not get there"
            time.sleep(0.02)

    return wait


def test_a_workspace_goes_with_its_experiments_and_their_files(
    user: Any, submit: Any, first_trial: Any, checkpoint: Any, place: tuple[int, int], delete_until: Any
) -> None:
    workspace, project = place
    made = [submit(user, projectId=project)["experiment"]["id"] for _ in range(3)]
    trial = first_trial(user, made[0])
    stored = checkpoint(user, trial, 1)
    config = user.get(f"/api/v1/experiments/{made[0]}").json["experiment"]["config"]["checkpoint_storage"]
    refused = user.delete(f"/api/v1/workspaces/{workspace}")
    assert refused.status == 400 and "not over (1, 2, 3)" in refused.message, refused.raw
    for experiment in made:
        user.post(f"/api/v1/experiments/{experiment}/kill")
    assert user.delete(f"/api/v1/workspaces/{workspace}").json == {"completed": False}
    again = user.post("/api/v1/workspaces/1/projects", {"name": "x", "workspaceId": workspace})
    assert again.status != 200
    delete_until(lambda: user.get(f"/api/v1/workspaces/{workspace}").status == 404)
    assert user.get(f"/api/v1/projects/{project}").status == 404
    assert {user.get(f"/api/v1/experiments/{experiment}").status for experiment in made} == {404}
    assert not (Path(config["host_path"]) / (config.get("storage_path") or "") / stored).exists()


def test_a_workspace_with_experiments_of_others_is_not_deleted_by_its_owner(
    user: Any, admin: Any, submit: Any, place: tuple[int, int], delete_until: Any
) -> None:
    workspace, project = place
    made = submit(admin, projectId=project)["experiment"]["id"]
    admin.post(f"/api/v1/experiments/{made}/kill")
    for path in (f"/api/v1/workspaces/{workspace}", f"/api/v1/projects/{project}"):
        refused = user.delete(path)
        assert refused.status == 403 and f"experiments of others ({made})" in refused.message, refused.raw
    assert admin.delete(f"/api/v1/projects/{project}").json == {"completed": False}
    delete_until(lambda: user.get(f"/api/v1/projects/{project}").status == 404)
    assert user.delete(f"/api/v1/workspaces/{workspace}").json == {"completed": True}


def test_files_that_cannot_be_deleted_leave_a_reason_and_a_second_try(
    user: Any, submit: Any, first_trial: Any, checkpoint: Any, place: tuple[int, int], tmp_path: Path, delete_until: Any
) -> None:
    workspace, project = place
    base = tmp_path / "store"
    base.mkdir()
    storage = {"type": "shared_fs", "host_path": str(base)}
    made = submit(user, projectId=project, checkpoint_storage=storage)["experiment"]["id"]
    checkpoint(user, first_trial(user, made), 1)
    user.post(f"/api/v1/experiments/{made}/kill")
    shutil.move(base, tmp_path / "away")
    base.write_text("a file where the directory was")

    def shown() -> dict[str, Any]:
        found: dict[str, Any] = user.get(f"/api/v1/workspaces/{workspace}").json["workspace"]
        return found

    assert user.delete(f"/api/v1/workspaces/{workspace}").json == {"completed": False}
    delete_until(lambda: shown()["state"] == "WORKSPACE_STATE_DELETE_FAILED")
    assert f"experiment {made}: its files could not be deleted" in shown()["errorMessage"]
    base.unlink()
    shutil.move(tmp_path / "away", base)
    assert user.delete(f"/api/v1/workspaces/{workspace}").json == {"completed": False}
    delete_until(lambda: user.get(f"/api/v1/workspaces/{workspace}").status == 404)
