"""Trials look for the checkpoint that they start from in the storage of their own experiment: it must be there."""

import json
import shutil
import uuid
from pathlib import Path
from typing import Any

import pytest


def _section(place: Path) -> dict[str, Any]:
    return {"type": "shared_fs", "host_path": str(place)}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path / "here"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "there"


@pytest.fixture
def trial(user: Any, submit: Any, first_trial: Any, here: Path) -> dict[str, Any]:
    """The trial of an experiment that has ended; it saves in `here`."""
    found: dict[str, Any] = first_trial(user, submit(user, checkpoint_storage=_section(here))["experiment"]["id"])
    return found


@pytest.fixture
def saved(user: Any, trial: dict[str, Any], checkpoint: Any) -> str:
    name: str = checkpoint(user, trial, 5)
    assert user.post(f"/api/v1/experiments/{trial['experimentId']}/kill").status == 200
    return name


def _continue(user: Any, trial: dict[str, Any], storage: dict[str, Any]) -> Any:
    override = json.dumps({"checkpoint_storage": storage})
    return user.post("/api/v1/experiments/continue", {"id": trial["experimentId"], "overrideConfig": override})


def test_an_experiment_is_not_continued_with_a_storage_that_lacks_its_checkpoint(
    user: Any, trial: dict[str, Any], saved: str, here: Path, there: Path
) -> None:
    refused = _continue(user, trial, _section(there))
    assert refused.status == 400
    assert f"checkpoint {saved}" in refused.message and str(here) in refused.message and str(there) in refused.message
    assert f"copy the directory {saved}" in refused.message
    shown = user.get(f"/api/v1/experiments/{trial['experimentId']}").json["experiment"]
    assert (shown["state"], shown["config"]["checkpoint_storage"]["host_path"]) == ("STATE_CANCELED", str(here))


def test_an_experiment_is_continued_where_its_checkpoint_was_copied_to(
    user: Any, trial: dict[str, Any], saved: str, here: Path, there: Path
) -> None:
    shutil.copytree(here / saved, there / saved)
    assert _continue(user, trial, _section(there)).status == 200


def test_other_rules_for_what_to_keep_are_no_other_storage(
    user: Any, trial: dict[str, Any], saved: str, here: Path
) -> None:
    shutil.rmtree(here / saved)  # nobody looks: whether it is still there is for the run to see
    assert _continue(user, trial, {**_section(here), "save_trial_best": 3}).status == 200


@pytest.mark.parametrize("key", ["source_trial_id", "source_checkpoint_uuid"])
def test_no_experiment_starts_from_a_checkpoint_of_another_storage(
    user: Any, config: Any, trial: dict[str, Any], saved: str, here: Path, there: Path, key: str
) -> None:
    start = {"source_trial_id": trial["id"], "source_checkpoint_uuid": saved}[key]
    searcher = {"name": "single", "metric": "loss", key: start}
    asked = config(searcher=searcher, checkpoint_storage=_section(there))
    body = {"config": json.dumps(asked), "modelDefinition": []}
    refused = user.post("/api/v1/experiments", body)
    assert refused.status == 400
    assert f"searcher.{key}: checkpoint {saved} was saved in {here}" in refused.message
    [problem] = user.post("/api/v1/experiments/dry-run", {"config": asked}).json["problems"]
    assert saved in problem["message"]
    shutil.copytree(here / saved, there / saved)
    assert user.post("/api/v1/experiments", body).status == 200


def test_a_storage_that_the_script_itself_has_chosen_is_left_to_the_script(
    user: Any, submit: Any, trial: dict[str, Any], tmp_path: Path, there: Path
) -> None:
    own = {"type": "directory", "container_path": str(tmp_path / "own")}
    body = {"runId": trial["id"], "checkpointStorage": own}
    storage_id = user.post("/api/v1/runs/start", body).json["storageId"]
    report = {
        "uuid": str(uuid.uuid4()),
        "taskId": trial["taskId"],
        "metadata": {"steps_completed": 1},
        "resources": {},
        "storageId": storage_id,
    }
    answer = user.post("/api/v1/checkpoints", report)
    assert answer.status == 200, answer.raw
    searcher = {"name": "single", "metric": "loss", "source_trial_id": trial["id"]}
    assert submit(user, searcher=searcher, checkpoint_storage=_section(there))["messages"] == []


def test_a_storage_that_the_master_cannot_look_into_is_taken_with_a_warning(
    user: Any, submit: Any, trial: dict[str, Any], saved: str, here: Path
) -> None:
    searcher = {"name": "single", "metric": "loss", "source_checkpoint_uuid": saved}
    bucket = {"type": "s3", "bucket": "weights"}
    [told] = submit(user, searcher=searcher, checkpoint_storage=bucket)["messages"]
    assert told.startswith(f"searcher.source_checkpoint_uuid: checkpoint {saved} was saved in {here}")
    assert "look in the s3 storage weights" in told
