"""`entrypoint: model_def:MyTrial`: an EstimatorTrial with its training described by the experiment config."""

import contextlib
import logging
from collections.abc import Iterator

from determined import core
from determined._info import ClusterInfo
from determined.estimator import _parallel, _tensorflow
from determined.estimator._context import EstimatorTrialContext
from determined.estimator._controller import EstimatorTrialController
from determined.estimator._trial import EstimatorTrial
from determined.trial import EnvContext, trial_info


def run_trial(trial_class: type[EstimatorTrial]) -> int:
    """Train `trial_class` as this task's config says; the exit status."""
    info = trial_info()
    with trial_context(info) as context:
        if context.distributed.rank != 0:
            logging.getLogger().setLevel(logging.DEBUG if info.trial._debug else logging.WARNING)
        EstimatorTrialController(trial_class(context), context).run()
    return 0


@contextlib.contextmanager
def trial_context(info: ClusterInfo) -> Iterator[EstimatorTrialContext]:
    env = EnvContext.from_info(info)
    _tensorflow.behave_as_version_1(env.trial_seed)
    with core.init(distributed=_parallel.start_backend(info)) as core_context:
        is_profiled = env.experiment_config.profiling_enabled()
        if is_profiled:
            core_context.profiler.on()
        yield EstimatorTrialContext(core_context, env)
        if is_profiled:
            core_context.profiler.off()
    # Not after an error: a peer that failed would be waited for, and this process ends anyway.
    _parallel.stop_backend()
