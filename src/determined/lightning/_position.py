"""Position of a fit, read from Lightning's loops, and how a checkpoint between two batches must find them."""

import contextlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightning.pytorch import Trainer

Epochs = int | float


def batches_trained(trainer: "Trainer") -> int:
    """Count batches over the whole trial; right in every hook from the end of a batch to the start of the next."""
    return int(trainer.fit_loop.epoch_loop.batch_progress.total.processed)


def epochs_trained(trainer: "Trainer") -> Epochs:
    length = epoch_length(trainer)
    if length is None:
        return int(trainer.current_epoch)
    within = trainer.fit_loop.epoch_loop.batch_progress.current.processed
    # `current_epoch` moves on after the hooks of an epoch's end; before, its last batch is what counts.
    whole, rest = divmod(int(within), length)
    return int(trainer.current_epoch) + whole + (rest / length if rest else 0)


def epoch_length(trainer: "Trainer") -> int | None:
    """Batches of an epoch on this rank; None for data without a length."""
    length = trainer.num_training_batches
    return None if length in (0, math.inf) else int(length)


def is_between_steps(trainer: "Trainer", batch_idx: int) -> bool:
    """Return whether the optimizer has used all gradients when batch `batch_idx` of an epoch starts."""
    return bool(batch_idx % trainer.accumulate_grad_batches == 0)


@contextlib.contextmanager
def before_batch(trainer: "Trainer") -> Iterator[None]:
    """Have the loops count, in `on_train_batch_start`, as if the batch at hand had not been fetched.

    A checkpoint of that moment holds all that followed from the batch before: hooks of modules and callbacks,
    schedulers, a validation. Lightning takes up training with the batch at hand, once `resumed` has told it that
    nothing is left to do for the one before.
    """
    loop = trainer.fit_loop.epoch_loop
    progress = loop.batch_progress
    before = progress.total.ready, progress.current.ready, progress.is_last_batch, loop._batches_that_stepped
    progress.total.ready, progress.current.ready = before[0] - 1, before[1] - 1
    progress.is_last_batch = False
    loop._batches_that_stepped = before[3] - 1  # a restarted loop counts its last step once more
    try:
        yield
    finally:
        progress.total.ready, progress.current.ready, progress.is_last_batch, loop._batches_that_stepped = before


def going_on(trainer: "Trainer") -> None:
    """End a resume, in the first `on_train_batch_start` after a checkpoint: from here on it is a fit like any other.

    Lightning holds an epoch that it entered in the middle for one whose metrics are incomplete, and at its end steps no
    scheduler by them.
    """
    trainer.fit_loop._restarting = False


def resumed(trainer: "Trainer") -> None:
    """Begin a resume, in `on_train_start`: the last batch before the checkpoint is done with, its validation too."""
    trainer.fit_loop.epoch_loop.reset_restart_stage()
