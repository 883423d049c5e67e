"""Checkpoints: report, list, describe, change, download."""

import io
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from determined import storage

NEW = "3f1d2a8e-0000-4000-8000-000000000009"


@pytest.fixture
def trial(user: Any, submit: Any, first_trial: Any) -> dict[str, Any]:
    found: dict[str, Any] = first_trial(user, submit(user)["experiment"]["id"])
    return found


def get(client: Any, uuid: str) -> dict[str, Any]:
    answer = client.get(f"/api/v1/checkpoints/{uuid}")
    assert answer.status == 200, answer.raw
    found: dict[str, Any] = answer.json["checkpoint"]
    return found


def test_a_checkpoint_shows_its_files_and_its_validation(
    user: Any, trial: dict[str, Any], checkpoint: Any, validate: Any
) -> None:
    validate(trial["id"], 4, loss=0.5, acc=0.9)
    uuid = checkpoint(user, trial, 4)
    found = get(user, uuid)
    assert found["state"] == "STATE_COMPLETED"
    assert found["metadata"] == {"steps_completed": 4, "framework": "none"}
    assert found["resources"]["weights.bin"] == "10"
    assert found["taskId"] == trial["taskId"]
    training = found["training"]
    assert (training["trialId"], training["experimentId"]) == (trial["id"], trial["experimentId"])
    assert training["validationMetrics"]["avgMetrics"] == {"loss": 0.5, "acc": 0.9}
    assert training["searcherMetric"] == 0.5
    assert training["hparams"]["lr"] == 0.1
    assert training["experimentConfig"]["checkpoint_storage"]["type"] == "shared_fs"


def test_reporting_twice_changes_nothing(user: Any, trial: dict[str, Any], checkpoint: Any) -> None:
    uuid = checkpoint(user, trial, 4)
    body = {"uuid": uuid, "taskId": trial["taskId"], "metadata": {"steps_completed": 99}, "resources": {}}
    assert user.post("/api/v1/checkpoints", body).status == 200
    assert get(user, uuid)["metadata"]["steps_completed"] == 4
    assert user.get(f"/api/v1/trials/{trial['id']}").json["trial"]["checkpointCount"] == 1


def test_the_uuid_of_another_trial_is_a_conflict(
    user: Any, trial: dict[str, Any], checkpoint: Any, submit: Any, first_trial: Any
) -> None:
    uuid = checkpoint(user, trial, 1)
    other = first_trial(user, submit(user)["experiment"]["id"])
    body = {"uuid": uuid, "taskId": other["taskId"], "metadata": {"steps_completed": 1}, "resources": {}}
    assert user.post("/api/v1/checkpoints", body).status == 409


def test_a_wrong_report_is_refused(user: Any, trial: dict[str, Any]) -> None:
    body = {"uuid": NEW, "taskId": trial["taskId"], "metadata": {"steps_completed": 1}, "resources": {}}
    wrong: list[tuple[dict[str, Any], int]] = [
        ({"metadata": {}}, 400),
        ({"uuid": "victim"}, 400),
        ({"uuid": NEW.upper()}, 400),
        ({"uuid": ".."}, 400),
        ({"metadata": {"steps_completed": "4"}}, 400),
        ({"metadata": {"steps_completed": -1}}, 400),
        ({"state": "STATE_DELETED"}, 400),
        ({"taskId": "no.task"}, 404),
        ({"storageId": 77}, 404),
        ({"reportTime": "yesterday"}, 400),
        ({"resources": {"a": "many"}}, 400),
    ]
    for change, status in wrong:
        assert user.post("/api/v1/checkpoints", {**body, **change}).status == status
    assert user.get(f"/api/v1/checkpoints/{NEW}").status == 404


def test_lists_sort_by_metric_with_unvalidated_ones_last(
    user: Any, trial: dict[str, Any], checkpoint: Any, validate: Any
) -> None:
    uuids = {n: checkpoint(user, trial, n) for n in (1, 2, 3, 4)}
    for step, loss, acc in ((1, 0.3, 5.0), (2, 0.1, 4.0), (4, 0.2, 6.0)):
        validate(trial["id"], step, loss=loss, acc=acc)

    def order(path: str, **fields: Any) -> list[int]:
        answer = user.get(path, fields=fields)
        assert answer.status == 200, answer.raw
        return [next(n for n, u in uuids.items() if u == c["uuid"]) for c in answer.json["checkpoints"]]

    for owner in (f"trials/{trial['id']}", f"experiments/{trial['experimentId']}"):
        path = f"/api/v1/{owner}/checkpoints"
        assert order(path) == [1, 2, 3, 4]
        assert order(path, sortByAttr="SORT_BY_SEARCHER_METRIC", orderBy="ORDER_BY_ASC") == [2, 4, 1, 3]
        assert order(path, sortByAttr="SORT_BY_SEARCHER_METRIC", orderBy="ORDER_BY_DESC") == [1, 4, 2, 3]
        assert order(path, sortByMetric="acc", orderBy="ORDER_BY_DESC") == [4, 1, 2, 3]
        assert order(path, sortByAttr="SORT_BY_BATCH_NUMBER", orderBy="ORDER_BY_DESC", limit=2) == [4, 3]
        assert order(path, sortByAttr="SORT_BY_END_TIME", offset=3) == [4]
        assert order(path, states=["STATE_DELETED"]) == []
        assert len(order(path, sortByAttr="SORT_BY_UUID")) == len(order(path, sortByAttr="SORT_BY_STATE")) == 4
    assert user.get("/api/v1/experiments/99/checkpoints").status == 404


def test_metadata_is_replaced_in_the_database_only(user: Any, trial: dict[str, Any], checkpoint: Any) -> None:
    uuid = checkpoint(user, trial, 2)
    whole = get(user, uuid)
    whole["metadata"] = {"note": "good"}
    answer = user.post(f"/api/v1/checkpoints/{uuid}/metadata", {"checkpoint": whole})
    assert answer.status == 200, answer.raw
    assert get(user, uuid)["metadata"] == {"steps_completed": 2, "note": "good"}
    assert user.post("/api/v1/checkpoints/nope/metadata", {"checkpoint": whole}).status == 404


def test_a_patch_says_which_files_are_left(user: Any, trial: dict[str, Any], checkpoint: Any) -> None:
    first, second = checkpoint(user, trial, 2), checkpoint(user, trial, 1)

    def patch(uuid: str, resources: dict[str, str]) -> None:
        body = {"checkpoints": [{"uuid": uuid, "resources": {"resources": resources}}]}
        answer = user.patch("/api/v1/checkpoints", body)
        assert answer.status == 200, answer.raw

    patch(first, get(user, first)["resources"])
    assert get(user, first)["state"] == "STATE_COMPLETED"
    patch(first, {"weights.bin": "10"})
    assert get(user, first)["state"] == "STATE_PARTIALLY_DELETED"
    patch(second, {})
    assert get(user, second)["state"] == "STATE_DELETED"
    shown = user.get(f"/api/v1/trials/{trial['id']}").json["trial"]
    assert (shown["checkpointCount"], shown["totalCheckpointSize"]) == (1, "10")


def test_the_master_sends_the_files_as_an_archive(user: Any, trial: dict[str, Any], checkpoint: Any) -> None:
    big = bytes(range(256)) * 12_000  # several chunks, not a multiple of the tar block
    uuid = checkpoint(user, trial, 3, files={"big.bin": big + b"!", "sub/state": b"s"})
    packed = user.get(f"/checkpoints/{uuid}", headers={"Accept": "application/gzip"})
    assert packed.status == 200
    assert packed.headers["content-type"].startswith("application/gzip")
    with tarfile.open(fileobj=io.BytesIO(packed.raw), mode="r:gz") as archive:
        member = archive.extractfile("big.bin")
        assert member is not None
        assert member.read() == big + b"!"
        assert {"metadata.json", "sub/state"} <= set(archive.getnames())
    plain = user.get(f"/checkpoints/{uuid}", headers={"Accept": "application/x-tar"})
    with tarfile.open(fileobj=io.BytesIO(plain.raw), mode="r:") as archive:
        assert "big.bin" in archive.getnames()
    zipped = user.get(f"/checkpoints/{uuid}", headers={"Accept": "application/zip"})
    with zipfile.ZipFile(io.BytesIO(zipped.raw)) as archive:
        assert archive.read("big.bin") == big + b"!"
        assert archive.testzip() is None


def test_a_checkpoint_whose_directory_is_gone_is_not_found(user: Any, trial: dict[str, Any], checkpoint: Any) -> None:
    uuid = checkpoint(user, trial, 3)
    found = get(user, uuid)["training"]["experimentConfig"]["checkpoint_storage"]
    base = Path(found["host_path"]) / (found.get("storage_path") or "")
    shutil.rmtree(base / uuid)
    answer = user.get(f"/checkpoints/{uuid}")
    assert answer.status == 404
    assert uuid in answer.message
    assert user.get("/checkpoints/unknown").status == 404


def test_a_download_needs_credentials(master: Any, user: Any, trial: dict[str, Any], checkpoint: Any) -> None:
    uuid = checkpoint(user, trial, 3)
    assert master.anonymous.get(f"/checkpoints/{uuid}").status == 401


def test_a_report_may_not_name_the_storage_of_another_trial(
    user: Any, trial: dict[str, Any], submit: Any, first_trial: Any, tmp_path: Path
) -> None:
    other = first_trial(user, submit(user)["experiment"]["id"])
    config = {"type": "directory", "container_path": str(tmp_path / "private")}
    foreign = user.post("/api/v1/runs/start", {"runId": other["id"], "checkpointStorage": config}).json["storageId"]
    report = {
        "uuid": NEW,
        "taskId": trial["taskId"],
        "metadata": {"steps_completed": 1},
        "resources": {"w": "7"},
        "storageId": foreign,
    }
    answer = user.post("/api/v1/checkpoints", report)
    assert (answer.status, f"trial {trial['id']} has no storage {foreign}" in answer.message) == (404, True)
    assert user.get(f"/api/v1/checkpoints/{NEW}").status == 404
    own = user.post("/api/v1/runs/start", {"runId": other["id"]}).json["storageId"]
    assert user.post("/api/v1/checkpoints", {**report, "storageId": own}).status == 200, "both experiments save there"


def test_reports_may_name_another_storage(user: Any, trial: dict[str, Any], tmp_path: Path) -> None:
    config = {"type": "directory", "container_path": str(tmp_path / "elsewhere")}
    body = {"runId": trial["id"], "checkpointStorage": config}
    first = user.post("/api/v1/runs/start", body).json["storageId"]
    assert user.post("/api/v1/runs/start", body).json["storageId"] == first
    assert user.post("/api/v1/runs/start", {"runId": trial["id"]}).json["storageId"] != first
    assert user.post("/api/v1/runs/start", {"runId": 99}).status == 404
    wrong = {"runId": trial["id"], "checkpointStorage": {"type": "tape"}}
    assert user.post("/api/v1/runs/start", wrong).status == 400
    manager = storage.build(config)
    with manager.store_path(NEW) as path:
        (path / "w").write_bytes(b"weights")
        (path / "metadata.json").write_text("{}")
    report = {
        "uuid": NEW,
        "taskId": trial["taskId"],
        "metadata": {"steps_completed": 1},
        "resources": {"w": "7"},
        "storageId": first,
    }
    assert user.post("/api/v1/checkpoints", report).status == 200
    with tarfile.open(fileobj=io.BytesIO(user.get(f"/checkpoints/{NEW}").raw)) as archive:
        assert "w" in archive.getnames()
