"""An EstimatorTrial by its entrypoint; TensorFlow 2.15 is the last release with estimators."""

from pathlib import Path

from rigs import Rig

RIGS = [
    Rig(
        api="determined.estimator",
        name="estimator_trial-tf215",
        directory=Path(__file__).parent,
        entrypoint="model_def:Trial",
        mistake="mistake:UnwrappedOptimizer",
        advice="wrap_optimizer",
        metric="loss",
        packages=("tensorflow",),
        environment_name="tf215",
    )
]
