"""Jobs of two ranks for test_two_ranks: everything in one pair of processes, because starting them takes longest."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deepspeed
import torch

sys.path.insert(0, str(Path(__file__).parent))

from small_ds_trial import SmallTrial, config_of, fitted

from determined import pytorch
from determined.errors import InvalidExperimentException
from determined.pytorch import deepspeed as det_ds

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


class WholeTrial(SmallTrial):
    """Evaluates all of the data with the help of every rank."""

    evaluate_batch = det_ds.DeepSpeedTrial.evaluate_batch

    def __init__(self, context: Any) -> None:
        super().__init__(context)
        self.evaluated = context.wrap_reducer(sum, "evaluated", for_training=False)
        if context.get_hparams().get("cut"):
            unit = det_ds.ModelParallelUnit(0, 1, should_report_metrics=True, should_build_data_loader=True)
            context.set_mpu(unit)

    def evaluate_full_dataset(self, data_loader: Any) -> dict[str, Any]:
        ranks = torch.ones(())
        torch.distributed.all_reduce(ranks)
        for inputs, _targets in data_loader:
            self.engine(inputs)
            self.evaluated.update(len(inputs))
        return {"ranks": ranks}


class SequenceTrial(SmallTrial):
    """Two ranks with parts of the same sequences, of which nothing is said to the context."""

    def __init__(self, context: Any) -> None:
        self.context, self.hparams = context, context.get_hparams()
        net = torch.nn.Linear(4, 1)
        engine, *_ = deepspeed.initialize(
            model=net, model_parameters=net.parameters(), config=config_of({}), mesh_param=(1, 2)
        )
        self.engine = context.wrap_model_engine(engine)


class FullDiskTrial(SmallTrial):
    def save(self, context: Any, path: Path) -> None:
        if context.distributed.rank == 1:
            raise OSError("the disk of rank 1 is full")
        super().save(context, path)


class HastyTrial(SmallTrial):
    """The callback of rank 1 fails while rank 0 is about to save with it."""

    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        return super().build_callbacks() | {"hasty": HastyCallback(self.context.distributed.rank)}


class HastyCallback(pytorch.PyTorchCallback):
    def __init__(self, rank: int) -> None:
        self._rank = rank

    def on_checkpoint_save_start(self, checkpoint: dict[str, Any]) -> None:
        if self._rank == 1:
            raise ValueError("the callback of rank 1 is out of order")


class ForgetfulTrial(SmallTrial):
    """The chief fails while its peer loads, which takes both."""

    def load(self, context: Any, load_path: Path) -> None:
        if context.distributed.rank == 0:
            raise OSError("the disk of rank 0 is gone")
        torch.distributed.barrier()


def everything() -> dict[str, Any]:
    # One group for all trials: torch finds addresses of the last one in its store, where a second is made in a process.
    torch.distributed.init_process_group("gloo")
    results: dict[str, Any] = {kind: _paused_and_not(KINDS[kind]) for kind in ("zero1", "zero3")}
    uneven = fitted({"zero": 3, "validation_records": 6}, 1, trial_class=CountingTrial)
    results["uneven"] = uneven.seen.validation[-1]
    one = fitted({"zero": 3, "validation_records": 2}, 1, trial_class=CountingTrial)
    results["one_batch"] = one.seen.validation[-1]
    for name, hparams in (("whole", {"zero": 3}), ("whole_of_a_cut_model", {"zero": 0, "cut": True})):
        results[name] = fitted(hparams, 1, trial_class=WholeTrial).seen.validation[-1]
    # Last: DeepSpeed takes every later engine of the process for one of a pipeline.
    results["pipeline"] = _paused_and_not(KINDS["pipeline"])
    results["ragged"], results["even"] = (
        fitted({"stages": 2, "validation_records": records}, 1, trial_class=PipelineSumTrial).seen.validation[-1]
        for records in (23, 20)
    )
    results["ragged_training"] = _refusal({"stages": 2, "records": 25})
    results["pipeline_sum"] = fitted({"stages": 2}, 1, trial_class=PipelineSumTrial).seen.validation[-1]
    deepspeed.utils.groups.mpu = None  # that of the pipeline
    results["sequence"] = _refusal({}, SequenceTrial)
    return results


def save_on_a_full_disk() -> None:
    fitted({"zero": 1}, 1, trial_class=FullDiskTrial)


def save_with_a_callback_that_fails() -> None:
    fitted({"zero": 1}, 1, trial_class=HastyTrial)


def load_from_a_disk_that_is_gone() -> None:
    torch.distributed.init_process_group("gloo")  # for both
    first = fitted({"zero": 1}, 1)
    fitted({"zero": 1}, 2, latest=first.seen.checkpoints[-1], trial_class=ForgetfulTrial)


def _refusal(hparams: dict[str, Any], trial_class: type[SmallTrial] = SmallTrial) -> str:
    try:
        fitted(hparams, 1, trial_class=trial_class)
    except InvalidExperimentException as err:
        return str(err)
    return "was trained"


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
