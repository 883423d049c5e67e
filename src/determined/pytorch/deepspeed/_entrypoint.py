"""`entrypoint: model_def:MyTrial` with a DeepSpeedTrial: its training loop described by the experiment config."""

from typing import Any, cast

from determined.config import ExperimentConfig
from determined.config.sections import Optimizations
from determined.errors import InvalidExperimentException
from determined.pytorch import _entrypoint
from determined.pytorch._trainer import _context
from determined.pytorch.deepspeed._controller import DeepSpeedTrialController
from determined.pytorch.deepspeed._trainer import MADE
from determined.pytorch.deepspeed._trial import DeepSpeedTrial
from determined.trial import EnvContext, trial_info


def run_trial(trial_class: type[DeepSpeedTrial]) -> int:
    """Train `trial_class` as this task's config says; the exit status."""
    info = trial_info()
    config = info.trial._config
    _check_optimizations(ExperimentConfig.load(config).optimizations)
    with _context(
        info,
        distributed=None,
        hparams=info.trial.hparams,
        exp_conf=config,
        aggregation_frequency=1,
        enable_tensorboard_logging=True,
        env=EnvContext.from_info(info),
        **MADE,
    ) as context:
        _entrypoint.train(trial_class, context, info, cast(Any, DeepSpeedTrialController))
    return 0


def _check_optimizations(optimizations: Optimizations) -> None:
    """Refuse options that DeepSpeed's own config has: the two could contradict each other."""
    precision, every = optimizations.mixed_precision, optimizations.aggregation_frequency
    if precision != "O0":
        raise InvalidExperimentException(
            f"optimizations.mixed_precision: {precision} is not for a DeepSpeedTrial; set fp16 or bf16 in DeepSpeed's "
            "config and remove it"
        )
    if every > 1:
        raise InvalidExperimentException(
            f"optimizations.aggregation_frequency: {every} is not for a DeepSpeedTrial; set "
            "gradient_accumulation_steps in DeepSpeed's config and remove it"
        )
