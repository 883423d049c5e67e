"""Checkpoints in the Python SDK: order, metadata, and what a file on disk is told of it."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from determined.api import paging
from determined.errors import CheckpointNotFound, CheckpointStateException, Forbidden, NotFound
from determined.sdk.checkpoint import Checkpoint
from determined.sdk.determined import Determined
from determined.sdk.enums import CheckpointSortBy, CheckpointState, OrderBy
from determined.sdk.experiment import Experiment

Sdk = Callable[..., Determined]
UNKNOWN = "3f1d2a8e-0000-4000-8000-000000000009"


@pytest.fixture
def trial(user: Any, submit: Any, first_trial: Any) -> dict[str, Any]:
    found: dict[str, Any] = first_trial(user, submit(user)["experiment"]["id"])
    return found


@pytest.fixture
def saved(user: Any, trial: dict[str, Any], checkpoint: Any, validate: Any) -> list[str]:
    """Uuids of the checkpoints at steps 1 to 4; that of step 3 was never validated."""
    uuids = [checkpoint(user, trial, step) for step in (1, 2, 3, 4)]
    for step, loss, accuracy in ((1, 0.3, 5.0), (2, 0.1, 4.0), (4, 0.2, 6.0)):
        validate(trial["id"], step, loss=loss, accuracy=accuracy)
    return uuids


@pytest.fixture
def experiment(sdk: Sdk, trial: dict[str, Any]) -> Experiment:
    return sdk().get_experiment(trial["experimentId"])


def test_checkpoints_are_listed_in_the_order_that_is_asked_for(experiment: Experiment, saved: list[str]) -> None:
    trial = experiment.list_trials()[0]
    cases: list[tuple[dict[str, Any], list[int]]] = [
        ({}, [2, 4, 1, 3]),
        ({"max_results": 2}, [2, 4]),
        ({"max_results": 0}, []),
        ({"max_results": 99}, [2, 4, 1, 3]),
        ({"sort_by": "accuracy", "order_by": OrderBy.DESC}, [4, 1, 2, 3]),
        ({"sort_by": "accuracy", "order_by": OrderBy.ASCENDING}, [2, 1, 4, 3]),
        ({"sort_by": CheckpointSortBy.BATCH_NUMBER, "order_by": OrderBy.DESC, "max_results": 3}, [4, 3, 2]),
        ({"sort_by": CheckpointSortBy.END_TIME, "order_by": OrderBy.ASC}, [1, 2, 3, 4]),
        ({"sort_by": CheckpointSortBy.SEARCHER_METRIC, "order_by": OrderBy.DESC}, [1, 4, 2, 3]),
    ]
    for owner in (experiment, trial):
        for how, steps in cases:
            listed = owner.list_checkpoints(**how)
            assert [saved.index(each.uuid) + 1 for each in listed] == steps, (owner, how)


def test_a_listing_goes_over_page_borders(
    experiment: Experiment, saved: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in (1, 3, 4):
        monkeypatch.setattr(paging, "PAGE", size)
        listed = experiment.list_checkpoints(CheckpointSortBy.BATCH_NUMBER, OrderBy.ASC)
        assert [each.uuid for each in listed] == saved, size


def test_the_best_of_each_trial_come_best_first(
    sdk: Sdk, user: Any, submit: Any, checkpoint: Any, validate: Any
) -> None:
    searcher = {"name": "random", "metric": "loss", "max_trials": 3, "max_concurrent_trials": 0}
    experiment = sdk().get_experiment(submit(user, searcher=searcher)["experiment"]["id"])
    trials = user.get(f"/api/v1/experiments/{experiment.id}/trials").json["trials"]
    best = {}
    for trial, losses in zip(trials, [(0.5, 0.9), (0.7, 0.1), (0.3, 0.4)], strict=True):
        for step, loss in enumerate(losses, start=1):
            uuid = checkpoint(user, trial, step)
            validate(trial["id"], step, loss=loss)
            best[loss] = uuid
    with pytest.warns(FutureWarning):
        chosen = experiment.top_n_checkpoints(2)
    assert [each.uuid for each in chosen] == [best[0.1], best[0.3]]
    with pytest.warns(FutureWarning):
        worst = experiment.top_checkpoint(sort_by="loss", smaller_is_better=False)
    assert worst.uuid == best[0.9]


def test_a_checkpoint_of_a_trial_is_selected_by_uuid_latest_or_best(experiment: Experiment, saved: list[str]) -> None:
    trial = experiment.list_trials()[0]
    cases: list[tuple[dict[str, Any], int]] = [
        ({"uuid": saved[2]}, 3),
        ({"latest": True}, 4),
        ({"best": True}, 2),
        ({"best": True, "sort_by": "accuracy", "smaller_is_better": False}, 4),
    ]
    for how, step in cases:
        with pytest.warns(FutureWarning):
            assert trial.select_checkpoint(**how).uuid == saved[step - 1], how
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="no such checkpoint"):
        trial.select_checkpoint(uuid=UNKNOWN)


def test_there_is_no_best_checkpoint_where_there_is_none(experiment: Experiment) -> None:
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="no completed checkpoint"):
        experiment.top_checkpoint()
    assert experiment.list_checkpoints() == []


def test_attributes_say_where_a_checkpoint_comes_from(sdk: Sdk, trial: dict[str, Any], saved: list[str]) -> None:
    found = sdk().get_checkpoint(saved[3])
    assert (found.state, found.task_id) == (CheckpointState.COMPLETED, trial["taskId"])
    assert found.report_time == datetime(2026, 11, 15, 0, 0, 4, tzinfo=UTC)
    assert found.resources is not None and int(found.resources["weights.bin"]) == 10
    assert found.training is not None
    assert (found.training.trial_id, found.training.experiment_id) == (trial["id"], trial["experimentId"])
    assert found.training.validation_metrics == {"loss": 0.2, "accuracy": 6.0}
    assert found.training.hparams == {"lr": 0.1, "net": {"width": 32}}
    assert repr(found) == f"Checkpoint(uuid={saved[3]}, state=CheckpointState.COMPLETED)"
    never_validated = sdk().get_checkpoint(saved[2])
    assert never_validated.training is not None and not never_validated.training.validation_metrics


def test_an_unknown_checkpoint_is_named(sdk: Sdk) -> None:
    with pytest.raises((NotFound, CheckpointNotFound), match=UNKNOWN):
        sdk().get_checkpoint(UNKNOWN)
    made_by_hand = Checkpoint(sdk()._session, UNKNOWN)
    with pytest.raises((NotFound, CheckpointNotFound), match=UNKNOWN):
        made_by_hand.add_metadata({"a": 1})


def test_metadata_keys_are_added_replaced_and_removed_one_by_one(sdk: Sdk, saved: list[str]) -> None:
    found = Checkpoint(sdk()._session, saved[0])  # never reloaded: what is there must be read first
    found.add_metadata({"note": {"a": 1}, "kept": True})
    found.add_metadata({"note": {"b": 2}})
    found.remove_metadata(["framework", "never there"])
    stored = sdk().get_checkpoint(saved[0]).metadata
    assert stored == found.metadata == {"steps_completed": 1, "note": {"b": 2}, "kept": True}


def test_a_metadata_file_holds_what_the_object_holds(sdk: Sdk, saved: list[str], tmp_path: Path) -> None:
    path = tmp_path / "metadata.json"
    found = sdk().get_checkpoint(saved[0])
    found.write_metadata_file(str(path))
    assert json.loads(path.read_text()) == {"steps_completed": 1, "framework": "none"}
    found.add_metadata({"note": "good"})
    found.write_metadata_file(str(path))
    assert json.loads(path.read_text()) == {"steps_completed": 1, "framework": "none", "note": "good"}
    made_by_hand = Checkpoint(sdk()._session, saved[0])
    made_by_hand.write_metadata_file(str(path))
    assert json.loads(path.read_text())["note"] == "good"


def test_metrics_of_trials_that_use_a_checkpoint_are_read_by_group(
    sdk: Sdk, user: Any, submit: Any, first_trial: Any, saved: list[str], validate: Any
) -> None:
    used, unused = sdk().get_checkpoint(saved[0]), sdk().get_checkpoint(saved[1])
    inference = first_trial(user, submit(user)["experiment"]["id"])
    source = {"trialId": inference["id"], "checkpointUuid": used.uuid}
    body = {"trialSourceInfo": source | {"trialSourceInfoType": "TRIAL_SOURCE_INFO_TYPE_INFERENCE"}}
    assert user.post("/api/v1/trial-source-info", body).status == 200
    validate(inference["id"], 7, group="inference", speed=3.0)
    validate(inference["id"], 7, group="validation", loss=0.5)
    by_group = {report.group: report for report in used.get_metrics()}
    assert set(by_group) == {"inference", "validation"}
    assert (by_group["inference"].metrics, by_group["inference"].steps_completed) == ({"speed": 3.0}, 7)
    assert [report.metrics for report in used.get_metrics("validation")] == [{"loss": 0.5}]
    assert list(used.get_metrics("training")) == list(unused.get_metrics()) == []


def test_a_checkpoint_of_somebody_else_is_not_deleted(
    sdk: Sdk, admin: Any, submit: Any, first_trial: Any, checkpoint: Any
) -> None:
    uuid = checkpoint(admin, first_trial(admin, submit(admin)["experiment"]["id"]), 1)
    theirs = sdk().get_checkpoint(uuid)
    with pytest.raises(Forbidden):
        theirs.delete()
    with pytest.raises(Forbidden):
        theirs.remove_files(["**"])
    assert sdk().get_checkpoint(uuid).state is CheckpointState.COMPLETED


def test_a_deleted_checkpoint_is_neither_listed_nor_downloaded(
    sdk: Sdk, user: Any, experiment: Experiment, saved: list[str], tmp_path: Path
) -> None:
    body = {"checkpoints": [{"uuid": saved[1], "resources": {"resources": {}}}]}
    assert user.patch("/api/v1/checkpoints", body).status == 200
    assert saved[1] not in [each.uuid for each in experiment.list_checkpoints()]
    gone = sdk().get_checkpoint(saved[1])
    with pytest.raises(CheckpointStateException, match=f"{saved[1]} is .*DELETED"):
        gone.download(str(tmp_path / "x"))
    assert not (tmp_path / "x").exists()
