"""create_trial_instance: a trial to look at in a notebook or a debugger, as releases until 0.17 made it."""

import warnings
from pathlib import Path
from typing import Any

from determined._json import JsonObject


def create_trial_instance(
    trial_def: type,
    checkpoint_dir: str | Path | None = None,
    config: JsonObject | None = None,
    hparams: JsonObject | None = None,
) -> Any:
    """Deprecated: `trial_class(context_class.from_config(config))`, with the context class of the training API.

    Args:
        trial_def: a subclass of `determined.pytorch.PyTorchTrial`, or of another API's trial.
        checkpoint_dir: not used: nothing is trained, so that there are no checkpoints.
        config: an experiment config.
        hparams: hyperparameters, in place of the config's.

    Returns:
        The trial, whose methods may be called by hand.

    Raises:
        TypeError: not a trial class.
    """
    warnings.warn(
        "create_trial_instance is deprecated; build the trial from a context, such as "
        "MyTrial(PyTorchTrialContext.from_config(config))",
        FutureWarning,
        stacklevel=2,
    )
    context_class = getattr(trial_def, "trial_context_class", None)
    if context_class is None:
        raise TypeError(f"create_trial_instance got {trial_def!r}; pass a trial class, such as one of PyTorchTrial")
    chosen = dict(config or {}) | ({} if hparams is None else {"hyperparameters": hparams})
    return trial_def(context_class.from_config(chosen))
