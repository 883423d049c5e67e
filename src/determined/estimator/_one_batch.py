"""Test of an EstimatorTrial on one batch off cluster: whether it trains, validates and checkpoints at all."""

import secrets
import tempfile

from determined import core
from determined._json import JsonObject
from determined.estimator import _tensorflow
from determined.estimator._context import EstimatorTrialContext
from determined.estimator._controller import EstimatorTrialController
from determined.estimator._trial import EstimatorTrial
from determined.trial import EnvContext


def run(trial_class: type[EstimatorTrial], config: JsonObject) -> EstimatorTrial:
    """Train `trial_class` on one batch; the trial. `determined.experimental.test_one_batch` calls this.

    TensorFlow behaves as its version 1 from then on.
    """
    env = EnvContext.from_config(config, seed=secrets.randbits(31), test_mode=True)
    _tensorflow.behave_as_version_1(env.trial_seed)
    with (
        tempfile.TemporaryDirectory(prefix="determined-") as storage,
        core.init(checkpoint_storage=storage) as core_context,
    ):
        context = EstimatorTrialContext(core_context, env)
        trial = trial_class(context)
        EstimatorTrialController(trial, context).run()
    return trial
