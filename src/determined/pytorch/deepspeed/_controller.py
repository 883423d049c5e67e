"""DeepSpeedTrialController: the training loop of `determined.pytorch` with batches of several micro batches."""

import inspect
import logging
from collections.abc import Iterator
from typing import Any, cast

from deepspeed.runtime.pipe.engine import PipelineEngine

from determined.errors import InvalidExperimentException
from determined.pytorch._controller import Plan, PyTorchTrialController
from determined.pytorch._health import Health
from determined.pytorch._trial_checks import check_loader
from determined.pytorch.deepspeed._checkpoint import DeepSpeedCheckpoints
from determined.pytorch.deepspeed._context import DeepSpeedTrialContext
from determined.pytorch.deepspeed._micro_batches import MicroBatches, MicroBatchMetrics, is_ragged
from determined.pytorch.deepspeed._trial import DeepSpeedTrial
from determined.pytorch.deepspeed._validation import DeepSpeedValidation
from determined.trial import Leg

logger = logging.getLogger("determined.pytorch.deepspeed")

_STEP_HOOK = "on_before_optimizer_step"


class EngineHealth(Health):
    """Health of a training whose steps and precision are DeepSpeed's."""

    _HELPS = "gradient_clipping in DeepSpeed's config, and bf16 there in place of fp16"

    def __init__(self, context: Any) -> None:
        super().__init__(context)
        self._engines = context.models

    def _look_at_steps(self, batches: int) -> None:
        self._warned_of_steps = True
        if any(isinstance(engine, PipelineEngine) or engine.micro_steps for engine in self._engines):
            return
        logger.warning(
            "no engine has stepped in the first %d batches: the weights are those the trial began with. Call "
            "engine.backward(loss) and engine.step() in train_batch, with an engine of wrap_model_engine",
            batches,
        )


class DeepSpeedTrialController(PyTorchTrialController):
    """Trains one trial from where its checkpoint left off to the end of the last leg."""

    _CHECKPOINTS = DeepSpeedCheckpoints
    _HEALTH = EngineHealth
    context: DeepSpeedTrialContext

    def __init__(self, trial: DeepSpeedTrial, context: DeepSpeedTrialContext, plan: Plan, legs: Iterator[Leg]) -> None:
        super().__init__(cast(Any, trial), context, plan, legs)

    def _check(self, trial: Any, context: Any) -> None:
        if not context.models:
            raise InvalidExperimentException(
                f"{type(trial).__name__}.__init__ wrapped no engine; pass the first value of deepspeed.initialize(...) "
                "through self.context.wrap_model_engine(engine)"
            )
        _warn_of_batches(trial)

    def _open_data(self) -> None:
        if self._is_chief and self.callbacks.anywhere(_STEP_HOOK):
            _warn_of_step_hook()
        self._check_copies()
        context, trial, counts = self.context, cast(Any, self.trial), self._counts_metrics()
        micro_batches = context.get_num_micro_batches_per_slot()
        is_called_once = context.use_pipeline_parallel or not context._accumulates_gradients
        self._calls = 1 if is_called_once else micro_batches
        self._chunk = MicroBatchMetrics(self._calls, counts=counts)
        training = validation = None
        if context._mpu.should_build_data_loader:
            training = trial.build_training_data_loader()
            validation = trial.build_validation_data_loader()
        if training is not None:
            check_loader(training, "build_training_data_loader", context)
            self._refuse_ragged(training)
        seed = self._data_seed()
        batches = MicroBatches(training, context._mpu, per_batch=micro_batches, seed=seed)
        self._batches = cast(Any, batches)
        self._validation = DeepSpeedValidation(trial, context, validation, self.callbacks, counts=counts)
        self._epoch_length = context._epoch_len = self._shortest(batches.epoch_length, micro_batches)

    def _check_copies(self) -> None:
        """Ranks with parts of one copy of the model would else be given different data, and nobody would notice."""
        context, ours = self.context, self.context._mpu.data_parallel_world_size
        for number, engine in enumerate(context.models):
            copies = getattr(engine, "dp_world_size", None)
            if copies is not None and copies < ours and not context._mpu_was_set:
                raise InvalidExperimentException(
                    f"engine {number} has its model {copies} time(s) on {ours} ranks, so that several of them must see "
                    "the same data; say which by context.set_mpu(ModelParallelUnit(...)) after wrap_model_engine"
                )

    def _refuse_ragged(self, training: object) -> None:
        if self.context._exchanges_one_size and is_ragged(training):
            raise InvalidExperimentException(
                "the last micro batch of the training data is smaller than the others, and the stages of a pipeline "
                "exchange tensors of one size; pass drop_last=True to the loader, or dynamic_shape=True to "
                "PipelineModule"
            )

    def _counts_metrics(self) -> bool:
        """Return True on the first of the ranks that report for one copy of the model: else its metrics would count
        twice in a sum."""
        mpu = self.context._mpu
        reporting = self._dist.allgather((mpu.data_parallel_rank, mpu.should_report_metrics))
        first = {copy: rank for rank, (copy, reports) in reversed(list(enumerate(reporting))) if reports}
        if not first:
            raise InvalidExperimentException(
                "the ModelParallelUnit of no rank has should_report_metrics; set it on one rank of each copy of the "
                "model at least"
            )
        return first.get(mpu.data_parallel_rank) == self._dist.rank

    def _shortest(self, own: int | None, micro_batches: int) -> int | None:
        """The length of an epoch: that of the rank with the least data."""
        lengths = [length for length in self._dist.allgather(own) if length is not None]
        if 0 in lengths:
            raise InvalidExperimentException(
                f"the training data of a rank has less than the {micro_batches} micro batches of one batch; add data, "
                "or lower train_micro_batch_size_per_gpu or gradient_accumulation_steps"
            )
        return min(lengths, default=None)

    def _run_batches(self, first: int, end: int, epoch: int) -> None:
        context, stream, calls = self.context, self._stream, range(self._calls)
        train_batch, add = cast(Any, self.trial).train_batch, self._chunk.add
        for index in range(first, end):
            context._before_batch(index)
            for _ in calls:
                add(train_batch(stream, epoch, index))
            context._after_batch()
            self._check_accumulation()
            self.state.batches_trained = index + 1

    def _check_accumulation(self) -> None:
        """A checkpoint between two steps of an optimizer would lose the gradients collected so far."""
        if self.context.use_pipeline_parallel:
            return
        for number, engine in enumerate(self.context.models):
            steps = engine.gradient_accumulation_steps()
            if engine.micro_steps % steps:
                raise AssertionError(
                    f"after train_batch engine {number} has trained {engine.micro_steps} micro batches, which is no "
                    f"multiple of gradient_accumulation_steps={steps}; call engine.backward and engine.step once for "
                    "each, and after disable_auto_grad_accumulation() for all of them in one train_batch"
                )


def _warn_of_step_hook() -> None:
    """Warn of a hook whose one use is to change gradients before a step. With ZeRO and half precision they are no
    longer with their parameters by then, or not of their true size: called, the hook would do nothing, or harm."""
    logger.warning(
        "a callback has %s, which is not called: DeepSpeed's engine steps by itself, with gradients that it has spread "
        "over ranks or scaled. Set gradient_clipping in DeepSpeed's config to clip them, or change them in train_batch "
        "before engine.step() by deepspeed.utils.safe_set_full_grad",
        _STEP_HOOK,
    )


def _warn_of_batches(trial: object) -> None:
    """A PyTorchTrial is given batches; its code, moved here, would fail where it takes one apart."""
    for name in ("train_batch", "evaluate_batch"):
        if next(iter(inspect.signature(getattr(trial, name)).parameters), None) == "batch":
            logger.warning(
                "%s.%s has a parameter `batch`, as in a PyTorchTrial; here it gets an iterator of micro batches: call "
                "it dataloader_iter and take each by self.context.to_device(next(dataloader_iter))",
                type(trial).__name__,
                name,
            )
