"""`entrypoint: model_def:MyTrial` for a TFKerasTrial: the trial as this task's config describes it."""

import logging

from determined import core
from determined._info import ClusterInfo
from determined.keras import _parallel
from determined.keras._context import TFKerasTrialContext
from determined.keras._controller import TFKerasTrialController
from determined.keras._tensorflow import KERAS_3, check_backend, keras
from determined.keras._trial import TFKerasTrial
from determined.trial import EnvContext, trial_info


def run_trial(trial_class: type[TFKerasTrial]) -> int:
    """Train `trial_class` as this task's config says; the exit status."""
    info = trial_info()
    check_backend()
    with _parallel.joined(info) as ranks:
        _run(trial_class, info, ranks)
    return 0


def train(trial_class: type[TFKerasTrial], context: TFKerasTrialContext) -> TFKerasTrial:
    """Build the trial and train it; used on a cluster and off it."""
    seed_everything(context.get_trial_seed())
    trial = trial_class(context)
    TFKerasTrialController(trial, context).run()
    return trial


def seed_everything(seed: int) -> None:
    """Seed all generators alike on every rank, so that models begin alike; ranks differ by the data that they get."""
    if not KERAS_3:
        # Layers that draw, such as Dropout, do so by generators whose state can be saved.
        keras.backend.experimental.enable_tf_random_generator()
    keras.utils.set_random_seed(seed % 2**32)  # Python's, numpy's and TensorFlow's, too


def _run(trial_class: type[TFKerasTrial], info: ClusterInfo, ranks: _parallel.Ranks) -> None:
    is_chief = ranks.distributed is None or ranks.distributed.rank == 0
    if not is_chief:
        logging.getLogger().setLevel(logging.DEBUG if info.trial._debug else logging.WARNING)
    mode = core.TensorboardMode.AUTO if is_chief else core.TensorboardMode.MANUAL
    with core.init(distributed=ranks.distributed, tensorboard_mode=mode) as core_context:
        _parallel.claim_gpu(core_context.distributed)
        env = EnvContext.from_info(info)
        is_profiled = env.experiment_config.profiling_enabled()
        if is_profiled:
            core_context.profiler.on()
        try:
            train(trial_class, TFKerasTrialContext(core_context, env, ranks.average))
        finally:
            if is_profiled:
                core_context.profiler.off()
