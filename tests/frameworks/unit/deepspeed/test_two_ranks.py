"""DeepSpeed over two processes: pause and resume, metrics over ranks, data that does not divide."""

from pathlib import Path
from typing import Any

import pytest
import torch
from ranks import run_ranks
from small_ds_trial import numbers

pytestmark = pytest.mark.timeout(500)
_SECONDS = 400.0
JOBS = Path(__file__).parent / "two_rank_jobs.py"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.chdir(tmp_path_factory.mktemp("code"))
        return run_ranks(2, f"{JOBS}:everything", connected=False, seconds=_SECONDS)


@pytest.mark.parametrize("kind", ["zero1", "zero3", "pipeline"])
def test_resumed_trial_ends_with_the_weights_of_one_left_alone(results: list[dict[str, Any]], kind: str) -> None:
    for rank in results:
        assert rank[kind]["paused"] == rank[kind]["alone"]
        assert rank[kind]["resumed_losses"] == rank[kind]["losses"][3:]
        at_the_pause, left_alone = rank[kind]["midway"]
        assert at_the_pause == left_alone


def test_dropout_is_part_of_what_is_resumed(results: list[dict[str, Any]]) -> None:
    losses = [batch["loss"] for batch in results[0]["zero1"]["losses"]]
    assert len(set(losses)) == 6


@pytest.mark.parametrize("kind", ["zero1", "zero3"])
def test_ranks_of_zero_train_one_model(results: list[dict[str, Any]], kind: str) -> None:
    assert results[0][kind]["alone"][0] == results[1][kind]["alone"][0]


def test_stages_of_a_pipeline_have_weights_of_their_own(results: list[dict[str, Any]]) -> None:
    numbers_of_stages = [sum(map(len, rank["pipeline"]["alone"][0])) for rank in results]
    assert all(numbers_of_stages) and sum(numbers_of_stages) == (4 * 8 + 8) + (8 + 1)


@pytest.mark.parametrize("kind", ["zero1", "zero3", "pipeline"])
def test_hooks_of_checkpoints_run_on_all_ranks(results: list[dict[str, Any]], kind: str) -> None:
    assert [rank[kind]["hooks"] for rank in results] == [["save_start", "write_end", "upload_end"]] * 2


def test_every_record_is_validated_once_where_ranks_have_different_numbers(results: list[dict[str, Any]]) -> None:
    expected = {"total": pytest.approx(_sum(6)), "evaluated": 6, "evaluated_too": 6}
    assert [rank["uneven"] for rank in results] == [expected, expected]


def test_rank_without_a_batch_validates_along(results: list[dict[str, Any]]) -> None:
    assert results[0]["one_batch"] == {"total": pytest.approx(_sum(2)), "evaluated": 2, "evaluated_too": 2}


def test_metrics_that_both_stages_of_a_pipeline_have_count_once(results: list[dict[str, Any]]) -> None:
    micro_batches = 24 // 2
    assert [rank["pipeline_sum"]["calls"] for rank in results] == [micro_batches / 2] * 2


def test_stages_of_a_pipeline_leave_out_a_micro_batch_of_another_size(results: list[dict[str, Any]]) -> None:
    assert results[0]["ragged"] == results[0]["even"] and results[0]["even"]["calls"] == 20 / 2 / 2


def test_training_data_with_a_micro_batch_of_another_size_is_refused_by_stages(results: list[dict[str, Any]]) -> None:
    assert all("pass drop_last=True to the loader" in rank["ragged_training"] for rank in results)


def test_ranks_that_must_see_the_same_data_are_to_be_told_to_the_context(results: list[dict[str, Any]]) -> None:
    assert all("has its model 1 time(s) on 2 ranks" in rank["sequence"] for rank in results)


@pytest.mark.parametrize("kind", ["whole", "whole_of_a_cut_model"])
def test_all_ranks_evaluate_all_data_where_each_has_a_part_of_the_model(
    results: list[dict[str, Any]], kind: str
) -> None:
    assert [rank[kind] for rank in results] == [{"ranks": 2.0, "evaluated": 24}] * 2


@pytest.mark.parametrize(
    ("job", "culprit", "words"),
    [
        ("save_on_a_full_disk", 1, "the disk of rank 1 is full"),
        ("save_with_a_callback_that_fails", 1, "the callback of rank 1 is out of order"),
        ("load_from_a_disk_that_is_gone", 0, "the disk of rank 0 is gone"),
    ],
)
def test_rank_that_fails_ends_the_trial_and_does_not_wait_for_its_peers(job: str, culprit: int, words: str) -> None:
    with pytest.raises(RuntimeError, match=rf"rank {culprit} \(status 1\)[\s\S]*{words}"):
        run_ranks(2, f"{JOBS}:{job}", connected=False, seconds=_SECONDS)


def _sum(records: int) -> float:
    inputs: torch.Tensor = numbers(records, seed=2).tensors[0]
    return float(inputs.sum())
