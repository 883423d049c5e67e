"""`pytorch.init` and `Trainer`: training from a script of one's own, on a cluster or off it."""

import contextlib
import logging
import random
from collections.abc import Callable, Iterator

import numpy as np
import torch

from determined import core
from determined._info import ClusterInfo, get_cluster_info, trial_of
from determined._json import JsonObject
from determined.config import ExperimentConfig
from determined.pytorch import _parallel, _tensorboard
from determined.pytorch._checkpoint import batches_trained
from determined.pytorch._context import PyTorchTrialContext
from determined.pytorch._controller import Plan, PyTorchTrialController
from determined.pytorch._health import explained
from determined.pytorch._trial import PyTorchTrial
from determined.trial import Batch, EnvContext, Leg, TrainUnit, check_length, check_period, cluster_legs, one_leg

logger = logging.getLogger("determined.pytorch")

_POLICIES = ("best", "all", "none")

# How ranks come to talk, for the length of a block: see `_parallel.backend`.
Backend = Callable[
    [ClusterInfo | None, core.DistributedContext | None],
    contextlib.AbstractContextManager[core.DistributedContext | None],
]


@contextlib.contextmanager
def init(
    *,
    hparams: JsonObject | None = None,
    exp_conf: JsonObject | None = None,
    distributed: core.DistributedContext | None = None,
    aggregation_frequency: int = 1,
    enable_tensorboard_logging: bool = True,
) -> Iterator[PyTorchTrialContext]:
    """A context to build a PyTorchTrial with, for the length of the block.

    Args:
        hparams: hyperparameters; on a cluster the trial's own when left out.
        exp_conf: an experiment config, for `get_experiment_config` off cluster; on a cluster the experiment's own.
        distributed: who this process is among its peers, off cluster; on a cluster the launcher says it.
        aggregation_frequency: batches whose gradients are added up before an optimizer steps.
        enable_tensorboard_logging: whether reported metrics are also written as TensorBoard events.

    Raises:
        ValueError: a task with several slots whose entrypoint has no launcher.

    Example:
        >>> with pytorch.init(hparams={"lr": 0.1}) as context:
        ...     trainer = pytorch.Trainer(MyTrial(context), context)
        ...     trainer.fit(max_length=pytorch.Epoch(1))
    """
    info = trial_info()
    given = hparams if hparams is not None or info is None else info.trial.hparams
    with _context(
        info,
        distributed=distributed,
        hparams=given,
        exp_conf=exp_conf if info is None else info.trial._config,
        aggregation_frequency=aggregation_frequency,
        enable_tensorboard_logging=enable_tensorboard_logging,
    ) as context:
        yield context


class Trainer:
    """Trains a trial.

    Args:
        trial: the trial.
        context: what `pytorch.init` gave, and the trial was built with.

    Example:
        >>> trainer = pytorch.Trainer(trial, context)
        >>> trainer.fit(max_length=pytorch.Epoch(10), validation_period=pytorch.Epoch(1))
    """

    _CONTROLLER: type[PyTorchTrialController] = PyTorchTrialController

    def __init__(self, trial: PyTorchTrial, context: PyTorchTrialContext) -> None:
        self._trial = trial
        self._context = context
        self._core: core.Context = context._core
        self._info = trial_info()
        self._profiling = False

    def configure_profiler(
        self,
        sync_timings: bool = True,
        enabled: bool = False,
        begin_on_batch: int = 0,
        end_after_batch: int | None = None,
    ) -> None:
        """Sample the machine while training, as `fit(profiling_enabled=True)`; arguments about batches are ignored."""
        self._profiling = enabled
        if begin_on_batch or end_after_batch is not None or not sync_timings:
            logger.warning(
                "configure_profiler samples the machine during the whole training; for timings of operations use "
                "context.set_profiler(...), which takes the arguments of torch.profiler.profile"
            )

    def fit(
        self,
        checkpoint_period: TrainUnit | None = None,
        validation_period: TrainUnit | None = None,
        max_length: TrainUnit | None = None,
        reporting_period: TrainUnit = Batch(100),
        checkpoint_policy: str = "best",
        latest_checkpoint: str | None = None,
        step_zero_validation: bool = False,
        test_mode: bool = False,
        profiling_enabled: bool = False,
        async_checkpointing: bool | None = None,
    ) -> None:
        """Train until the end, or until the cluster wants the slots back; then a checkpoint is saved and this returns.

        Args:
            checkpoint_period: how often to checkpoint besides what `checkpoint_policy` asks for.
            validation_period: how often to validate besides the end.
            max_length: how long to train in all. Needed off cluster; where the searcher drives the trial by operations
                it decides.
            reporting_period: how often training metrics are averaged and reported.
            checkpoint_policy: "best": after each validation that is the experiment's best so far; "all": after each
                validation; "none": only by period and at the end.
            latest_checkpoint: where to go on from, `det.get_cluster_info().latest_checkpoint` on a cluster.
            step_zero_validation: validate before the first batch.
            test_mode: train one batch, validate one and checkpoint, off cluster.
            profiling_enabled: sample the machine's use while training, on a cluster.
            async_checkpointing: train on while checkpoints are written and stored; what `async_checkpointing` of the
                config says where it is left out, which is True unless set.

        Raises:
            ValueError: no length, an unknown policy, or `test_mode` on a cluster.
            TypeError: a length or period that is neither Batch nor Epoch.
        """
        if checkpoint_policy not in _POLICIES:
            raise ValueError(f"checkpoint_policy={checkpoint_policy!r} is not one of {', '.join(_POLICIES)}")
        plan = Plan(
            reporting_period=check_period(reporting_period, "reporting_period") or Batch(100),
            validation_period=check_period(validation_period, "validation_period"),
            checkpoint_period=check_period(checkpoint_period, "checkpoint_period"),
            checkpoint_policy=self._policy(checkpoint_policy),
            latest_checkpoint=latest_checkpoint,
            step_zero_validation=step_zero_validation,
            test_mode=test_mode,
            profiling_enabled=(profiling_enabled or self._profiling) and self._info is not None,
            async_checkpointing=self._is_async(async_checkpointing),
        )
        self._check_place(plan)
        legs = self._legs(max_length, test_mode)
        if self._info is None:  # on a cluster the master says it
            self._context._begin_at(self._batches_before(latest_checkpoint))
        self._CONTROLLER(self._trial, self._context, plan, legs).run()

    def _is_async(self, given: bool | None) -> bool:
        if given is not None or self._info is None:
            return given is not False
        return ExperimentConfig.load(self._info.trial._config).async_checkpointing

    def _policy(self, policy: str) -> str:
        if policy != "best" or self._info is not None:
            return policy
        logger.warning("checkpoint_policy 'best' compares with the whole experiment; off cluster 'all' is used instead")
        return "all"

    def _check_place(self, plan: Plan) -> None:
        if self._info is None:
            return
        if plan.test_mode:
            raise ValueError("test_mode=True is for a run off cluster; on a cluster use det experiment create --test")
        if plan.latest_checkpoint is None and self._info.latest_checkpoint is not None:
            logger.warning(
                "this trial has a checkpoint, and Trainer.fit starts anew; pass "
                "latest_checkpoint=det.get_cluster_info().latest_checkpoint to go on from it"
            )

    def _batches_before(self, latest_checkpoint: str | None) -> int:
        if latest_checkpoint is None:
            return 0
        return batches_trained(self._core, latest_checkpoint, self._context.get_trial_id())

    def _legs(self, max_length: TrainUnit | None, test_mode: bool) -> Iterator[Leg]:
        if test_mode:
            return one_leg(Batch(1))
        if self._info is None:
            if max_length is None:
                raise ValueError("Trainer.fit needs max_length off cluster; pass max_length=pytorch.Epoch(n)")
            return one_leg(check_length(max_length, "Trainer.fit"))
        config, batch_size = self._info.trial._config, self._context.get_global_batch_size
        return cluster_legs(config, self._core, batch_size, max_length)


@contextlib.contextmanager
def _context(
    info: ClusterInfo | None,
    *,
    distributed: core.DistributedContext | None,
    hparams: JsonObject | None,
    exp_conf: JsonObject | None,
    aggregation_frequency: int,
    enable_tensorboard_logging: bool,
    average_aggregated_gradients: bool = True,
    gradient_compression: bool = False,
    env: EnvContext | None = None,
    checkpoint_storage: str | None = None,
    backend: Backend = _parallel.backend,
    context_class: type[PyTorchTrialContext] = PyTorchTrialContext,
) -> Iterator[PyTorchTrialContext]:
    """The one place where a managed context is made, for scripts and for trial classes."""
    if info is not None:
        seed_everything(info.trial.trial_seed)
    with (
        backend(info, distributed) as ranks,
        explained(),
        core.init(
            distributed=ranks,
            checkpoint_storage=checkpoint_storage,
            tensorboard_mode=_tensorboard.mode_of(ranks),
        ) as core_context,
    ):
        context = context_class(
            core_context=core_context,
            trial_seed=_seed_of(info, env),
            hparams=hparams,
            exp_conf=exp_conf,
            slots_per_trial=core_context.distributed.size,
            num_gpus=torch.cuda.device_count() if torch.cuda.is_available() else 0,
            aggregation_frequency=aggregation_frequency,
            average_aggregated_gradients=average_aggregated_gradients,
            gradient_compression=gradient_compression,
            steps_completed=0 if info is None else info.trial._steps_completed,
            enable_tensorboard_logging=enable_tensorboard_logging,
            env=env,
        )
        try:
            yield context
        finally:
            context._close()


def _seed_of(info: ClusterInfo | None, env: EnvContext | None) -> int | None:
    """Seed of the trial; None for a script off cluster, which seeds itself as it likes."""
    if info is not None:
        return info.trial.trial_seed
    return None if env is None else env.trial_seed


def seed_everything(seed: int) -> None:
    """Seed all generators alike on every rank, so that models begin alike; ranks differ by the data that they get."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def trial_info() -> ClusterInfo | None:
    """The trial this process belongs to; None off cluster and in tasks that are no trial."""
    return trial_of(get_cluster_info())
