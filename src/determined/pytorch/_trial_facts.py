"""TrialFacts: what a PyTorch trial may ask its context (hyperparameters, batch sizes, position), and where it writes
for TensorBoard."""

import dataclasses
from typing import Any

import torch

from determined import core
from determined._info import trial_of
from determined._json import JsonObject
from determined.errors import InternalException, InvalidExperimentException
from determined.pytorch import _tensorboard
from determined.trial import BatchSizes, EnvContext, ExperimentConfig, ScalarWriter, TrialContext

_LOCAL = "this trial runs off cluster and {what}; pass {argument} to pytorch.init"


class TrialFacts(TrialContext):
    """The part of PyTorchTrialContext that wraps and trains nothing."""

    def __init__(
        self,
        core_context: core.Context,
        env: EnvContext | None,
        *,
        trial_seed: int | None,
        hparams: JsonObject | None,
        exp_conf: JsonObject | None,
        slots_per_trial: int,
        steps_completed: int,
        managed_training: bool,
        enable_tensorboard_logging: bool,
    ) -> None:
        own = _environment(core_context, hparams, exp_conf, trial_seed, steps_completed, managed_training)
        super().__init__(core_context, env or own)
        self._trial_seed = trial_seed
        self._hparams = hparams
        self._exp_conf = exp_conf
        self._slots = slots_per_trial
        self._sizes: BatchSizes | None = None
        self._steps_completed = steps_completed
        self._managed_training = managed_training
        self._enable_tensorboard_logging = enable_tensorboard_logging
        _tensorboard.write_metrics(core_context, enable_tensorboard_logging)
        self._current_batch_idx: int | None = None
        self._epoch_len: int | None = None
        self._tbd_writer: Any = None
        self._torch_profiler: Any = None
        self._profiler_runs = False
        if managed_training and env is not None:
            self._batch_sizes(InvalidExperimentException)

    def get_experiment_config(self) -> JsonObject:
        """The experiment config; ValueError off cluster, unless `pytorch.init` was given one."""
        if self._exp_conf is None:
            raise ValueError(_LOCAL.format(what="has no experiment config", argument="exp_conf"))
        return self._exp_conf

    def get_hparams(self) -> JsonObject:
        """Return all hyperparameters of this trial; ValueError off cluster, unless `pytorch.init` was given some."""
        if self._hparams is None:
            raise ValueError(_LOCAL.format(what="has no hyperparameters", argument="hparams"))
        return self._hparams

    def get_trial_seed(self) -> int:
        """The trial's seed; InternalException off cluster, where there is none."""
        if self._trial_seed is None:
            raise InternalException("a trial off cluster has no seed; seed torch, numpy and random in the script")
        return self._trial_seed

    def get_initial_batch(self) -> int:
        """Return how many batches were trained before this process began; off cluster known from `Trainer.fit` on."""
        return self._steps_completed

    def get_global_batch_size(self) -> int:
        """Records that all slots together train on in one batch.

        Raises:
            ValueError: no hyperparameter `global_batch_size`.
            InvalidExperimentException: it is no int, or less than one record for each slot.
        """
        return self._batch_sizes(ValueError).over_all_slots

    def get_per_slot_batch_size(self) -> int:
        """Records that one slot trains on in one batch: the batch size of data loaders. Raises as the global one."""
        return self._batch_sizes(ValueError).per_slot

    def is_epoch_start(self) -> bool:
        """Return whether the current batch is the first of its epoch. Before training: InternalException, as its
        siblings."""
        batch = self.current_train_batch()
        return batch == 0 if self._epoch_len is None else batch % self._epoch_len == 0

    def is_epoch_end(self) -> bool:
        """Return whether the current batch is the last of its epoch."""
        batch = self.current_train_batch()
        return self._epoch_len is not None and (batch + 1) % self._epoch_len == 0

    def current_train_epoch(self) -> int:
        """The epoch of the current batch, counted from 0."""
        batch = self.current_train_batch()
        return 0 if self._epoch_len is None else batch // self._epoch_len

    def current_train_batch(self) -> int:
        """The current batch, counted from 0 over the whole trial."""
        if self._current_batch_idx is None:
            raise InternalException("training has not started, so there is no current batch; ask in train_batch")
        return self._current_batch_idx

    def get_tensorboard_writer(self) -> Any:
        """A writer for TensorBoard, one for the whole trial: torch's SummaryWriter.

        Where TensorBoard is not installed it writes scalars alone.

        Example:
            >>> writer = context.get_tensorboard_writer()
            >>> writer.add_scalar("lr", lr, context.current_train_batch())
        """
        if self._tbd_writer is None:
            path = self.get_tensorboard_path()
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                self._tbd_writer = ScalarWriter(path)
            else:
                self._tbd_writer = SummaryWriter(log_dir=str(path))
        return self._tbd_writer

    def set_enable_tensorboard_logging(self, enable_tensorboard_logging: bool) -> None:
        """Set whether metrics reported from now on are also written as TensorBoard events.

        Raises:
            AssertionError: not a bool.
        """
        if not isinstance(enable_tensorboard_logging, bool):
            raise AssertionError(f"set_enable_tensorboard_logging({enable_tensorboard_logging!r}): pass True or False")
        self._enable_tensorboard_logging = enable_tensorboard_logging
        _tensorboard.write_metrics(self._core, enable_tensorboard_logging)

    def get_enable_tensorboard_logging(self) -> bool:
        return self._enable_tensorboard_logging

    def set_profiler(self, *args: object, **kwargs: object) -> None:
        """Profile training with `torch.profiler.profile`, which takes these arguments.

        Traces go to the TensorBoard path unless `on_trace_ready` says otherwise. The profiler runs from the first batch
        on, and is stepped after each.

        Example:
            >>> context.set_profiler(schedule=torch.profiler.schedule(wait=1, warmup=1, active=3))
        """
        handler = torch.profiler.tensorboard_trace_handler(str(self.get_tensorboard_path()))
        self._torch_profiler = torch.profiler.profile(*args, **({"on_trace_ready": handler} | kwargs))

    def _flush_tensorboard(self) -> None:
        """Write what is still in the writer's memory, up to two minutes of it: it is not there to be copied."""
        if self._tbd_writer is not None:
            self._tbd_writer.flush()

    def _begin_at(self, batch: int) -> None:
        """Training goes on with this batch: a script off cluster says so by the checkpoint it passes."""
        if batch != self._steps_completed:
            self._steps_completed = batch
            self.env = dataclasses.replace(self.env, steps_completed=batch)

    def _batch_sizes(self, missing: type[BaseException]) -> BatchSizes:
        if self._sizes is None:
            hparams = self.get_hparams()
            if "global_batch_size" not in hparams:
                raise missing(
                    f"get_per_slot_batch_size() divides the hyperparameter global_batch_size among {self._slots} "
                    f"slot(s), and the hyperparameters are {sorted(hparams)}; add global_batch_size to them"
                )
            self._sizes = BatchSizes.of(hparams["global_batch_size"], self._slots)
        return self._sizes


def _environment(
    core_context: core.Context,
    hparams: JsonObject | None,
    exp_conf: JsonObject | None,
    trial_seed: int | None,
    steps_completed: int,
    managed_training: bool,
) -> EnvContext:
    """`context.env` for a script, which the platform tells less than a trial class."""
    chosen: JsonObject = {
        "hparams": hparams or {},
        "experiment_config": ExperimentConfig(exp_conf or {}),
        "trial_seed": trial_seed or 0,
        "steps_completed": steps_completed,
        "managed_training": managed_training,
    }
    info = trial_of(core_context.info)
    if info is None:
        return EnvContext(**chosen)
    return dataclasses.replace(EnvContext.from_info(info), **chosen)
