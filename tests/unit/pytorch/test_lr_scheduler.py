"""LRScheduler: when the training loop steps it."""

from typing import Any

import pytest
import torch

from determined.pytorch import LRScheduler

Mode = LRScheduler.StepMode


class _Counting:
    """As a scheduler of torch's, and counts."""

    def __init__(self) -> None:
        self.steps = 0

    def step(self) -> None:
        self.steps += 1

    def state_dict(self) -> dict[str, Any]:
        return {"steps": self.steps}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.steps = state_dict["steps"]

    def get_last_lr(self) -> list[float]:
        return [0.5**self.steps]


def _steps_per_batch(
    mode: LRScheduler.StepMode, *, batches: int, frequency: int = 1, every: int = 1, epoch: int | None = 4
) -> list[int]:
    counting = _Counting()
    scheduler = LRScheduler(counting, mode, frequency)
    taken = []
    for batch_idx in range(batches):
        before = counting.steps
        scheduler._after_batch(batch_idx, epoch, every)
        taken.append(counting.steps - before)
    return taken


def _rule_in_words(mode: LRScheduler.StepMode, batch_idx: int, frequency: int, every: int, epoch: int | None) -> int:
    """The documented rule, batch by batch and epoch by epoch."""
    if (batch_idx + 1) % every:
        return 0
    if mode is Mode.STEP_EVERY_BATCH:
        return sum((i + 1) % frequency == 0 for i in range(batch_idx - every + 1, batch_idx + 1))
    if mode is Mode.STEP_EVERY_OPTIMIZER_STEP:
        return int(((batch_idx + 1) // every) % frequency == 0)
    if mode is Mode.MANUAL_STEP or epoch is None:
        return 0
    return sum((e + 1) % frequency == 0 for e in range(batch_idx // epoch, (batch_idx + every) // epoch))


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("epoch", [1, 4, 7, None])
def test_steps_follow_the_rule_for_every_frequency_and_aggregation(
    mode: LRScheduler.StepMode, epoch: int | None
) -> None:
    for frequency in (1, 2, 3, 5):
        for every in (1, 2, 3, 6):
            found = _steps_per_batch(mode, batches=40, frequency=frequency, every=every, epoch=epoch)
            assert found == [_rule_in_words(mode, b, frequency, every, epoch) for b in range(40)], (frequency, every)


def test_epochs_step_on_their_last_batch() -> None:
    assert _steps_per_batch(Mode.STEP_EVERY_EPOCH, batches=8, epoch=4) == [0, 0, 0, 1, 0, 0, 0, 1]
    assert _steps_per_batch(Mode.STEP_EVERY_EPOCH, batches=8, epoch=4, frequency=2) == [0, 0, 0, 0, 0, 0, 0, 1]


def test_batches_without_an_optimizer_step_are_caught_up_with() -> None:
    assert _steps_per_batch(Mode.STEP_EVERY_BATCH, batches=6, every=3) == [0, 0, 3, 0, 0, 3]


def test_optimizer_steps_are_counted_and_not_batches() -> None:
    found = _steps_per_batch(Mode.STEP_EVERY_OPTIMIZER_STEP, batches=12, every=3, frequency=2)
    assert found == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]


def test_a_manual_scheduler_is_left_alone_and_steps_by_hand() -> None:
    assert _steps_per_batch(Mode.MANUAL_STEP, batches=8) == [0] * 8
    counting = _Counting()
    LRScheduler(counting, Mode.MANUAL_STEP).step()
    assert counting.steps == 1


def test_a_scheduler_of_torch_is_stepped_read_saved_and_restored() -> None:
    def make() -> LRScheduler:
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        optimizer.step()  # torch warns of a scheduler that goes first
        return LRScheduler(scheduler, Mode.STEP_EVERY_BATCH)

    first, second = make(), make()
    first._after_batch(0, 4, 1)
    first._after_batch(1, 4, 1)
    assert first.get_last_lr() == [0.25]
    second.load_state_dict(first.state_dict())
    assert second.get_last_lr() == [0.25]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((object(), Mode.MANUAL_STEP), "is not a learning-rate scheduler; pass an object of torch.optim.lr_scheduler"),
        ((_Counting, Mode.MANUAL_STEP), "is not a learning-rate scheduler"),
        ((_Counting(), "STEP_EVERY_EPOCH"), "step_mode='STEP_EVERY_EPOCH' is not a LRScheduler.StepMode; pass one of"),
        ((_Counting(), Mode.MANUAL_STEP, 1.5), "frequency=1.5 is a float; pass an int"),
    ],
)
def test_arguments_of_a_wrong_type_are_refused(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        LRScheduler(*arguments)


def test_a_frequency_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="frequency=0 of a LRScheduler is below 1"):
        LRScheduler(_Counting(), Mode.STEP_EVERY_EPOCH, 0)


def test_the_numbers_of_step_modes_are_those_of_old_checkpoints_and_scripts() -> None:
    assert {mode.name: mode.value for mode in Mode} == {
        "STEP_EVERY_EPOCH": 1,
        "STEP_EVERY_BATCH": 2,
        "MANUAL_STEP": 3,
        "STEP_EVERY_OPTIMIZER_STEP": 4,
    }
