"""DeepSpeed in one process: accumulation, checkpoints, what a trial must and must not do."""

import json
import logging
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deepspeed
import pytest
import torch
import torch.distributed
from deepspeed.utils.zero_to_fp32 import get_fp32_state_dict_from_zero_checkpoint
from small_ds_trial import FEATURES, SmallTrial, config_of, fitted, mean_square, weights_of
from torch import nn

from determined import pytorch
from determined.config import ExperimentConfig
from determined.errors import CheckpointNotFound, InvalidExperimentException, UnsafeCheckpoint
from determined.pytorch import deepspeed as det_ds

_PLAIN = {"optimizer": "SGD", "micro": 2, "accumulation": 3}


class WithoutDropout(SmallTrial):
    def __init__(self, context: det_ds.DeepSpeedTrialContext) -> None:
        super().__init__(context)
        self.engine.module[2].p = 0.0
        self.start = [parameter.detach().clone() for parameter in self.engine.module.parameters()]
        self.taken: list[Any] = []

    def train_batch(self, dataloader_iter: Iterator[Any] | None, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        assert dataloader_iter is not None
        self.taken.append(next(dataloader_iter))
        return super().train_batch(iter(self.taken[-1:]), epoch_idx, batch_idx)


class ByItself(WithoutDropout):
    """Trains all micro batches in one call."""

    def __init__(self, context: det_ds.DeepSpeedTrialContext) -> None:
        super().__init__(context)
        context.disable_auto_grad_accumulation()

    def train_batch(self, dataloader_iter: Iterator[Any] | None, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        calls = [super(ByItself, self).train_batch(dataloader_iter, epoch_idx, batch_idx) for _ in range(3)]
        return {"loss": sum(call["loss"] for call in calls) / 3}


class Restless(SmallTrial):
    """Trains one micro batch more than it is asked for in its second batch."""

    def train_batch(self, dataloader_iter: Iterator[Any] | None, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        if batch_idx == 1 and self.engine.micro_steps == 2:
            super().train_batch(dataloader_iter, epoch_idx, batch_idx)
        return super().train_batch(dataloader_iter, epoch_idx, batch_idx)


class WeightsAlone(SmallTrial):
    def load(self, context: det_ds.DeepSpeedTrialContext, load_path: Path) -> None:
        self.engine.load_checkpoint(load_path, tag="model0", load_module_only=True)
        self.loaded = weights_of(self.engine)


class TwoEngines(SmallTrial):
    def __init__(self, context: det_ds.DeepSpeedTrialContext) -> None:
        super().__init__(context)
        net = nn.Linear(1, 1)
        engine, *_ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=config_of({}))
        context.wrap_model_engine(engine)


class Greedy(SmallTrial):
    def evaluate_batch(self, dataloader_iter: Iterator[Any] | None, batch_idx: int) -> dict[str, Any]:
        assert dataloader_iter is not None
        next(dataloader_iter)
        return super().evaluate_batch(dataloader_iter, batch_idx)


class Stepless(SmallTrial):
    def train_batch(self, dataloader_iter: Iterator[Any] | None, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        return super().evaluate_batch(dataloader_iter, batch_idx)


class Whole(SmallTrial):
    evaluate_batch = det_ds.DeepSpeedTrial.evaluate_batch

    def evaluate_full_dataset(self, data_loader: Any) -> dict[str, Any]:
        return {"records": sum(len(inputs) for inputs, _ in data_loader)}


def test_accumulated_micro_batches_train_as_one_batch() -> None:
    trial = fitted(_PLAIN, 4, trial_class=WithoutDropout)
    expected = _trained_plainly(trial.start, trial.taken, at_once=3)  # type: ignore[attr-defined]
    for weights, plain in zip(trial.weights, expected, strict=True):  # type: ignore[attr-defined]
        assert weights == pytest.approx(plain.detach().flatten().tolist(), rel=1e-5)


def test_metrics_of_a_batch_are_the_mean_over_its_micro_batches() -> None:
    auto, by_itself = (fitted(_PLAIN, 4, trial_class=each) for each in (WithoutDropout, ByItself))
    assert len(auto.seen.training) == 4
    assert [each["loss"] for each in auto.seen.training] == pytest.approx(
        [each["loss"] for each in by_itself.seen.training], rel=1e-6
    )
    assert auto.weights == by_itself.weights  # type: ignore[attr-defined]


def test_trial_that_takes_its_micro_batches_by_itself_resumes_where_it_was() -> None:
    alone, first = fitted(_PLAIN, 5, trial_class=ByItself), fitted(_PLAIN, 2, trial_class=ByItself)
    then = fitted(_PLAIN, 5, latest=first.seen.checkpoints[-1], trial_class=ByItself)
    assert then.weights == alone.weights  # type: ignore[attr-defined]


def test_batch_that_ends_between_two_steps_is_refused() -> None:
    with pytest.raises(AssertionError, match="no multiple of gradient_accumulation_steps=2"):
        fitted({"accumulation": 2}, 3, trial_class=Restless)


def test_index_of_batches_counts_over_the_whole_trial() -> None:
    seen: list[tuple[int, int]] = []

    class Listening(SmallTrial):
        def train_batch(self, dataloader_iter: Iterator[Any] | None, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
            seen.append((epoch_idx, batch_idx))
            return super().train_batch(dataloader_iter, epoch_idx, batch_idx)

    fitted({"records": 8, "accumulation": 2}, 4, trial_class=Listening)
    assert seen == [(0, 0)] * 2 + [(0, 1)] * 2 + [(1, 2)] * 2 + [(1, 3)] * 2


def test_files_of_a_checkpoint(tmp_path: Path) -> None:
    stored = _stored(tmp_path, fitted({"zero": 1}, 2))
    assert json.loads((stored / "load_data.json").read_text())["trial_type"] == "DeepSpeedTrial"
    counters = pickle.loads((stored / "trial_state.pkl").read_bytes())
    assert (counters["batches_trained"], counters["last_ckpt"]) == (2, 2)
    own = torch.load(stored / "det_state_dict_rank0.pth", weights_only=False)
    assert own["callbacks"] == {"seen": {"workloads": 2}} and "cpu_rng_state" in own["rng_state"]
    assert (stored / "model0" / "mp_rank_00_model_states.pt").is_file() and (stored / "code").is_dir()


@pytest.mark.parametrize("stage", [1, 3])
def test_weights_of_a_checkpoint_are_read_by_deepspeeds_own_function(tmp_path: Path, stage: int) -> None:
    trial = fitted({"zero": stage}, 2)
    stored = _stored(tmp_path, trial)
    found = get_fp32_state_dict_from_zero_checkpoint(str(stored), tag="model0")
    assert [weight.flatten().tolist() for weight in found.values()] == trial.weights  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="get_fp32_state_dict_from_zero_checkpoint"):
        pytorch.load_trial_from_checkpoint_path(str(stored))


def test_weights_of_a_checkpoint_without_zero_are_read_by_torch(tmp_path: Path) -> None:
    trial = fitted({"zero": 0}, 2)
    saved = torch.load(_stored(tmp_path, trial) / "model0" / "mp_rank_00_model_states.pt", weights_only=False)
    assert [weight.flatten().tolist() for weight in saved["module"].values()] == trial.weights  # type: ignore[attr-defined]


def test_checkpoint_of_somebody_else_that_would_run_code_is_refused(tmp_path: Path) -> None:
    first = fitted({}, 1)
    file = _stored(tmp_path, first) / "model0" / "mp_rank_00_model_states.pt"
    state = torch.load(file, weights_only=False) | {"evil": _Evil(tmp_path / "was-run")}
    torch.save(state, file)
    (file.parents[1] / ".det-manifest.json").unlink()  # as one of an older release, whose files are not checked
    with pytest.raises(UnsafeCheckpoint, match="loading that could run any code"):
        fitted({}, 2, latest=first.seen.checkpoints[-1])
    assert not (tmp_path / "was-run").exists()


def test_checkpoint_of_another_kind_of_trial_is_refused(tmp_path: Path) -> None:
    first = fitted({}, 1)
    (_stored(tmp_path, first) / "det_state_dict_rank0.pth").unlink()
    (_stored(tmp_path, first) / ".det-manifest.json").unlink()
    with pytest.raises(CheckpointNotFound, match="no checkpoint of a DeepSpeedTrial"):
        fitted({}, 2, latest=first.seen.checkpoints[-1])


def test_checkpoint_of_another_zero_stage_says_what_must_be_the_same() -> None:
    first = fitted({"zero": 1}, 1)
    with pytest.raises(AttributeError) as raised:
        fitted({"zero": 0}, 2, latest=first.seen.checkpoints[-1])
    assert any("The ZeRO stage" in note for note in raised.value.__notes__)


def test_weights_alone_are_loaded_from_a_checkpoint_of_another_zero_stage() -> None:
    first = fitted({"zero": 1}, 1)
    then = fitted({"zero": 0}, 2, latest=first.seen.checkpoints[-1], trial_class=WeightsAlone)
    assert then.loaded == first.weights  # type: ignore[attr-defined]


def test_engine_that_is_not_in_the_checkpoint_is_named() -> None:
    first = fitted({}, 1)
    with pytest.raises(RuntimeError, match="engine 1 of wrap_model_engine is not in the checkpoint"):
        fitted({}, 2, latest=first.seen.checkpoints[-1], trial_class=TwoEngines)


def test_all_validation_data_at_once() -> None:
    assert fitted({"validation_records": 10}, 1, trial_class=Whole).seen.validation == [{"records": 10}]


def test_evaluation_that_takes_more_than_there_is_says_what_it_is_called_for() -> None:
    with pytest.raises(InvalidExperimentException, match="call 6 of evaluate_batch found no data left"):
        fitted({}, 1, trial_class=Greedy)


def test_trial_whose_engine_never_steps_is_told(caplog: pytest.LogCaptureFixture) -> None:
    fitted({}, 3, trial_class=Stepless)
    assert caplog.text.count("no engine has stepped in the first 1 batches") == 1


def test_trial_whose_engine_steps_is_not_warned(caplog: pytest.LogCaptureFixture) -> None:
    fitted({}, 2)
    fitted({"stages": 1}, 2)
    assert "has stepped" not in caplog.text


def test_pipeline_leaves_out_a_ragged_tail_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    trial = fitted({"stages": 1, "micro": 2, "accumulation": 4, "validation_records": 18}, 1)
    assert trial.seen.validation and "up to 1 at the end of the validation data are left" in caplog.text


def test_pipeline_with_less_validation_data_than_it_takes_at_once_is_refused() -> None:
    with pytest.raises(InvalidExperimentException, match="evaluates 4 micro batches at once"):
        fitted({"stages": 1, "micro": 2, "accumulation": 4, "validation_records": 6}, 1)


def test_less_training_data_than_one_batch_is_refused() -> None:
    with pytest.raises(InvalidExperimentException, match="less than the 4 micro batches of one batch"):
        fitted({"records": 6, "micro": 2, "accumulation": 4}, 1)


def test_context_knows_the_sizes_of_batches_from_the_engine() -> None:
    with det_ds.init(hparams={"micro": 2, "accumulation": 3}) as context:
        with pytest.raises(InvalidExperimentException, match="no engine is wrapped"):
            context.get_train_micro_batch_size_per_gpu()
        SmallTrial(context)
        assert (context.get_train_micro_batch_size_per_gpu(), context.get_num_micro_batches_per_slot()) == (2, 3)
        assert context.get_global_batch_size() == 6
        assert (context.use_pipeline_parallel, context.device.type) == (False, "cpu")
        with pytest.warns(FutureWarning, match="get_num_micro_batches_per_slot"):
            assert context.num_micro_batches_per_slot == 3


def test_mpu_is_set_once_and_after_an_engine() -> None:
    mpu = det_ds.ModelParallelUnit(0, 1, should_report_metrics=True, should_build_data_loader=True)
    with det_ds.init(hparams={}) as context:
        with pytest.raises(InvalidExperimentException, match="before wrap_model_engine"):
            context.set_mpu(mpu)
        SmallTrial(context)
        context.set_mpu(mpu)
        with pytest.raises(InvalidExperimentException, match="called twice"):
            context.set_mpu(mpu)
        with pytest.raises(TypeError, match="pass a ModelParallelUnit"):
            context.set_mpu(object())  # type: ignore[arg-type]


def test_data_parallel_ranks_load_and_report() -> None:
    with det_ds.init(hparams={}) as context:
        found = det_ds.make_data_parallel_mpu(context.distributed)
    assert found == det_ds.ModelParallelUnit(0, 1, should_report_metrics=True, should_build_data_loader=True)


@pytest.mark.parametrize(("stage", "slice_rank", "loads"), [(0, 0, True), (1, 0, False), (2, 0, True), (2, 1, False)])
def test_ends_of_a_pipeline_load_data_and_all_report(stage: int, slice_rank: int, loads: bool) -> None:
    found = det_ds.make_deepspeed_mpu(_Grid(stage, slice_rank))
    assert found == det_ds.ModelParallelUnit(1, 4, should_report_metrics=True, should_build_data_loader=loads)


@pytest.mark.parametrize(
    "method",
    [
        "wrap_model",
        "wrap_optimizer",
        "wrap_lr_scheduler",
        "wrap_scaler",
        "configure_apex_amp",
        "backward",
        "step_optimizer",
    ],
)
def test_what_the_engine_does_by_itself_is_refused(method: str) -> None:
    with (
        det_ds.init(hparams={}) as context,
        pytest.raises(InvalidExperimentException, match=f"{method} is not for a DeepSpeedTrial"),
    ):
        getattr(context, method)(None)


def test_precision_is_not_asked_of_the_context() -> None:
    with det_ds.init(hparams={}) as context, pytest.raises(InvalidExperimentException, match="use_amp is not for"):
        context.experimental.use_amp()


def test_advice_about_a_loss_that_is_no_number_is_for_deepspeed(caplog: pytest.LogCaptureFixture) -> None:
    class Diverging(SmallTrial):
        def train_batch(self, dataloader_iter: Iterator[Any] | None, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
            return super().train_batch(dataloader_iter, epoch_idx, batch_idx) | {"loss": float("nan")}

    fitted({}, 1, trial_class=Diverging)
    assert "'loss' is nan in batch 0" in caplog.text and "gradient_clipping in DeepSpeed's config" in caplog.text


def test_what_is_no_engine_cannot_be_wrapped() -> None:
    with det_ds.init(hparams={}) as context, pytest.raises(TypeError, match=r"deepspeed\.initialize"):
        context.wrap_model_engine(nn.Linear(1, 1))


def test_nothing_is_left_behind(caplog: pytest.LogCaptureFixture) -> None:
    before = dict(os.environ)
    with caplog.at_level(logging.WARNING), det_ds.init(hparams={}):
        assert torch.distributed.is_initialized() and os.environ["LOCAL_RANK"] == "0"
    assert dict(os.environ) == before and not torch.distributed.is_initialized()


def test_group_of_a_trial_that_makes_it_by_itself_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DET_MANUAL_INIT_DISTRIBUTED", "1")
    with det_ds.init(hparams={}):
        assert not torch.distributed.is_initialized()
        deepspeed.init_distributed(dist_backend="gloo", auto_mpi_discovery=False)
        assert torch.distributed.get_world_size() == 1


@pytest.mark.parametrize("optimizations", [{"mixed_precision": "O1"}, {"aggregation_frequency": 2}])
def test_optimizations_that_deepspeed_has_by_itself_are_refused(optimizations: dict[str, Any]) -> None:
    from determined.pytorch.deepspeed._entrypoint import _check_optimizations

    with pytest.raises(InvalidExperimentException, match=f"{next(iter(optimizations))}.* is not for a DeepSpeedTrial"):
        _check_optimizations(ExperimentConfig.load({"optimizations": optimizations}).optimizations)


class _Grid:
    """A place in a pipeline of three stages, as DeepSpeed's PipelineParallelGrid tells it."""

    def __init__(self, stage: int, slice_rank: int) -> None:
        self._stage, self._slice_rank = stage, slice_rank

    def get_pipe_parallel_rank(self) -> int:
        return self._stage

    def get_pipe_parallel_world_size(self) -> int:
        return 3

    def get_data_parallel_rank(self) -> int:
        return 1

    def get_data_parallel_world_size(self) -> int:
        return 4

    def get_slice_parallel_rank(self) -> int:
        return self._slice_rank


class _Evil:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self._path,)


def _stored(tmp_path: Path, trial: SmallTrial) -> Path:
    return tmp_path / "data" / "determined" / trial.seen.checkpoints[-1]


def _trained_plainly(start: list[torch.Tensor], micro_batches: list[Any], at_once: int) -> list[torch.Tensor]:
    """The same by a loop over whole batches."""
    net = nn.Sequential(nn.Linear(FEATURES, 8), nn.Tanh(), nn.Linear(8, 1))
    with torch.no_grad():
        for parameter, value in zip(net.parameters(), start, strict=True):
            parameter.copy_(value)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for first in range(0, len(micro_batches), at_once):
        inputs, targets = map(torch.cat, zip(*micro_batches[first : first + at_once], strict=True))
        optimizer.zero_grad()
        mean_square(net(inputs), targets).backward()
        optimizer.step()
    return list(net.parameters())
