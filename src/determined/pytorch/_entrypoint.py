"""`entrypoint: model_def:MyTrial`: a trial class with its training loop described by the experiment config."""

import logging
from typing import Any

from determined._info import ClusterInfo
from determined.config import ExperimentConfig, Length, Unit
from determined.pytorch._context import PyTorchTrialContext
from determined.pytorch._controller import Plan, PyTorchTrialController
from determined.pytorch._trainer import _context
from determined.pytorch._trial import PyTorchTrial
from determined.trial import (
    WHERE_A_LENGTH_IS,
    Batch,
    EnvContext,
    Epoch,
    TrainUnit,
    cluster_legs,
    records_to_batches,
    trial_info,
)

logger = logging.getLogger("determined.pytorch")


def run_trial(trial_class: type[PyTorchTrial]) -> int:
    """Train `trial_class` as this task's config says; the exit status."""
    info = trial_info()
    config = info.trial._config
    optimizations = ExperimentConfig.load(config).optimizations
    _warn_of_precision(optimizations.mixed_precision)
    with _context(
        info,
        distributed=None,
        hparams=info.trial.hparams,
        exp_conf=config,
        aggregation_frequency=optimizations.aggregation_frequency,
        average_aggregated_gradients=optimizations.average_aggregated_gradients,
        gradient_compression=optimizations.gradient_compression,
        enable_tensorboard_logging=True,
        env=EnvContext.from_info(info),
    ) as context:
        train(trial_class, context, info, PyTorchTrialController)
    return 0


def train(
    trial_class: type[Any],
    context: PyTorchTrialContext,
    info: ClusterInfo,
    controller: type[PyTorchTrialController],
) -> None:
    if context.distributed.rank != 0:
        logging.getLogger().setLevel(logging.DEBUG if info.trial._debug else logging.WARNING)
    trial = trial_class(context)
    legs = cluster_legs(
        info.trial._config,
        context._core,
        context.get_global_batch_size,
        call=trial_class.__name__,
        way_out=WHERE_A_LENGTH_IS,
    )
    controller(trial, context, plan_of(info, context), legs).run()


def _warn_of_precision(level: str) -> None:
    if level != "O0":
        logger.warning(
            "optimizations.mixed_precision: %s is ignored; call self.context.experimental.use_amp() in __init__, "
            "before wrap_model",
            level,
        )


def plan_of(info: ClusterInfo, context: PyTorchTrialContext) -> Plan:
    """Read the periods of the config: 0 is never, records are counted in whole batches."""
    config = ExperimentConfig.load(info.trial._config)
    return Plan(
        reporting_period=Batch(config.scheduling_unit),
        validation_period=_period(config.min_validation_period, context),
        checkpoint_period=_period(config.min_checkpoint_period, context),
        checkpoint_policy=config.checkpoint_policy,
        latest_checkpoint=info.latest_checkpoint,
        step_zero_validation=config.perform_initial_validation,
        profiling_enabled=config.profiling.enabled,
        is_trainer=False,
        async_checkpointing=config.async_checkpointing,
    )


def _period(length: Length, context: PyTorchTrialContext) -> TrainUnit | None:
    if length.value < 1:
        return None
    if length.unit is Unit.EPOCHS:
        return Epoch(length.value)
    if length.unit is Unit.RECORDS:
        return Batch(records_to_batches(length.value, context.get_global_batch_size()))
    return Batch(length.value)
