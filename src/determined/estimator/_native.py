"""EstimatorNativeContext: a plain script as a trial. `determined.experimental.estimator.init` makes it."""

import contextlib
import secrets
import sys
import tempfile
from typing import TYPE_CHECKING

from determined import core
from determined._info import ClusterInfo
from determined._json import JsonObject
from determined.estimator import _entrypoint, _tensorflow
from determined.estimator._context import EstimatorTrialContext
from determined.estimator._controller import EstimatorTrialController
from determined.estimator._trial import EstimatorTrial, ServingInputReceiverFn
from determined.trial import EnvContext

if TYPE_CHECKING:
    import tensorflow as tf


class EstimatorNativeContext(EstimatorTrialContext):
    """The context of a script: `train_and_evaluate` is the training.

    Attributes:
        serving_input_receiver_fns: what each checkpoint is exported for, by name.
    """

    def __init__(self, core_context: core.Context, env: EnvContext, until_end: contextlib.ExitStack) -> None:
        super().__init__(core_context, env)
        self.serving_input_receiver_fns: dict[str, ServingInputReceiverFn] = {}
        self._until_end = until_end

    def train_and_evaluate(
        self,
        estimator: "tf.estimator.Estimator",
        train_spec: "tf.estimator.TrainSpec",
        eval_spec: "tf.estimator.EvalSpec",
    ) -> None:
        """Train as the experiment says and end the process; off cluster, train on one batch and return.

        Args:
            estimator: a `tf.estimator.Estimator`.
            train_spec: a `tf.estimator.TrainSpec`.
            eval_spec: a `tf.estimator.EvalSpec`.
        """
        with self._until_end:
            EstimatorTrialController(_ScriptTrial(self, estimator, train_spec, eval_spec), self).run()
        if self.env.on_cluster:
            sys.exit(0)  # as those releases did: what follows in the script is not for a trial


class _ScriptTrial(EstimatorTrial):
    """Trial of a script."""

    def __init__(
        self,
        context: EstimatorNativeContext,
        estimator: "tf.estimator.Estimator | None" = None,
        train_spec: "tf.estimator.TrainSpec | None" = None,
        eval_spec: "tf.estimator.EvalSpec | None" = None,
    ) -> None:
        self.context = context
        self._parts = estimator, train_spec, eval_spec

    def build_estimator(self) -> "tf.estimator.Estimator":
        return self._parts[0]

    def build_train_spec(self) -> "tf.estimator.TrainSpec":
        return self._parts[1]

    def build_validation_spec(self) -> "tf.estimator.EvalSpec":
        return self._parts[2]

    def build_serving_input_receiver_fns(self) -> dict[str, ServingInputReceiverFn]:
        return self.context.serving_input_receiver_fns


def in_trial(info: ClusterInfo) -> EstimatorNativeContext:
    """The context of this trial."""
    until_end = contextlib.ExitStack()
    made = until_end.enter_context(_entrypoint.trial_context(info))
    return EstimatorNativeContext(made._core, made.env, until_end)


def local(config: JsonObject) -> EstimatorNativeContext:
    """A context off cluster that trains on one batch."""
    env = EnvContext.from_config(config, seed=secrets.randbits(31), test_mode=True)
    _tensorflow.behave_as_version_1(env.trial_seed)
    until_end = contextlib.ExitStack()
    storage = until_end.enter_context(tempfile.TemporaryDirectory(prefix="determined-"))
    core_context = until_end.enter_context(core.init(checkpoint_storage=storage))
    return EstimatorNativeContext(core_context, env, until_end)
