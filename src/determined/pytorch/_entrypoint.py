"""`entrypoint: model_def:MyTrial`: a trial class with its training loop described by the experiment config."""

import faulthandler
import logging
from typing import Any

from determined._info import ClusterInfo, get_cluster_info
from determined._json import JsonObject
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
)

logger = logging.getLogger("determined.pytorch")

_TRACE_SECONDS = 30


def run_trial(trial_class: type[PyTorchTrial]) -> int:
    """Train `trial_class` as this task's config says; the exit status."""
    info = trial_info()
    config = info.trial._config
    optimizations = config.get("optimizations") or {}
    _warn_of_precision(str(optimizations.get("mixed_precision") or "O0"))
    with _context(
        info,
        distributed=None,
        hparams=info.trial.hparams,
        exp_conf=config,
        aggregation_frequency=int(optimizations.get("aggregation_frequency", 1)),
        average_aggregated_gradients=bool(optimizations.get("average_aggregated_gradients", True)),
        gradient_compression=bool(optimizations.get("gradient_compression", False)),
        enable_tensorboard_logging=True,
        env=EnvContext.from_info(info),
    ) as context:
        train(trial_class, context, info, PyTorchTrialController)
    return 0


def trial_info() -> ClusterInfo:
    """The trial that this process is to train; with `debug`, stacks are dumped from here on."""
    info = get_cluster_info()
    if info is None or info.task_type != "TRIAL":
        raise RuntimeError("a trial class runs in a trial; submit it with det experiment create, or use --local --test")
    if info.trial._config.get("debug"):
        faulthandler.dump_traceback_later(_TRACE_SECONDS, repeat=True)
    return info


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
            "optimizations.mixed_precision: %s is not heard; call self.context.experimental.use_amp() in __init__, "
            "before wrap_model",
            level,
        )


def plan_of(info: ClusterInfo, context: PyTorchTrialContext) -> Plan:
    """The config's periods: 0 is never, records are counted in whole batches."""
    config = info.trial._config
    return Plan(
        reporting_period=Batch(int(config.get("scheduling_unit") or 100)),
        validation_period=_period(config.get("min_validation_period"), context),
        checkpoint_period=_period(config.get("min_checkpoint_period"), context),
        checkpoint_policy=config.get("checkpoint_policy") or "best",
        latest_checkpoint=info.latest_checkpoint,
        step_zero_validation=bool(config.get("perform_initial_validation")),
        profiling_enabled=bool((config.get("profiling") or {}).get("enabled")),
        is_trainer=False,
    )


def _period(length: JsonObject | None, context: PyTorchTrialContext) -> TrainUnit | None:
    ((unit, value),) = (length or {"batches": 0}).items()
    if int(value) < 1:
        return None
    if unit == "epochs":
        return Epoch(int(value))
    if unit == "records":
        return Batch(records_to_batches(int(value), context.get_global_batch_size()))
    return Batch(int(value))
