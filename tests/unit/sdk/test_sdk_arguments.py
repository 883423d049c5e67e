"""What the SDK objects refuse, and the old names on them, without a master."""

from datetime import UTC, datetime
from typing import Any

import pytest

from determined.api.session import Session
from determined.api.user import check_password
from determined.errors import CheckpointStateException
from determined.experimental import client
from determined.sdk.checkpoint_choice import first_of_each_trial, sorting
from determined.sdk.trial import rfc3339

SESSION = Session("http://127.0.0.1:1", retries=0)


def test_objects_made_by_hand_know_nothing_until_reloaded() -> None:
    experiment = client.Experiment(3, SESSION)
    assert (experiment.id, experiment.name, experiment.state, experiment.labels) == (3, None, None, None)
    assert client.Trial(4, SESSION).hparams is None
    assert client.Checkpoint(SESSION, "u").metadata is None


def test_the_same_thing_twice_is_equal_and_hashes_alike() -> None:
    assert {client.Experiment(3, SESSION), client.Experiment(3, SESSION)} == {client.Experiment(3, SESSION)}
    assert client.Trial(3, SESSION) != client.Experiment(3, SESSION)
    assert client.Checkpoint(SESSION, "a") == client.Checkpoint(SESSION, "a")


@pytest.mark.parametrize("cls", [client.ExperimentReference, client.TrialReference])
def test_references_are_the_classes_and_warn(cls: Any) -> None:
    with pytest.warns(FutureWarning, match="deprecated"):
        made = cls(5, SESSION)
    assert isinstance(made, client.Experiment | client.Trial)
    assert made.id == 5


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"follow": True, "head": 1}, "at most one"),
        ({"head": 1, "tail": 1}, "at most one"),
        ({"tail": -1}, "negative"),
        ({"timestamp_after": "2024-01-01"}, "RFC 3339"),
    ],
)
def test_log_arguments_that_contradict_are_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        next(client.Trial(1, SESSION).iter_logs(**asked))


def test_the_deprecated_logs_take_every_filter_of_iter_logs() -> None:
    filters: dict[str, Any] = {"rank_ids": [0], "min_level": client.LogLevel.ERROR, "timestamp_after": "2024-01-01"}
    with pytest.warns(FutureWarning, match="iter_logs"), pytest.raises(ValueError, match="RFC 3339"):
        next(client.Trial(1, SESSION).logs(head=1, **filters))


def test_times_may_be_seconds_since_the_epoch() -> None:
    assert rfc3339(0) == "1970-01-01T00:00:00Z"
    assert rfc3339(1_700_000_000.25) == "2023-11-14T22:13:20.250000Z"
    assert rfc3339("2024-05-17T12:00:00Z") == "2024-05-17T12:00:00Z"
    assert rfc3339(None) is None


def test_sorting_needs_both_or_neither() -> None:
    with pytest.raises(AssertionError):
        sorting("loss", None)
    with pytest.raises(AssertionError):
        sorting(None, client.OrderBy.ASC)
    with pytest.raises(ValueError, match="metric name"):
        sorting(7, client.OrderBy.ASC)  # type: ignore[arg-type]
    assert sorting("loss", client.OrderBy.DESC).sort_by_metric == "loss"
    assert sorting(None, None).sort_by_attr == "SORT_BY_SEARCHER_METRIC"
    by_step = sorting(client.CheckpointSortBy.BATCH_NUMBER, client.OrderBy.ASC)
    assert (by_step.sort_by_attr, by_step.order_by) == ("SORT_BY_BATCH_NUMBER", "ORDER_BY_ASC")


@pytest.mark.parametrize("choice", [{}, {"latest": True, "best": True}, {"latest": True, "sort_by": "loss"}])
def test_select_checkpoint_takes_exactly_one_way(choice: dict[str, Any]) -> None:
    with pytest.warns(FutureWarning), pytest.raises(AssertionError):
        client.Trial(1, SESSION).select_checkpoint(**choice)


def test_a_checkpoint_without_state_cannot_be_downloaded() -> None:
    with pytest.raises(ValueError, match="reload"):
        client.Checkpoint(SESSION, "u").download()


def test_the_state_decides_whether_a_checkpoint_can_be_downloaded() -> None:
    checkpoint = client.Checkpoint(SESSION, "u")
    checkpoint.state = client.CheckpointState.DELETED
    checkpoint._found = object()  # type: ignore[assignment]
    with pytest.raises(CheckpointStateException, match="COMPLETED"):
        checkpoint.download()


def test_one_checkpoint_of_each_trial_is_kept_in_order() -> None:
    from determined.sdk.checkpoint import CheckpointTrainingMetadata

    made = []
    for uuid, trial in (("a", 1), ("b", 1), ("c", 2)):
        each = client.Checkpoint(SESSION, uuid)
        each.training = CheckpointTrainingMetadata(None, 1, trial, None, None)
        made.append(each)
    assert [c.uuid for c in first_of_each_trial(made)] == ["a", "c"]


@pytest.mark.parametrize("weak", ["short1A", "alllower1", "ALLUPPER1", "NoDigitsHere"])
def test_a_weak_password_is_refused_with_a_line_per_rule(weak: str) -> None:
    with pytest.raises(ValueError, match="✗") as e:
        check_password(weak)
    assert str(e.value).count("\n") == 4


def test_a_strong_password_passes() -> None:
    check_password("LongEnough1")


def test_a_workspace_is_known_by_exactly_one_of_id_and_name() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        client.Workspace(SESSION)
    with pytest.raises(ValueError, match="exactly one"):
        client.Workspace(SESSION, 1, "x")


def test_old_metric_classes_take_total_batches() -> None:
    fields: dict[str, Any] = {"trial_id": 1, "trial_run_id": 2, "end_time": datetime.now(UTC), "metrics": {"x": 1.0}}
    with pytest.warns(FutureWarning):
        training = client.TrainingMetrics(total_batches=7, **fields)
    assert (training.steps_completed, training.total_batches, training.group) == (7, 7, "training")
    with pytest.warns(FutureWarning):
        assert client.ValidationMetrics(steps_completed=7, **fields).group == "validation"
    assert isinstance(training, client.TrialMetrics)


def test_a_config_must_be_a_path_or_a_mapping() -> None:
    from determined.sdk.determined import _config_text

    with pytest.raises(ValueError, match="path or a dict"):
        _config_text(7)  # type: ignore[arg-type]
