"""DeepSpeedTrialContext: what a DeepSpeedTrial gives its model engines to, and asks about its batches."""

import warnings
from typing import Any, NoReturn

import deepspeed
from deepspeed.runtime.pipe.engine import PipelineEngine

from determined.errors import InvalidExperimentException
from determined.pytorch._context import PyTorchTrialContext
from determined.pytorch._experimental import PyTorchExperimentalContext
from determined.pytorch.deepspeed import _backend
from determined.pytorch.deepspeed._mpu import ModelParallelUnit, make_data_parallel_mpu, make_deepspeed_mpu
from determined.trial import BatchSizes, EnvContext


class DeepSpeedTrialContext(PyTorchTrialContext):
    """Made by `deepspeed.init`, or by the platform for `entrypoint: model_def:MyTrial`, and handed to the trial.

    It is PyTorchTrialContext without what the engine does by itself: optimizers, schedulers, precision.

    Attributes:
        distributed: this process among its peers.
        device: where this process computes.
        models: the engines, in the order they were wrapped.
        env: what the platform told this trial at its start.
    """

    def __init__(self, *, num_gpus: int = 0, env: EnvContext | None = None, **given: Any) -> None:
        # Without `env`: batch sizes are the engine's to know, and no hyperparameter is asked for them.
        super().__init__(num_gpus=0, env=None, **given)
        self.env = env or self.env
        self.device = _backend.device(self.distributed.local_rank)
        self.experimental = EngineExperimentalContext(self)
        self.models: list[Any] = []
        self._mpu: ModelParallelUnit = make_data_parallel_mpu(self.distributed)
        self._mpu_was_set = False
        self._accumulates_gradients = True

    @property
    def use_pipeline_parallel(self) -> bool:
        """Return whether an engine trains a pipeline: its `train_batch` then takes all micro batches at once."""
        return any(isinstance(engine, PipelineEngine) for engine in self.models)

    @property
    def _exchanges_one_size(self) -> bool:
        """Return whether stages of a pipeline take every micro batch for one of the size of the first."""
        pipelines = [engine for engine in self.models if isinstance(engine, PipelineEngine)]
        return any(each.num_stages > 1 and not getattr(each, "dynamic_shape", False) for each in pipelines)

    def wrap_model_engine(self, model: object) -> Any:
        """Have an engine trained and kept in checkpoints.

        Args:
            model: what `deepspeed.initialize` returned first.

        Returns:
            The engine itself.

        Raises:
            TypeError: not an engine.

        Example:
            >>> engine, *_ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=config)
            >>> self.engine = context.wrap_model_engine(engine)
        """
        if not isinstance(model, deepspeed.DeepSpeedEngine):
            raise TypeError(
                f"wrap_model_engine got a {type(model).__name__}; pass the first value of deepspeed.initialize(...)"
            )
        self.models.append(model)
        if isinstance(model, PipelineEngine) and not self._mpu_was_set:
            self._mpu = make_deepspeed_mpu(model.mpu)
        return model

    def set_mpu(self, mpu: ModelParallelUnit) -> None:
        """Say how the model is spread over the ranks, where it is by another way than DeepSpeed's pipeline.

        Args:
            mpu: this rank's place.

        Raises:
            InvalidExperimentException: before an engine is wrapped, or a second time.
            TypeError: not a ModelParallelUnit.
        """
        if not isinstance(mpu, ModelParallelUnit):
            raise TypeError(f"set_mpu got a {type(mpu).__name__}; pass a ModelParallelUnit (see make_deepspeed_mpu)")
        if not self.models:
            raise InvalidExperimentException("set_mpu was called before wrap_model_engine; wrap the engine first")
        if self._mpu_was_set:
            raise InvalidExperimentException("set_mpu was called twice; a trial has one ModelParallelUnit")
        self._mpu, self._mpu_was_set = mpu, True

    def disable_auto_grad_accumulation(self) -> None:
        """Have `train_batch` called once for each batch: it then trains all micro batches by itself."""
        self._accumulates_gradients = False

    def disable_dataset_reproducibility_checks(self) -> None:
        """Allow loaders other than `determined.pytorch.DataLoader`: the trial shards its data by itself, and skips what
        was trained before a pause: `get_num_micro_batches_per_slot()` micro batches for each of `get_initial_batch()`.
        """
        self._reproducible_data = False

    def get_train_micro_batch_size_per_gpu(self) -> int:
        """Records in one micro batch of one slot: the batch size of data loaders.

        Raises:
            InvalidExperimentException: no engine is wrapped.
        """
        return int(self._first_engine().train_micro_batch_size_per_gpu())

    def get_num_micro_batches_per_slot(self) -> int:
        """Micro batches of one slot between two steps of the optimizer. Raises as its sibling."""
        return int(self._first_engine().gradient_accumulation_steps())

    @property
    def train_micro_batch_size_per_gpu(self) -> int:
        """Deprecated: `get_train_micro_batch_size_per_gpu()`."""
        _deprecated("train_micro_batch_size_per_gpu")
        return self.get_train_micro_batch_size_per_gpu()

    @property
    def num_micro_batches_per_slot(self) -> int:
        """Deprecated: `get_num_micro_batches_per_slot()`."""
        _deprecated("num_micro_batches_per_slot")
        return self.get_num_micro_batches_per_slot()

    def wrap_model(self, *_given: object, **_named: object) -> NoReturn:
        """Refuse: DeepSpeed's engine does this by itself."""
        raise _refusal("wrap_model", "pass the engine of deepspeed.initialize to wrap_model_engine")

    def wrap_optimizer(self, *_given: object, **_named: object) -> NoReturn:
        """Refuse: DeepSpeed's engine does this by itself."""
        raise _refusal("wrap_optimizer", "name the optimizer in DeepSpeed's config or pass it to deepspeed.initialize")

    def wrap_lr_scheduler(self, *_given: object, **_named: object) -> NoReturn:
        """Refuse: DeepSpeed's engine does this by itself."""
        raise _refusal("wrap_lr_scheduler", "name the scheduler in DeepSpeed's config or pass it to initialize")

    def wrap_scaler(self, *_given: object, **_named: object) -> NoReturn:
        """Refuse: DeepSpeed's engine does this by itself."""
        raise _refusal("wrap_scaler", "set fp16 or bf16 in DeepSpeed's config")

    def configure_apex_amp(self, *_given: object, **_named: object) -> NoReturn:
        """Refuse: DeepSpeed's engine does this by itself."""
        raise _refusal("configure_apex_amp", "set amp, fp16 or bf16 in DeepSpeed's config")

    def backward(self, *_given: object, **_named: object) -> NoReturn:
        """Refuse: DeepSpeed's engine does this by itself."""
        raise _refusal("backward", "call engine.backward(loss)")

    def step_optimizer(self, *_given: object, **_named: object) -> NoReturn:
        """Refuse: DeepSpeed's engine does this by itself."""
        raise _refusal("step_optimizer", "call engine.step()")

    def _batch_sizes(self, missing: type[BaseException]) -> BatchSizes:
        if not self.models:
            return super()._batch_sizes(missing)
        per_slot = self.get_train_micro_batch_size_per_gpu() * self.get_num_micro_batches_per_slot()
        return BatchSizes(per_slot, int(self.models[0].train_batch_size()))

    def _first_engine(self) -> Any:
        if not self.models:
            raise InvalidExperimentException(
                "no engine is wrapped, so the sizes of batches are not known; call wrap_model_engine first"
            )
        return self.models[0]


class EngineExperimentalContext(PyTorchExperimentalContext):
    """`context.experimental`, likewise without what the engine does."""

    def use_amp(self, *_given: object, **_named: object) -> NoReturn:
        """Refuse: DeepSpeed's engine does this by itself."""
        raise _refusal("use_amp", "set fp16 or bf16 in DeepSpeed's config")


def _refusal(method: str, instead: str) -> InvalidExperimentException:
    return InvalidExperimentException(f"{method} is not for a DeepSpeedTrial, whose engine does this; {instead}")


def _deprecated(name: str) -> None:
    warnings.warn(f"context.{name} is deprecated; call context.get_{name}()", FutureWarning, stacklevel=3)
