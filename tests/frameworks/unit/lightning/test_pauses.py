"""A fit that is paused at any batch and gone on with ends as one that was left alone."""

from typing import Any

import pytest
from fits import check_same, fit, noisy_loader, stream_loader

CASES: dict[str, dict[str, Any]] = {
    "epochs": {},
    "steps": {"max_epochs": -1, "max_steps": 12},
    "validation within epochs": {"val_check_interval": 2},
    "validation by batches of the trial": {"val_check_interval": 3, "check_val_every_n_epoch": None},
    "accumulated gradients": {"accumulate_grad_batches": 2},
    "plateau": {"scheduler": "plateau"},
    "plateau by a validation within the epoch": {"scheduler": "plateau", "val_check_interval": 2},
    "data without a length": {"loader": stream_loader},
}


@pytest.mark.parametrize("case", CASES)
def test_a_pause_changes_nothing(case: str, task: Any, runner: Any) -> None:
    options = CASES[case]
    alone = fit(task, runner, **options)
    assert alone.validation
    assert not alone.is_preempted
    for batch in range(1, alone.counts["ended"]):
        paused = fit(task, runner, pause_in=batch, **options)
        assert paused.is_preempted, f"paused in batch {batch}"
        resumed = fit(task, runner, latest=paused.checkpoints[-1], **options)
        check_same(alone, paused, resumed, f"paused in batch {batch}")


def test_workers_of_a_loader_go_on_with_their_random_numbers(task: Any, runner: Any) -> None:
    options: dict[str, Any] = {"max_epochs": 2, "loader": lambda: noisy_loader(num_workers=1)}
    alone = fit(task, runner, **options)
    paused = fit(task, runner, pause_in=7, **options)
    check_same(alone, paused, fit(task, runner, latest=paused.checkpoints[-1], **options), "paused in batch 7")
