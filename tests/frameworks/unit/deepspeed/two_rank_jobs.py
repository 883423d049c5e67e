"""What two ranks do for test_two_ranks: everything in one pair of processes, because starting them takes longest."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch.distributed

sys.path.insert(0, str(Path(__file__).parent))

from small_ds_trial import SmallTrial, fitted

from determined import pytorch

KINDS: dict[str, dict[str, Any]] = {"zero1": {"zero": 1}, "zero3": {"zero": 3}, "pipeline": {"stages": 2}}


class CountingTrial(SmallTrial):
    """Knows by a reducer of its own how many records were evaluated."""

    def __init__(self, context: Any) -> None:
        super().__init__(context)
        self.evaluated = context.wrap_reducer(sum, "evaluated", for_training=False)

    def evaluate_batch(self, dataloader_iter: Iterator[Any] | None, batch_idx: int) -> dict[str, Any]:
        assert dataloader_iter is not None
        inputs, _targets = next(dataloader_iter)
        self.engine(inputs)
        self.evaluated.update(len(inputs))
        return {"total": inputs.sum(), "evaluated_too": float(len(inputs))}

    def evaluation_reducer(self) -> pytorch.Reducer:
        return pytorch.Reducer.SUM


class PipelineSumTrial(SmallTrial):
    def evaluate_batch(self, dataloader_iter: Iterator[Any] | None, batch_idx: int) -> dict[str, Any]:
        return super().evaluate_batch(dataloader_iter, batch_idx) | {"calls": 1.0}

    def evaluation_reducer(self) -> pytorch.Reducer:
        return pytorch.Reducer.SUM


class FullDiskTrial(SmallTrial):
    def save(self, context: Any, path: Path) -> None:
        if context.distributed.rank == 1:
            raise OSError("the disk of rank 1 is full")
        super().save(context, path)


def everything() -> dict[str, Any]:
    # One group for all trials: torch finds addresses of the last one in its store, where a second is made in a process.
    torch.distributed.init_process_group("gloo")
    results: dict[str, Any] = {kind: _paused_and_not(KINDS[kind]) for kind in ("zero1", "zero3")}
    uneven = fitted({"zero": 3, "validation_records": 6}, 1, trial_class=CountingTrial)
    results["uneven"] = uneven.seen.validation[-1]
    one = fitted({"zero": 3, "validation_records": 2}, 1, trial_class=CountingTrial)
    results["one_batch"] = one.seen.validation[-1]
    # Last: DeepSpeed takes every later engine of the process for one of a pipeline.
    results["pipeline"] = _paused_and_not(KINDS["pipeline"])
    results["pipeline_sum"] = fitted({"stages": 2}, 1, trial_class=PipelineSumTrial).seen.validation[-1]
    return results


def save_on_a_full_disk() -> None:
    fitted({"zero": 1}, 1, trial_class=FullDiskTrial)


def _paused_and_not(hparams: dict[str, Any]) -> dict[str, Any]:
    alone = fitted(hparams, 6, validation_period=pytorch.Batch(3))
    first = fitted(hparams, 3)
    then = fitted(hparams, 6, latest=first.seen.checkpoints[-1])
    return {
        "hooks": first.seen.hooks,
        "alone": (alone.weights, alone.seen.validation[-1], alone.seen.workloads),  # type: ignore[attr-defined]
        "paused": (then.weights, then.seen.validation[-1], then.seen.workloads),  # type: ignore[attr-defined]
        "losses": alone.seen.training,
        "resumed_losses": then.seen.training,
        "midway": (first.seen.validation[-1], alone.seen.validation[0]),
    }
