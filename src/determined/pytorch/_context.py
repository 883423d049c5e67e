"""PyTorchTrialContext: what a PyTorchTrial wraps its models by, and trains through."""

import logging
from typing import Any, Self

import torch
from torch import nn

from determined import core
from determined._json import JsonObject
from determined.errors import InvalidExperimentException
from determined.pytorch import _parallel
from determined.pytorch._amp import MixedPrecision, in_place_of
from determined.pytorch._batch_data import to_device
from determined.pytorch._experimental import PyTorchExperimentalContext
from determined.pytorch._gradients import ClipGrads, Gradients
from determined.pytorch._lr_scheduler import LRScheduler
from determined.pytorch._reducer import ReducerSet
from determined.pytorch._trial_facts import TrialFacts
from determined.trial import EnvContext

logger = logging.getLogger("determined.pytorch")


class PyTorchTrialContext(TrialFacts):
    """Made by `pytorch.init`, or by the platform for `entrypoint: model_def:MyTrial`, and handed to the trial.

    Attributes:
        distributed: this process among its peers.
        device: where this process computes.
        models, optimizers, lr_schedulers: what was wrapped, in that order.
        profiler: samples the machine, as `core.Context.profiler`.
        experimental: choices that may change from release to release.
        env: what the platform told this trial at its start.
    """

    def __init__(
        self,
        *,
        core_context: core.Context,
        trial_seed: int | None,
        hparams: JsonObject | None,
        exp_conf: JsonObject | None,
        slots_per_trial: int,
        num_gpus: int,
        aggregation_frequency: int = 1,
        average_aggregated_gradients: bool = True,
        gradient_compression: bool = False,
        steps_completed: int = 0,
        managed_training: bool = True,
        enable_tensorboard_logging: bool = True,
        env: EnvContext | None = None,
    ) -> None:
        if aggregation_frequency < 1:
            raise ValueError(
                f"aggregation_frequency={aggregation_frequency} is not a number of batches; give 1 or more"
            )
        super().__init__(
            core_context,
            env,
            trial_seed=trial_seed,
            hparams=hparams,
            exp_conf=exp_conf,
            slots_per_trial=slots_per_trial,
            steps_completed=steps_completed,
            managed_training=managed_training,
            enable_tensorboard_logging=enable_tensorboard_logging,
        )
        self.device = _parallel.device_of(self.distributed, num_gpus)
        self.models: list[nn.Module] = []
        self.optimizers: list[torch.optim.Optimizer] = []
        self.lr_schedulers: list[LRScheduler] = []
        self.profiler = core_context.profiler
        self.experimental = PyTorchExperimentalContext(self)

        self._aggregation_frequency: int = aggregation_frequency
        self._gradient_compression = gradient_compression
        self._precision = MixedPrecision()
        self._gradients = Gradients(
            aggregation_frequency=aggregation_frequency,
            average=average_aggregated_gradients,
            precision=self._precision,
        )
        self._reducers = ReducerSet()
        self._memory_format: torch.memory_format | None = None
        self._warned_types: set[type] = set()
        self._auto_to_device = True
        self._reproducible_data = True

    def wrap_model(
        self,
        model: nn.Module,
        *,
        compile: bool | JsonObject = False,
        memory_format: torch.memory_format | None = None,
        shard: bool | tuple[type, ...] = False,
        ddp: JsonObject | None = None,
    ) -> nn.Module:
        """Move a model to this process's device, make it train with the other ranks, and keep it in checkpoints.

        Use what this returns. Over several ranks it is torch's DistributedDataParallel around the model (attributes
        and methods of the model are found on it), or the model sharded by FSDP2. A model that was compiled or sharded
        before is taken as it is.

        Args:
            model: the model.
            compile: whether to compile it with torch.compile, or the arguments to do so with.
            memory_format: e.g. `torch.channels_last`, for the model's weights; batches get it in `to_device` as well.
            shard: shard parameters, gradients and optimizer state over the ranks: each submodule of the given classes
                on its own, and the rest; True is all at once. Make the optimizer afterwards. One rank alone keeps all.
            ddp: arguments for DistributedDataParallel, such as `find_unused_parameters`.

        Raises:
            InvalidExperimentException: after `configure_apex_amp`, or several ranks that have no process group.
            TypeError: not a torch.nn.Module.

        Example:
            >>> self.model = context.wrap_model(Net(), compile=True, memory_format=torch.channels_last)
        """
        if not isinstance(model, nn.Module):
            raise TypeError(f"wrap_model got a {type(model).__name__}; pass a torch.nn.Module")
        if self._precision.apex is not None:
            raise InvalidExperimentException("wrap_model was called after configure_apex_amp; wrap every model before")
        if self._managed_training:
            self._precision.cast(_parallel.bare(model), self.device)
        self._memory_format = memory_format or self._memory_format
        model = _parallel.place(model, self.device, memory_format)
        if self._managed_training:
            model = _parallel.spread(model, self.distributed, self.device, shard=shard, ddp=ddp or {})
            self._gradients.know_model(model)
            model = _parallel.compiled(model, compile)
        self.models.append(model)
        return model

    def wrap_optimizer(
        self,
        optimizer: torch.optim.Optimizer,
        backward_passes_per_step: int = 1,
        fp16_compression: bool | None = None,
        average_aggregated_gradients: bool | None = None,
    ) -> torch.optim.Optimizer:
        """Make an optimizer step with the other ranks, and keep it in checkpoints. Use what this returns.

        Args:
            optimizer: the optimizer.
            backward_passes_per_step: how often `backward` is called in one `train_batch`; only horovod must know.
            fp16_compression: exchange gradients in half precision; None is what the config's
                `optimizations.gradient_compression` says.
            average_aggregated_gradients: divide gradients aggregated over several batches by their number; None is
                what the config's `optimizations.average_aggregated_gradients` says.

        Raises:
            InvalidExperimentException: less than one backward pass, or an optimizer made before its model was sharded.
            TypeError: not a torch.optim.Optimizer.
        """
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise TypeError(f"wrap_optimizer got a {type(optimizer).__name__}; pass a torch.optim.Optimizer")
        if backward_passes_per_step < 1:
            raise InvalidExperimentException(
                f"wrap_optimizer(backward_passes_per_step={backward_passes_per_step}): give 1 or more"
            )
        if self._managed_training and self.distributed.size > 1:
            optimizer = _parallel.spread_optimizer(
                optimizer,
                self.models,
                number=len(self.optimizers),
                passes=backward_passes_per_step * self._aggregation_frequency,
                compress=self._gradient_compression if fp16_compression is None else fp16_compression,
            )
        self._gradients.know_optimizer(optimizer, average_aggregated_gradients)
        self.optimizers.append(optimizer)
        return optimizer

    def wrap_lr_scheduler(self, lr_scheduler: Any, step_mode: LRScheduler.StepMode, frequency: int = 1) -> Any:
        """Have a learning-rate scheduler stepped by the training loop, and keep it in checkpoints.

        Args:
            lr_scheduler: a scheduler of `torch.optim.lr_scheduler` on a wrapped optimizer.
            step_mode: when it is stepped.
            frequency: only at every so many of these moments.

        Returns:
            The scheduler itself.

        Raises:
            InvalidExperimentException: its optimizer is not wrapped, or ReduceLROnPlateau would be stepped without the
                metric it needs.
        """
        scheduled = getattr(lr_scheduler, "optimizer", None)  # one of the user's own may call it otherwise
        if scheduled is not None and not any(optimizer is scheduled for optimizer in self.optimizers):
            raise InvalidExperimentException(
                f"wrap_lr_scheduler got a {type(lr_scheduler).__name__} whose optimizer is not wrapped; make it with "
                "the optimizer that context.wrap_optimizer returned"
            )
        is_plateau = isinstance(lr_scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau)
        if is_plateau and step_mode is not LRScheduler.StepMode.MANUAL_STEP:
            raise InvalidExperimentException(
                f"wrap_lr_scheduler got ReduceLROnPlateau with {step_mode}; its step needs a metric, so use "
                "LRScheduler.StepMode.MANUAL_STEP and call step(metric) yourself"
            )
        self.lr_schedulers.append(LRScheduler(lr_scheduler, step_mode, frequency))
        return lr_scheduler

    def wrap_reducer(
        self, reducer: Any, name: str | None = None, for_training: bool = True, for_validation: bool = True
    ) -> Any:
        """Have a metric computed over all batches and slots by a function or a MetricReducer of your own.

        Args:
            reducer: a MetricReducer, or a function of the list of all values given to `update`.
            name: the metric's name; None for a reducer that returns a dict of metrics.
            for_training: whether it is part of training metrics.
            for_validation: whether it is part of validation metrics.

        Returns:
            The MetricReducer, or for a function an object with `update(value)`.
        """
        return self._reducers.wrap(reducer, name, for_training, for_validation)

    def reset_reducers(self) -> None:
        """Forget what the reducers have seen; the training loop does so where it is due."""
        self._reducers.reset()

    def reduce_metrics(self, for_training: bool) -> JsonObject:
        """The reducers' metrics; all ranks must call this together. The training loop does."""
        return self._reducers.reduce(self.distributed, for_training=for_training)

    def wrap_scaler(self, scaler: torch.amp.GradScaler) -> torch.amp.GradScaler:
        """Keep a gradient scaler of your own in checkpoints.

        The trial scales its loss itself, passes the scaler to `step_optimizer` and calls its `update`;
        `experimental.use_amp` does all that by itself.

        Args:
            scaler: of `torch.amp`.

        Returns:
            The scaler itself.

        Raises:
            InvalidExperimentException: a second one, after `wrap_model`, or beside apex or `use_amp`.

        Example:
            >>> self.scaler = context.wrap_scaler(torch.amp.GradScaler("cuda"))
            >>> # and in train_batch
            >>> context.backward(self.scaler.scale(loss))
            >>> context.step_optimizer(self.optimizer, scaler=self.scaler)
            >>> self.scaler.update()
        """
        self._precision.adopt(scaler, self.models)
        return scaler

    def configure_apex_amp(
        self,
        models: object,
        optimizers: object,
        enabled: bool = True,
        opt_level: str = "O1",
        cast_model_type: torch.dtype | None = None,
        patch_torch_functions: bool | None = None,
        keep_batchnorm_fp32: bool | str | None = None,
        master_weights: bool | None = None,
        loss_scale: float | str | None = None,
        cast_model_outputs: torch.dtype | None = None,
        num_losses: int = 1,
        verbosity: int = 1,
        min_loss_scale: float | None = None,
        max_loss_scale: float = 2.0**24,
    ) -> tuple[Any, Any]:
        """Deprecated: mixed precision by NVIDIA apex; use `experimental.use_amp`.

        Args:
            models: a wrapped model or a list of them; other wrapped models stay as they are.
            optimizers: a wrapped optimizer or a list of them. The other arguments are those of `apex.amp.initialize`.

        Returns:
            Models and optimizers as apex made them, in the shape given.

        Raises:
            InvalidExperimentException: twice, before wrapping, without CUDA, or with several losses or aggregation over
                several ranks.
        """
        options = {name: value for name, value in locals().items() if name not in ("self", "models", "optimizers")}
        if not self._managed_training:
            return models, optimizers
        if not self.models or not self.optimizers:
            raise InvalidExperimentException("configure_apex_amp was called before wrap_model and wrap_optimizer")
        size, every = self.distributed.size, self._aggregation_frequency
        made = self._precision.configure_apex(models, optimizers, distributed_size=size, every=every, options=options)
        self.models = in_place_of(self.models, models, made[0])
        before, self.optimizers = self.optimizers, in_place_of(self.optimizers, optimizers, made[1])
        self._gradients.know_instead(before, self.optimizers)
        self._gradients.plain = False
        return made

    def backward(
        self,
        loss: torch.Tensor,
        gradient: torch.Tensor | None = None,
        retain_graph: bool = False,
        create_graph: bool = False,
    ) -> None:
        """Compute gradients, in place of `loss.backward()`.

        Args:
            loss: what to differentiate; scaled before under `use_amp` in float16.
            gradient: argument of `torch.Tensor.backward`.
            retain_graph: argument of `torch.Tensor.backward`.
            create_graph: argument of `torch.Tensor.backward`.
        """
        self._gradients.backward(loss, gradient, retain_graph, create_graph)

    def step_optimizer(
        self,
        optimizer: torch.optim.Optimizer,
        clip_grads: ClipGrads | None = None,
        auto_zero_grads: bool = True,
        scaler: torch.amp.GradScaler | None = None,
    ) -> None:
        """Step an optimizer and zero its gradients; call it once for each in `train_batch`.

        With `aggregation_frequency` N only every N-th batch steps; the others add up gradients.

        Args:
            optimizer: what `wrap_optimizer` returned.
            clip_grads: called with the optimizer's parameters before it steps.
            auto_zero_grads: whether gradients are zeroed after the step.
            scaler: a gradient scaler of your own, see `wrap_scaler`.

        Raises:
            InvalidExperimentException: `auto_zero_grads=False` while gradients are aggregated.

        Example:
            >>> context.step_optimizer(optimizer, lambda params: torch.nn.utils.clip_grad_norm_(params, 1.0))
        """
        self._gradients.step(optimizer, clip_grads, auto_zero_grads, scaler)

    def to_device(self, data: Any) -> Any:
        """A batch on this process's device, in the memory format asked for in `wrap_model`; see `pytorch.to_device`."""
        data = to_device(data, self.device, self._warned_types)
        return data if self._memory_format is None else _parallel.laid_out(data, self._memory_format)

    @property
    def _scaler(self) -> torch.amp.GradScaler | None:
        return self._precision.scaler

    @property
    def _apex_state(self) -> Any:
        """The module `apex.amp`, whose state_dict and load_state_dict a checkpoint calls; None without apex."""
        return self._precision.apex

    def _before_batch(self, batch_idx: int) -> None:
        """Called for every batch, before train_batch."""
        self._current_batch_idx = batch_idx
        if self._aggregation_frequency > 1:
            self._gradients.begin_batch(batch_idx)
        if self._torch_profiler is not None and not self._profiler_runs:
            self._torch_profiler.start()
            self._profiler_runs = True

    def _after_batch(self) -> None:
        """Called for every batch, after train_batch."""
        if not self._gradients.plain:
            self._gradients.end_batch()
        if self._torch_profiler is not None:
            self._torch_profiler.step()

    def _bare(self, model: nn.Module) -> nn.Module:
        """The user's own model, whose state_dict is saved."""
        return _parallel.bare(model)

    def _is_sharded(self) -> bool:
        """Return whether a checkpoint needs every rank: some model's parameters are spread over them."""
        return any(_parallel.is_sharded(model) for model in self.models)

    def _close(self) -> None:
        if self._profiler_runs:
            self._torch_profiler.stop()
            self._profiler_runs = False
        if self._tbd_writer is not None:
            self._tbd_writer.close()

    @classmethod
    def _for_debugging(cls, core_context: core.Context, env: EnvContext) -> Self:
        return cls(
            core_context=core_context,
            trial_seed=env.trial_seed,
            hparams=env.hparams,
            exp_conf=env.experiment_config,
            slots_per_trial=1,
            num_gpus=torch.cuda.device_count(),
            managed_training=env.managed_training,
            env=env,
        )
