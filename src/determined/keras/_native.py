"""TFKerasNativeContext: a plain Keras script as a trial. `determined.experimental.keras.init` makes it."""

import contextlib
import secrets
import sys
import tempfile
from typing import TYPE_CHECKING

from determined import core
from determined._info import ClusterInfo
from determined._json import JsonObject
from determined.keras import _parallel
from determined.keras._context import TFKerasTrialContext
from determined.keras._controller import TFKerasTrialController
from determined.keras._entrypoint import seed_everything
from determined.keras._gradients import Averaging
from determined.keras._inputs import InputData
from determined.keras._tensorflow import check_backend
from determined.keras._trial import TFKerasTrial
from determined.trial import EnvContext

if TYPE_CHECKING:
    from keras import Model


class TFKerasNativeContext(TFKerasTrialContext):
    """The context of a script: `fit` of the model that it wraps is the training."""

    def __init__(
        self, core_context: core.Context, env: EnvContext, average: Averaging | None, until_end: contextlib.ExitStack
    ) -> None:
        super().__init__(core_context, env, average)
        self._until_end = until_end

    def wrap_model(self, model: "Model") -> "Model":
        """Return the model. Its `compile` records the arguments; its `fit` trains as the experiment says and ends the
        process, off cluster after one batch without ending it."""
        super().wrap_model(model)
        calls = self._calls
        assert calls is not None

        def fit(*args: object, **kwargs: object) -> None:
            calls.fit(*args, **kwargs)
            self._train(model)

        object.__setattr__(model, "fit", fit)
        return model

    def _train(self, model: "Model") -> None:
        with self._until_end:
            TFKerasTrialController(_ScriptTrial(self, model), self).run()
        if self.env.on_cluster:
            sys.exit(0)  # as those releases did: what follows in the script is not for a trial


class _ScriptTrial(TFKerasTrial):
    """Trial of a script; data and callbacks are those that `fit` was given."""

    def __init__(self, context: TFKerasTrialContext, model: "Model") -> None:
        super().__init__(context)
        self._model = model

    def build_model(self) -> "Model":
        return self._model

    def build_training_data_loader(self) -> InputData:
        raise ValueError("model.fit was called without data; pass x and y, a Sequence or a tf.data.Dataset")

    build_validation_data_loader = build_training_data_loader


def in_trial(info: ClusterInfo) -> TFKerasNativeContext:
    """The context of this trial."""
    check_backend()
    until_end = contextlib.ExitStack()
    ranks = until_end.enter_context(_parallel.joined(info))
    is_chief = ranks.distributed is None or ranks.distributed.rank == 0
    mode = core.TensorboardMode.AUTO if is_chief else core.TensorboardMode.MANUAL
    core_context = until_end.enter_context(core.init(distributed=ranks.distributed, tensorboard_mode=mode))
    _parallel.claim_gpu(core_context.distributed)
    env = EnvContext.from_info(info)
    seed_everything(env.trial_seed)
    return TFKerasNativeContext(core_context, env, ranks.average, until_end)


def local(config: JsonObject) -> TFKerasNativeContext:
    """A context off cluster that trains on one batch."""
    check_backend()
    env = EnvContext.from_config(config, seed=secrets.randbits(31), test_mode=True)
    seed_everything(env.trial_seed)
    until_end = contextlib.ExitStack()
    storage = until_end.enter_context(tempfile.TemporaryDirectory(prefix="determined-"))
    core_context = until_end.enter_context(core.init(checkpoint_storage=storage))
    return TFKerasNativeContext(core_context, env, None, until_end)
